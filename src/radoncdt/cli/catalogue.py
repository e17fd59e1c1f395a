"""``radoncdt catalogue``: one action per task."""

import argparse
import shlex
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from radoncdt import _threads
from radoncdt._text import shorten
from radoncdt._validation import ArgumentValueError
from radoncdt.catalogue import Added, Catalogue, DamagedEntryWarning
from radoncdt.catalogue.calibration import DEFAULT_N_MARKS, MIN_ENTRIES, MIN_MARKS
from radoncdt.catalogue.metadata import ENTRY_COLUMNS, MAX_CELL_LENGTH, read_table
from radoncdt.catalogue.records import find_file
from radoncdt.catalogue.schema import VERSION
from radoncdt.cli.inputs import list_files
from radoncdt.cli.messages import complain, say, suggest
from radoncdt.cli.options import add_ink_options, add_jobs_option, read_ink_options, whole_number
from radoncdt.cli.outputs import check_output, write_bytes
from radoncdt.cli.progress import Bar

EPILOG = """\
A catalogue is one file. It keeps descriptors and small pictures of the images; the image files stay where they are.

examples:
  radoncdt catalogue add marks.db tracings/ --metadata tracings.csv
  radoncdt catalogue list marks.db --where "motif = 'crown' and date < 1500"
  radoncdt catalogue show marks.db 17 --picture 17.png
  radoncdt catalogue update marks.db --metadata more.csv
  radoncdt catalogue remove marks.db 17 18
  radoncdt catalogue export marks.db marks.csv
  radoncdt catalogue check marks.db
  radoncdt catalogue calibrate marks.db
  radoncdt catalogue migrate marks.db
"""


class _Action(NamedTuple):
    """An action of the command."""

    summary: str
    run: Callable[[argparse.Namespace], int]
    add_options: Callable[[argparse.ArgumentParser], None] | None = None
    epilog: str = ""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the command."""
    actions = parser.add_subparsers(metavar="ACTION")
    for name, action in _ACTIONS.items():
        description = f"{action.summary[0].upper()}{action.summary[1:]}."
        made = actions.add_parser(name, help=action.summary, description=description, epilog=action.epilog)
        made.add_argument("catalogue", type=Path, metavar="DB", help="the file of the catalogue")
        made.set_defaults(run=action.run, parser=made)
        if action.add_options is not None:
            action.add_options(made)


def run(options: argparse.Namespace) -> int:
    """Print the help if no action is given."""
    options.parser.print_help()
    return 0


# ---------------------------------------------------------------- opening and calibrating


def _open_for_writing(path: Path, *, create: bool = False) -> Catalogue:
    """Open a catalogue for writing, and report the migration of an old one."""
    if path.exists() or not create:
        _migrate_file(path, report=complain)
    return Catalogue(path, create=create, write=True)


def _migrate_file(path: Path, report: Callable[[str], None]) -> bool:
    """Migrate an old catalogue, and report where the old file is kept. Return whether there was anything to do."""
    with Bar() as bar:
        backup = Catalogue.migrate(path, on_progress=bar)
    if backup is not None:
        report(f"{path}: migrated to schema {VERSION}; the old file is kept as {backup}")
    return backup is not None


def explain_missing_p_values(catalogue: Catalogue, path: Path) -> str:
    """Say why a catalogue that is not calibrated has no p-values, and what to do about it."""
    if not catalogue.can_be_calibrated:
        return f"The catalogue has fewer than {MIN_ENTRIES} entries, too few for p-values."
    command = f"radoncdt catalogue calibrate {shlex.quote(str(path))}"
    return f"The catalogue is not calibrated, so no p-values are shown; run `{command}`."


def _calibrate_if_outdated(options: argparse.Namespace, catalogue: Catalogue, bar: Bar) -> int:
    """Calibrate a catalogue that has enough entries and no current calibration. Return the exit status."""
    if catalogue.calibrated or not catalogue.can_be_calibrated:
        return 0
    try:
        n_marks = catalogue.calibrate(n_jobs=options.jobs, on_progress=bar)
    except KeyboardInterrupt:
        bar.close()
        complain(f"interrupted; the images are stored. {explain_missing_p_values(catalogue, options.catalogue)}")
        return 130
    say(f"{options.catalogue}: calibrated with {n_marks:,} marks")
    return 0


# ---------------------------------------------------------------- add

_ADD_EPILOG = f"""\
Images whose content is already in the catalogue are not read again, whatever their names are. After an interruption
the same command therefore resumes where it stopped. Files that cannot be read are named with the reason; the others are
added, and the exit status is 1. At the end, the catalogue is calibrated if it has at least 30 entries and its
calibration is missing or outdated, which takes up to a minute. Searches need the calibration for p-values.

The metadata table is a CSV file. Its first line has the titles, one of which is "file": the path below the folder, the
name, or the name without its ending. motif, place, reference and link are text; date is a year (1475, c. 1475,
1470-1480); chain_distance_mm, height_mm and width_mm are numbers. All other columns are kept as text. A cell has at
most {MAX_CELL_LENGTH:,} characters.

