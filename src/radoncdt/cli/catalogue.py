"""``radoncdt catalogue``: add, list, show, remove, update, export, check, calibrate, migrate."""

import argparse
import warnings
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from radoncdt._files import write_whole
from radoncdt._text import shortened
from radoncdt.catalogue import Catalogue, CatalogueError, MetadataError
from radoncdt.catalogue.calibration import DEFAULT_N_MARKS
from radoncdt.catalogue.errors import DamagedEntryWarning
from radoncdt.catalogue.metadata import ENTRY_COLUMNS, MAX_CELL_LENGTH, read_table
from radoncdt.catalogue.paths import find_file
from radoncdt.catalogue.schema import VERSION
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import (
    check_jobs,
    check_output,
    in_words_of_the_command,
    ink_kind_options,
    ink_settings,
    write,
)
from radoncdt.cli.progress import Bar
from radoncdt.ink import image_files

EPILOG = """\
A catalogue is one file. Its entries are image files that were read; they stay where they are.

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

ADD = f"""\
Image files that the catalogue has already, whatever their names, are not read again. So after an interruption the same
command goes on where it stopped. Files that cannot be read are noted with the reason; the rest goes on, and the exit
status is 1.

The table of metadata is a CSV file. Its first line has titles, one of which is "file": the path below the folder, the
name, or the name without its ending. motif, place, reference and link are text; date is a year (1475, c. 1475,
1470-1480); chain_distance_mm, height_mm and width_mm are numbers. All other columns are kept as text. A cell has at
most {MAX_CELL_LENGTH:,} characters.
"""


def add_parser(commands: Any) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = commands.add_parser(
        "catalogue",
        formatter_class=raw,
        description="Keep marks, what is known of them and what a search needs in one file.",
        epilog=EPILOG,
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)

    def action(name: str, run: Any, help: str, **more: Any) -> argparse.ArgumentParser:  # noqa: A002
        made: argparse.ArgumentParser = actions.add_parser(
            name, formatter_class=raw, help=help, description=f"{help[0].upper()}{help[1:]}.", **more
        )
        made.add_argument("catalogue", type=Path, metavar="DB", help="the file of the catalogue")
        made.set_defaults(run=run, parser=made)
        return made

    add = action(
        "add",
        _add,
        "read images into a catalogue, which is made if it is not there",
        epilog=ADD,
        parents=[ink_kind_options("drawing")],
    )
    add.add_argument("images", type=Path, nargs="+", metavar="DIR", help="folders of images, or image files")
    add.add_argument("--metadata", type=Path, metavar="FILE.csv", help="what is known of the images")
    add.add_argument("--jobs", type=int, default=-1, metavar="N", help="processes (default -1, one per core)")
    add.add_argument("--dask", metavar="ADDRESS", help="read them on a Dask cluster, such as tcp://10.0.0.1:8786")

    entries = action("list", _list, "list entries and what is known of them")
    entries.add_argument("--where", metavar="SQL", help="only those for which a condition on the metadata holds")
    entries.add_argument("--failures", action="store_true", help="list files that could not be read instead, and why")

    show = action("show", _show, "show all that is known of an entry")
    show.add_argument("entry", type=int, metavar="ENTRY", help="its number")
    show.add_argument("--picture", type=Path, metavar="FILE.png", help="write a small picture of its ink")

    remove = action("remove", _remove, "remove entries; the image files stay where they are")
    remove.add_argument("entries", type=int, nargs="+", metavar="ENTRY", help="their numbers")

    update = action("update", _update, "change what is known of entries")
    update.add_argument(
        "--metadata", type=Path, required=True, metavar="FILE.csv", help="as in add; empty cells change nothing"
    )

    export = action(
        "export",
        _export,
        "write a catalogue to a file that other programs read",
        epilog="""\
