"""``radoncdt catalogue``: one action per task."""

import argparse
import os
import shlex
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from radoncdt import _threads
from radoncdt._extras import require
from radoncdt._text import format_count, shorten, suggest
from radoncdt._validation import ArgumentValueError
from radoncdt.catalogue import Added, Catalogue, DamagedEntryWarning
from radoncdt.catalogue.calibration import DEFAULT_N_MARKS, MIN_ENTRIES, MIN_MARKS
from radoncdt.catalogue.metadata import ENTRY_COLUMNS, MAX_CELL_LENGTH, read_table
from radoncdt.catalogue.records import find_file
from radoncdt.catalogue.schema import VERSION
from radoncdt.cli.inputs import list_files
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import add_ink_options, add_jobs_option, read_ink_options, whole_number
from radoncdt.cli.outputs import ANY, check_outputs, write_bytes

__all__ = ["EPILOG", "add_options", "explain_missing_p_values", "run"]

EPILOG = """\
A catalogue is a single file with descriptors and small pictures of the images. The image files stay where they are.

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

_ADD_EPILOG = f"""\
Images whose content is already in the catalogue are not read again, even under another name. After an interruption, the
same command therefore resumes where it stopped. If files cannot be read, the command names them with the reasons, adds
the others, and returns the exit status 1. At the end, the catalogue is calibrated if it has at least {MIN_ENTRIES}
entries and its calibration is missing or outdated, which takes about a minute for 100,000 entries and less for small
catalogues. Searches need the calibration for p-values.

The metadata table is a CSV file. Its first line has the titles, one of which is "file": the path below the folder, the
name, or the name without its ending. motif, place, reference and link are text; date is a year (1475, c. 1475,
1470-1480); chain_distance_mm, height_mm and width_mm are numbers. All other columns are kept as text. A cell has at
most {MAX_CELL_LENGTH:,} characters.

examples:
  radoncdt catalogue add marks.db tracings/ --metadata tracings.csv
  radoncdt catalogue add marks.db photographs/ --kind watermark --jobs 4