examples:
  radoncdt catalogue add marks.db tracings/ --metadata tracings.csv
  radoncdt catalogue add marks.db photographs/ --kind watermark --jobs 4
"""


def _add_add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("images", type=Path, nargs="+", metavar="DIR", help="folders of images, or image files")
    parser.add_argument("--metadata", type=Path, metavar="FILE.csv", help="a table of metadata of the images")
    parser.add_argument("--no-calibrate", action="store_true", help="do not calibrate the catalogue at the end")
    add_jobs_option(parser, "processes")
    parser.add_argument("--dask", metavar="ADDRESS", help="read images on a Dask cluster, such as tcp://10.0.0.1:8786")
    add_ink_options(parser)


def _add(options: argparse.Namespace) -> int:
    ink = read_ink_options(options)
    _threads.count_workers(options.jobs, 0)  # this and the next checks come before a catalogue is created
    for path in options.images:
        if not path.exists() and not path.is_symlink():
            raise ArgumentValueError("images", f"must be a folder or a file, got {path}, which does not exist")
    list_files("images", options.images)
    if options.metadata is not None:
        read_table(options.metadata)
    with Bar() as bar, _open_for_writing(options.catalogue, create=True) as catalogue:
        columns = catalogue.columns
        added = catalogue.add(
            options.images,
            metadata=options.metadata,
            n_jobs=options.jobs,
            dask=options.dask,
            on_progress=bar,
            **ink,
        )
        bar.close()
        _report_new_columns(columns, catalogue.columns)
        _report_added(options, added, len(catalogue))
        status = 1 if added.failures else 0
        if not options.no_calibrate:
            return _calibrate_if_outdated(options, catalogue, bar) or status
        if catalogue.can_be_calibrated and not catalogue.calibrated:
            complain(explain_missing_p_values(catalogue, options.catalogue))
    return status


def _report_added(options: argparse.Namespace, added: Added, n_entries: int) -> None:
    for failure in added.failures:
        complain(f"{failure.file}: {failure.reason}")
    for name in added.unused:
        complain(f"{options.metadata}: no image is named {name!r}")
    if added.different_options:
        complain(
            f"{added.different_options:,} existing entries were read with different options and left unchanged; "
            "remove them to re-read them"
        )
    say(
        f"{options.catalogue}: {added.added:,} added, {added.known:,} there already, "
        f"{len(added.failures):,} refused; {n_entries:,} entries"
    )


def _report_new_columns(before: list[str], after: list[str]) -> None:
    """Name new metadata columns, which may be mistyped."""
    for name in after:
        if name not in before:
            complain(f"{name!r} is a new metadata column{suggest(name, before)}")


# ---------------------------------------------------------------- list, show


def _add_list_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--where", metavar="SQL", help="only entries for which a condition on the metadata holds")
    parser.add_argument(
        "--failures", action="store_true", help="list the files that could not be read instead, with the reasons"
    )


def _list(options: argparse.Namespace) -> int:
    with Catalogue(options.catalogue) as catalogue:
        if options.failures:
            for file, reason in catalogue.failures():
                say(f"{file}: {reason}")
            return 0
        entries = catalogue.entries(options.where)
    for entry in entries:
        known = [f"{name}: {value}" for name, value in entry.items() if name not in ENTRY_COLUMNS and value is not None]
        say("  ".join([str(entry["entry"]), entry["file"], *map(shorten, known)]))
    if not entries:
        complain(f"{options.catalogue}: no entry {'fulfils the condition' if options.where else 'has been added yet'}")
    return 0


def _add_show_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("number", type=whole_number, metavar="ENTRY", help="the number of the entry")
    parser.add_argument("--picture", type=Path, metavar="FILE.png", help="write a small picture of its ink")


def _show(options: argparse.Namespace) -> int:
    with Catalogue(options.catalogue) as catalogue:
        thumbnail, ink = catalogue.thumbnail(options.number), catalogue.ink_options(options.number)
        entry = catalogue.entry(options.number)
        file = find_file(entry["file"], catalogue.path.parent)
    check_output(options.picture, "picture", endings=[".png"], inputs=[file])
    for name, value in entry.items():
        if value not in (None, ""):
            say(f"{name:18} {value}")
    say(f"{'ink':18} {', '.join(f'{name} {value}' for name, value in ink.items())}")
    if options.picture is not None:
        write_bytes(options.picture, thumbnail)
        say(f"{'picture':18} {options.picture}")
    return 0


# ---------------------------------------------------------------- remove, update


def _add_remove_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("numbers", type=whole_number, nargs="+", metavar="ENTRY", help="the numbers of the entries")


def _remove(options: argparse.Namespace) -> int:
    with _open_for_writing(options.catalogue) as catalogue:
        catalogue.remove(options.numbers)
        say(f"{options.catalogue}: {len(set(options.numbers)):,} removed; {len(catalogue):,} entries")
    return 0


def _add_update_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metadata",
        type=Path,
        required=True,
        metavar="FILE.csv",
        help="a table of metadata, as for add; empty cells change nothing",
    )


def _update(options: argparse.Namespace) -> int:
    with _open_for_writing(options.catalogue) as catalogue:
        columns = catalogue.columns
        n_changed, unused = catalogue.update(options.metadata)
        n_entries = len(catalogue)
        _report_new_columns(columns, catalogue.columns)
    for name in unused:
        complain(f"{options.metadata}: no entry is named {name!r}")
    say(f"{options.catalogue}: {n_changed:,} of {n_entries:,} entries changed, {len(unused):,} lines unused")
    return 1 if unused else 0


# ---------------------------------------------------------------- export, check

_EXPORT_EPILOG = """\
.csv and .json files have one row per entry. An .npz file also has the descriptors; radoncdt.Descriptors.load reads it.
Spreadsheet programs take a text that begins with =, +, - or @ for a formula. In the .csv file such a text gets an
apostrophe in front. The actions add and update remove it, so that an exported table restores every cell.
"""


def _add_export_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="FILE", help="the file to write, which ends in .csv, .json or .npz")
    parser.add_argument("--skip-damaged", action="store_true", help="leave out damaged entries, and name them")
    parser.add_argument("--force", action="store_true", help="replace an existing file")


def _export(options: argparse.Namespace) -> int:
    check_output(options.out, "out", inputs=[options.catalogue])
    if options.out.exists() and not options.force:
        raise ArgumentValueError("out", f"must not exist yet, got {options.out}; --force replaces it")
    with Catalogue(options.catalogue) as catalogue, warnings.catch_warnings(record=True) as caught:
        n_entries = catalogue.export(options.out, skip_damaged=options.skip_damaged)
    for warning in caught:
        complain(str(warning.message))
    say(f"{options.out}: {n_entries:,} entries")
    return 1 if any(issubclass(warning.category, DamagedEntryWarning) for warning in caught) else 0


def _check(options: argparse.Namespace) -> int:
    with Bar() as bar, Catalogue(options.catalogue) as catalogue:
        problems = catalogue.check(on_progress=bar)
        n_entries = len(catalogue)
    for problem in problems:
        say(f"{'catalogue' if problem.entry is None else f'entry {problem.entry}'}: {problem.what}")
    found = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
    say(f"{options.catalogue}: {n_entries:,} entries, {found}")
    return 1 if problems else 0


# ---------------------------------------------------------------- calibrate, migrate

_CALIBRATE_EPILOG = """\
Marks of the catalogue are redrawn with slightly bent lines and searched for among the others: how prominent is the best
match if the mark is not there? The smallest p-value is 1/(N + 1), where N is at most the number of entries. Entries
with the same reference are taken to be the same mark. A calibration is outdated once half of the entries have changed.
"""


def _add_calibrate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--marks",
        type=whole_number,
        default=DEFAULT_N_MARKS,
        metavar="N",
        help=f"number of marks to search for, at least {MIN_MARKS} (default %(default)s)",
    )
    add_jobs_option(parser)


def _calibrate(options: argparse.Namespace) -> int:
    with Bar() as bar, _open_for_writing(options.catalogue) as catalogue:
        n_marks = catalogue.calibrate(n_marks=options.marks, n_jobs=options.jobs, on_progress=bar)
    say(f"{options.catalogue}: calibrated with {n_marks:,} marks")
    return 0


_MIGRATE_EPILOG = """\
Older catalogues stay searchable as they are. Commands that change a catalogue migrate it first, so this action is only
needed to choose the moment. The old file is kept beside the new one. An interruption leaves the catalogue as it was.
"""


def _migrate(options: argparse.Namespace) -> int:
    if not _migrate_file(options.catalogue, report=say):
        say(f"{options.catalogue}: already has the newest schema")
    return 0


_ACTIONS = {
    "add": _Action(
        "read images into a catalogue, which is created if it does not exist", _add, _add_add_options, _ADD_EPILOG
    ),
    "list": _Action("list entries and their metadata", _list, _add_list_options),
    "show": _Action("show all metadata of an entry", _show, _add_show_options),
    "remove": _Action("remove entries; the image files stay where they are", _remove, _add_remove_options),
    "update": _Action("change the metadata of entries", _update, _add_update_options),
    "export": _Action(
        "write a catalogue to a file that other programs read", _export, _add_export_options, _EXPORT_EPILOG
    ),
    "check": _Action("verify every row of a catalogue, and every file that an entry was read from", _check),
    "calibrate": _Action(
        "calibrate a catalogue with its own marks, so that searches yield p-values",
        _calibrate,
        _add_calibrate_options,
        _CALIBRATE_EPILOG,
    ),
    "migrate": _Action(
        "migrate a catalogue of an earlier version to the newest schema", _migrate, epilog=_MIGRATE_EPILOG
    ),
}