.csv and .json have one row per entry; .npz also has the descriptors, and radoncdt.Descriptors.load reads it. In the
.csv a text that a spreadsheet program would take for a formula, because it begins with =, +, - or @, gets an apostrophe
in front; add and update remove it, so that an exported table restores every cell.""",
    )
    export.add_argument("--skip-damaged", action="store_true", help="leave out damaged entries, and name them")
    export.add_argument("--force", action="store_true", help="write over a file that is there")
    export.add_argument("out", type=Path, metavar="FILE", help="must end in .csv, .json or .npz")

    action("check", _check, "verify every row of a catalogue, and every file that an entry was read from")

    calibrate = action(
        "calibrate",
        _calibrate,
        "calibrate a catalogue with its own marks, so that searches yield p-values",
        epilog="""\
Marks are redrawn with slightly bent lines and searched for among the others: how prominent is the best match if the
mark is not there? The smallest p-value is 1/(N + 1), where N is at most the number of entries. Entries with the same
reference are taken to be the same mark.""",
    )
    calibrate.add_argument(
        "--marks", type=int, default=DEFAULT_N_MARKS, metavar="N", help="how many, at least 20 (default %(default)s)"
    )
    calibrate.add_argument("--jobs", type=int, default=-1, metavar="N", help="threads (default -1, all cores)")

    action(
        "migrate",
        _migrate,
        "bring a catalogue of an older version to the newest schema",
        epilog="""\