"""

_EXPORT_EPILOG = """\
.csv and .json files have one row per entry. An .npz file also has the descriptors; radoncdt.Descriptors.load reads it.
Spreadsheet programs treat a text that begins with =, +, - or @ as a formula. In the .csv file, an apostrophe precedes
such a text. The actions add and update remove it, so that an exported table restores every cell.
"""

_CALIBRATE_EPILOG = """\
Marks of the catalogue are redrawn with slightly bent lines and searched for among the others: how prominent is the best
match if the mark is not there? The smallest p-value is 1/(N + 1), where N is at most the number of entries. Entries
with the same reference are taken to be the same mark. A calibration is outdated once half of the entries have changed.
"""

_MIGRATE_EPILOG = """\
Older catalogues stay searchable as they are. Commands that change a catalogue migrate it first, so this action is only
needed to choose the moment. The old file is kept beside the new one. An interruption leaves the catalogue as it was.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the command, each with its arguments."""
    actions = parser.add_subparsers(metavar="ACTION")

    def add_action(run: Callable[[argparse.Namespace], int | None], summary: str, epilog: str = "") -> Any:
        name = run.__name__.lstrip("_")
        description = f"{summary[0].upper()}{summary[1:]}."
        action = actions.add_parser(name, help=summary, description=description, epilog=epilog)
        action.set_defaults(run=run, parser=action)
        action.add_argument("catalogue", type=Path, metavar="DB", help="the file of the catalogue")
        return action

    add = add_action(_add, "read images into a catalogue, which is created if it does not exist", _ADD_EPILOG)
    add.add_argument("images", type=Path, nargs="+", metavar="DIR", help="folders of images, or image files")
    add.add_argument("--metadata", type=Path, metavar="FILE.csv", help="a table of metadata of the images")
    add.add_argument("--no-calibrate", action="store_true", help="do not calibrate the catalogue at the end")
    add_jobs_option(add, "processes")
    add.add_argument("--dask", metavar="ADDRESS", help="read images on a Dask cluster, such as tcp://10.0.0.1:8786")
    add_ink_options(add)

    list_ = add_action(_list, "list entries and their metadata")
    list_.add_argument("--where", metavar="SQL", help="only entries for which a condition on the metadata holds")
    text = "list the files that could not be read instead, with the reasons"
    list_.add_argument("--failures", action="store_true", help=text)

    show = add_action(_show, "show all metadata of an entry")
    show.add_argument("number", type=whole_number, metavar="ENTRY", help="the number of the entry")
    show.add_argument("--picture", type=Path, metavar="FILE.png", help="write a small picture of its ink")

    remove = add_action(_remove, "remove entries; the image files stay where they are")
    remove.add_argument("numbers", type=whole_number, nargs="+", metavar="ENTRY", help="the numbers of the entries")

    update = add_action(_update, "change the metadata of entries")
    text = "a table of metadata, as for add; empty cells change nothing"
    update.add_argument("--metadata", type=Path, required=True, metavar="FILE.csv", help=text)

    export = add_action(_export, "write a catalogue to a file that other programs read", _EXPORT_EPILOG)
    export.add_argument("out", type=Path, metavar="FILE", help="the file to write, which ends in .csv, .json or .npz")
    export.add_argument("--skip-damaged", action="store_true", help="leave out damaged entries, and name them")
    export.add_argument("--force", action="store_true", help="replace an existing file")

    add_action(_check, "verify every row of a catalogue, and every file that an entry was read from")

    summary = "calibrate a catalogue with its own marks, so that searches yield p-values"
    calibrate = add_action(_calibrate, summary, _CALIBRATE_EPILOG)
    text = f"number of marks to search for, at least {MIN_MARKS} (default {DEFAULT_N_MARKS}, or as many as before)"
    calibrate.add_argument("--marks", type=whole_number, metavar="N", help=text)
    add_jobs_option(calibrate)

    add_action(_migrate, "migrate a catalogue of an earlier version to the newest schema", _MIGRATE_EPILOG)


def run(options: argparse.Namespace) -> int:
    """Print the help if no action is given."""
    options.parser.print_help()
    return 2


# ---------------------------------------------------------------- opening and calibrating


def _open_for_writing(options: argparse.Namespace, *, create: bool = False) -> Catalogue:
    """Open a catalogue for writing, and report the migration of an old one."""
    if options.catalogue.exists() or not create:
        _migrate_file(options, complain)
    return Catalogue(options.catalogue, create=create, write=True)


def _migrate_file(options: argparse.Namespace, report: Callable[[str], None]) -> bool:
    """Migrate an old catalogue, report where the old file is kept, and return whether there was anything to do."""
    backup = Catalogue.migrate(options.catalogue, on_progress=options.on_progress)
    if backup is not None:
        report(f"{options.catalogue}: migrated to schema {VERSION}; the old file is kept as {backup}")
    return backup is not None


def explain_missing_p_values(catalogue: Catalogue, path: Path) -> str:
    """Say why a catalogue that is not calibrated has no p-values, and what to do about it."""
    if not catalogue.can_be_calibrated:
        return f"The catalogue has fewer than {MIN_ENTRIES} entries, too few for p-values."
    command = f"radoncdt catalogue calibrate {shlex.quote(str(path))}"
    return (
        f"The catalogue is not calibrated, or its calibration is outdated, so there are no p-values; run `{command}`."
    )


def _format_entries(number: int) -> str:
    return format_count(number, "entry", "entries")


# ---------------------------------------------------------------- actions


def _add(options: argparse.Namespace) -> int:
    ink = read_ink_options(options)
    require("PIL.Image", "reading image files")
    _threads.check_n_jobs(options.jobs)  # this and the next checks come before a catalogue is created
    for path in options.images:
        if not os.path.lexists(path):
            raise ArgumentValueError("images", f"must be a folder or a file, got {path}, which does not exist")
    list_files("images", options.images)
    if options.metadata is not None:
        read_table(options.metadata)
    with _open_for_writing(options, create=True) as catalogue:
        columns = catalogue.columns
        added = catalogue.add(
            options.images,
            metadata=options.metadata,
            n_jobs=options.jobs,
            dask=options.dask,
            on_progress=options.on_progress,
            **ink,
        )
        _report_new_columns(columns, catalogue.columns)
        _report_added(options, added, len(catalogue))
        interrupted = _calibrate_if_outdated(options, catalogue)
    return 130 if interrupted else 1 if added.failures else 0


def _report_added(options: argparse.Namespace, added: Added, n_entries: int) -> None:
    """Report what was added, and what was not, with the reasons."""
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
        f"{options.catalogue}: {added.added:,} added, {added.known:,} already present, "
        f"{len(added.failures):,} refused; {_format_entries(n_entries)}"
    )


def _report_new_columns(before: list[str], after: list[str]) -> None:
    """Name new metadata columns, which may be mistyped."""
    for name in after:
        if name not in before:
            complain(f"{name!r} is a new metadata column{suggest(name, before)}")


def _calibrate_if_outdated(options: argparse.Namespace, catalogue: Catalogue) -> bool:
    """Calibrate a catalogue that has enough entries and no current calibration. Return whether it was interrupted."""
    if catalogue.calibrated or not catalogue.can_be_calibrated:
        return False
    if options.no_calibrate:
        complain(explain_missing_p_values(catalogue, options.catalogue))
        return False
    try:
        n_marks = catalogue.calibrate(n_jobs=options.jobs, on_progress=options.on_progress)
    except KeyboardInterrupt:
        options.on_progress.close()
        complain(f"interrupted; the images are stored. {explain_missing_p_values(catalogue, options.catalogue)}")
        return True
    say(f"{options.catalogue}: calibrated with {format_count(n_marks, 'mark')}")
    return False


def _list(options: argparse.Namespace) -> None:
    with Catalogue(options.catalogue) as catalogue:
        if options.failures:
            for file, reason in catalogue.failures():
                say(f"{file}: {reason}")
            return
        entries = catalogue.entries(options.where)
    for entry in entries:
        known = [f"{name}: {value}" for name, value in entry.items() if name not in ENTRY_COLUMNS and value is not None]
        say("  ".join([str(entry["entry"]), entry["file"], *map(shorten, known)]))
    if not entries:
        complain(
            f"{options.catalogue}: {'no entry satisfies the condition' if options.where else 'there are no entries'}"
        )


def _show(options: argparse.Namespace) -> None:
    with Catalogue(options.catalogue) as catalogue:
        thumbnail, ink = catalogue.thumbnail(options.number), catalogue.ink_options(options.number)
        entry = catalogue.entry(options.number)
        file = find_file(entry["file"], catalogue.path.parent)
    check_outputs(options, [file], picture=[".png"])
    settings = ", ".join(f"{name} {value}" for name, value in ink.items())
    if options.picture is not None:
        write_bytes(options.picture, thumbnail)
    for name, value in [*entry.items(), ("ink options", settings), ("written picture", options.picture)]:
        if value not in (None, ""):
            say(f"{name:18} {value}")


def _remove(options: argparse.Namespace) -> None:
    with _open_for_writing(options) as catalogue:
        catalogue.remove(options.numbers)
        say(f"{options.catalogue}: {len(set(options.numbers)):,} removed; {_format_entries(len(catalogue))}")


def _update(options: argparse.Namespace) -> int:
    with _open_for_writing(options) as catalogue:
        columns = catalogue.columns
        n_changed, unused = catalogue.update(options.metadata)
        n_entries = len(catalogue)
        _report_new_columns(columns, catalogue.columns)
    for name in unused:
        complain(f"{options.metadata}: no entry is named {name!r}")
    lines = format_count(len(unused), "line")
    say(f"{options.catalogue}: {n_changed:,} of {_format_entries(n_entries)} changed, {lines} unused")
    return 1 if unused else 0


def _export(options: argparse.Namespace) -> int:
    check_outputs(options, [options.catalogue], out=ANY)
    if options.out.exists() and not options.force:
        raise ArgumentValueError("out", f"must not exist yet, got {options.out}; --force replaces it")
    with Catalogue(options.catalogue) as catalogue, warnings.catch_warnings(record=True) as caught:
        n_entries = catalogue.export(options.out, skip_damaged=options.skip_damaged)
    for warning in caught:
        complain(str(warning.message))
    say(f"{options.out}: {_format_entries(n_entries)}")
    return 1 if any(issubclass(warning.category, DamagedEntryWarning) for warning in caught) else 0


def _check(options: argparse.Namespace) -> int:
    with Catalogue(options.catalogue) as catalogue:
        problems = catalogue.check(on_progress=options.on_progress)
        n_entries = len(catalogue)
    for problem in problems:
        say(f"{'catalogue' if problem.entry is None else f'entry {problem.entry}'}: {problem.what}")
    say(f"{options.catalogue}: {_format_entries(n_entries)}, {format_count(len(problems), 'problem')}")
    return 1 if problems else 0


def _calibrate(options: argparse.Namespace) -> None:
    with _open_for_writing(options) as catalogue:
        n_marks = catalogue.calibrate(n_marks=options.marks, n_jobs=options.jobs, on_progress=options.on_progress)
    say(f"{options.catalogue}: calibrated with {format_count(n_marks, 'mark')}")


def _migrate(options: argparse.Namespace) -> None:
    if not _migrate_file(options, say):
        say(f"{options.catalogue}: already has the newest schema")
