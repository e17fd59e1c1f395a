"""The commands of catalogues. Every name, option and message that the stress parts rely on is here."""

import io
import warnings
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from radoncdt import cli
from stress.findings import Findings, describe_error

Arguments = list[str]

DOCUMENTED = (0, 1, 2)  # exit codes that commands may return
BUSY = "another process"  # part of the message of a command that waited too long for another writer
NO_MEMORY = "not enough memory"


def add(db: Path, *images: Path, metadata: Path | None = None) -> Arguments:
    table = [] if metadata is None else ["--metadata", metadata]
    return _texts("catalogue", "add", db, *images, *table, "--jobs", 1)


def remove(db: Path, *numbers: int) -> Arguments:
    return _texts("catalogue", "remove", db, *numbers)


def update(db: Path, metadata: Path) -> Arguments:
    return _texts("catalogue", "update", db, "--metadata", metadata)


def list_entries(db: Path) -> Arguments:
    return _texts("catalogue", "list", db)


def show(db: Path, number: int, picture: Path | None = None) -> Arguments:
    return _texts("catalogue", "show", db, number, *([] if picture is None else ["--picture", picture]))


def export(db: Path, out: Path) -> Arguments:
    return _texts("catalogue", "export", db, out, "--force")


def check(db: Path) -> Arguments:
    return _texts("catalogue", "check", db)


def calibrate(db: Path) -> Arguments:
    return _texts("catalogue", "calibrate", db, "--marks", 20, "--jobs", 1)


def migrate(db: Path) -> Arguments:
    return _texts("catalogue", "migrate", db)


def search(db: Path, image: Path, *, report: Path | None = None) -> Arguments:
    more = [] if report is None else ["--report", report]
    return _texts("search", db, image, "--jobs", 1, *more)


def _texts(*arguments: object) -> Arguments:
    return [str(argument) for argument in arguments]


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    name: str
    status: int | None  # None after an exception
    out: str
    err: str
    error: str = ""  # type and place of an exception that the command raised

    @property
    def problem(self) -> str:
        """The requirement for every command that this one broke, or an empty string."""
        if self.error:
            return self.error
        if "Traceback" in self.err:
            return "traceback on stderr"
        if NO_MEMORY in self.err:
            return "ran out of memory"
        return "" if self.status in DOCUMENTED else f"status {self.status}"

    @property
    def busy(self) -> bool:
        return self.status == 2 and BUSY in self.err

    @property
    def text(self) -> str:
        return f"status {self.status}: {self.out[-200:]} {self.err[-200:]}"


def call(arguments: Sequence[str]) -> Outcome:
    """Run a command in this process."""
    name = arguments[1] if arguments[0] == "catalogue" else arguments[0]
    out, err, status, error = io.StringIO(), io.StringIO(), None, ""
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("default")  # a warning is printed, as it is for a user
        try:
            status = cli.main(arguments)
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        except Exception as raised:
            error = describe_error(raised)
            err.write(f"{type(raised).__name__}: {raised}")
    return Outcome(name, status, out.getvalue(), err.getvalue(), error)


def must(arguments: Sequence[str]) -> Outcome:
    """Run a command that prepares something; raise an error if it fails."""
    outcome = call(arguments)
    if outcome.status != 0:
        raise RuntimeError(f"{' '.join(arguments)}: {outcome.text}")
    return outcome


def exists(arguments: Sequence[str]) -> bool:
    """Check whether there is such a command."""
    return call([*arguments[:2], "--help"]).status == 0


def read_files(out: str) -> dict[int, str]:
    """Read files by number from the output of the command that lists entries."""
    rows = (line.split("  ") for line in out.splitlines())
    return {int(row[0]): row[1] for row in rows if len(row) > 1 and row[0].isdecimal()}


def read_problems(out: str) -> set[str]:
    """Read the lines of the output of check that name a problem."""
    return {line for line in out.splitlines() if line.startswith(("catalogue:", "entry "))}


def is_acknowledged(out: str) -> bool:
    """Check whether a command that writes has reported success, which is the only line that it prints."""
    return bool(out.strip())


def passes(db: Path, findings: Findings, when: str) -> bool:
    """Check a catalogue that must be intact; return whether it passes."""
    outcome = call(check(db))
    return findings.require(outcome.status == 0, f"check fails {when}", outcome.error + outcome.text)