Older catalogues stay searchable as they are. Commands that change a catalogue migrate it first, so this command is
only needed to choose the moment. A backup of the old file is made beside it and kept. An interruption leaves the
catalogue as it was.""",
    )


def _refusing(run: Any) -> Any:
    """Errors of catalogues end a command with a line that says why."""

    def refusing(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
        try:
            return int(run(options, parser))
        except (CatalogueError, MetadataError) as error:
            complain(in_words_of_the_command(error))
            return 2

    return refusing


def _migrated(path: Path) -> Path | None:
    with Bar() as bar:
        return Catalogue.migrate(path, on_progress=bar)


def _to_be_changed(path: Path, *, create: bool = False) -> Catalogue:
    """Open a catalogue for changes, and tell about the migration of an old one."""
    backup = _migrated(path) if path.exists() or not create else None
    if backup is not None:
        complain(f"{path}: migrated to schema {VERSION}; the old file is kept as {backup}")
    return Catalogue(path, create=create, write=True)


def _tell_new_columns(before: list[str], after: list[str]) -> None:
    """New columns may be misspelt ones."""
    for name in after:
        if name not in before:
            close = get_close_matches(name, before, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            complain(f"{name!r} is a new column of metadata{hint}")


@_refusing
def _add(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    check_jobs(options, parser)
    for path in options.images:
        if not path.exists() and not path.is_symlink():
            parser.error(f"DIR must be a folder or a file, got {path}, which is not there")
    if not image_files(options.images):
        raise CatalogueError(f"there are no image files in {', '.join(map(str, options.images))}")
    if options.metadata is not None:
        read_table(options.metadata)  # before a catalogue is made
    try:
        with Bar() as bar, _to_be_changed(options.catalogue, create=True) as catalogue:
            before = catalogue.columns
            done = catalogue.add(
                options.images,
                metadata=options.metadata,
                n_jobs=options.jobs,
                dask=options.dask,
                on_progress=bar,
                **ink_settings(options),
            )
            total = len(catalogue)
            _tell_new_columns(before, catalogue.columns)
    except (ImportError, ConnectionError) as error:
        parser.error(str(error))
    except (CatalogueError, MetadataError):
        raise
    except ValueError as error:
        parser.error(in_words_of_the_command(error))
    for failure in done.failures:
        complain(f"{failure.file}: {failure.reason}")
    for name in done.unused:
        complain(f"{options.metadata}: no image is named {name!r}")
    if done.different_options:
        complain(
            f"{done.different_options:,} existing entries were read with different options and left unchanged; "
            "remove them to read them again"
        )
    say(
        f"{options.catalogue}: {done.added:,} added, {done.known:,} there already, "
        f"{len(done.failures):,} refused; {total:,} entries"
    )
    return 1 if done.failures else 0


@_refusing
def _list(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    with Catalogue(options.catalogue) as catalogue:
        if options.failures:
            for file, reason in catalogue.failures():
                say(f"{file}: {reason}")
            return 0
        entries = catalogue.entries(options.where)
    for entry in entries:
        known = [f"{name}: {value}" for name, value in entry.items() if name not in ENTRY_COLUMNS and value is not None]
        say("  ".join([str(entry["entry"]), entry["file"], *map(shortened, known)]))
    if not entries:
        complain(
            f"{options.catalogue}: {'no entry fulfils the condition' if options.where else 'there are no entries'}"
        )
    return 0


@_refusing
def _show(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    with Catalogue(options.catalogue) as catalogue:
        picture, ink = catalogue.thumbnail(options.entry), catalogue.ink_options(options.entry)
        entry = catalogue.entry(options.entry)
        folder = catalogue.path.parent
    if options.picture is not None:
        check_output(options.picture, parser, "picture", [find_file(entry["file"], folder)])
        if options.picture.suffix.lower() != ".png":
            parser.error(f"--picture must end in .png, got {options.picture}")
    for name, value in entry.items():
        if value not in (None, ""):
            say(f"{name:18} {value}")
    say(f"{'ink':18} {', '.join(f'{name} {value}' for name, value in ink.items())}")
    if options.picture is not None:
        write_whole(options.picture, partial(write, picture))
        say(f"{'picture':18} {options.picture}")
    return 0


@_refusing
def _remove(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    with _to_be_changed(options.catalogue) as catalogue:
        catalogue.remove(options.entries)
        say(f"{options.catalogue}: {len(set(options.entries)):,} removed; {len(catalogue):,} entries")
    return 0


@_refusing
def _update(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    with _to_be_changed(options.catalogue) as catalogue:
        before = catalogue.columns
        changed, unused = catalogue.update(options.metadata)
        total = len(catalogue)
        _tell_new_columns(before, catalogue.columns)
    for name in unused:
        complain(f"{options.metadata}: no entry is named {name!r}")
    say(f"{options.catalogue}: {changed:,} of {total:,} entries changed, {len(unused):,} lines unused")
    return 1 if unused else 0


@_refusing
def _export(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    check_output(options.out, parser, "FILE", [options.catalogue])
    if options.out.exists() and not options.force:
        parser.error(f"FILE must not be there yet, got {options.out}; --force writes over it")
    with Catalogue(options.catalogue) as catalogue, warnings.catch_warnings(record=True) as left_out:
        warnings.simplefilter("always")
        count = catalogue.export(options.out, skip_damaged=options.skip_damaged)
    for warning in left_out:
        complain(str(warning.message))
    say(f"{options.out}: {count:,} entries")
    return 1 if any(issubclass(warning.category, DamagedEntryWarning) for warning in left_out) else 0


@_refusing
def _check(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    with Bar() as bar, Catalogue(options.catalogue) as catalogue:
        found = catalogue.check(on_progress=bar)
        for problem in found:
            say(f"{'catalogue' if problem.entry is None else f'entry {problem.entry}'}: {problem.what}")
        total = len(catalogue)
    problems = "1 problem" if len(found) == 1 else f"{len(found):,} problems"
    say(f"{options.catalogue}: {total:,} entries, {problems}")
    return 1 if found else 0


@_refusing
def _calibrate(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    check_jobs(options, parser)
    if options.marks < 20:
        parser.error(f"--marks must be at least 20, got {options.marks}")
    with Bar() as bar, _to_be_changed(options.catalogue) as catalogue:
        count = catalogue.calibrate(n_marks=options.marks, n_jobs=options.jobs, on_progress=bar)
    say(f"{options.catalogue}: calibrated with {count:,} marks")
    return 0


@_refusing
def _migrate(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    backup = _migrated(options.catalogue)
    if backup is None:
        say(f"{options.catalogue}: has the newest schema already")
    else:
        say(f"{options.catalogue}: migrated to schema {VERSION}; the old file is kept as {backup}")
    return 0
