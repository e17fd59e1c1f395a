"""Commands that write, killed with SIGKILL."""

import hashlib
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from radoncdt.catalogue import Catalogue
from stress import commands, images
from stress.findings import Findings, Progress
from stress.forks import Ended, Forks

N_ENTRIES, N_MORE = 34, 10
OLD = Path(__file__).parent.parent / "data" / "schema1" / "catalogue.db"  # a catalogue of the first schema
ATTEMPTS = 4  # attempts per kill, because some commands end before they are killed

State = dict[str, tuple]
"""What is stored of every entry, by its file, except for its number."""


@dataclass
class Case:
    """A command that is killed, and the catalogue that it starts from, or None if it makes one."""

    name: str
    command: str
    folder: Path  # contains only the catalogue
    start: Path | None
    arguments: list[str]
    before: State = field(default_factory=dict)
    complete: State = field(default_factory=dict)
    known: set[str] = field(default_factory=set)  # problems that check reports without kills: missing image files
    runs: list[Ended] = field(default_factory=list)  # commands that were not killed

    @property
    def db(self) -> Path:
        return self.folder / "marks.db"

    def restore(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)  # including journals and backups
        self.folder.mkdir()
        if self.start is not None:
            shutil.copyfile(self.start, self.db)

    def span(self, writing: bool) -> float:
        """Return the seconds that the command takes, in total or from its first write: the median of all runs."""
        return float(np.median([run.seconds - (run.first_write or 0) * writing for run in self.runs]))

    def learn(self, forks: Forks) -> None:
        """Run the command without killing it, and store the result."""
        self.restore()
        self.before = read_state(self.db) if self.start else {}
        self.known = commands.read_problems(commands.call(commands.check(self.db)).out) if self.start else set()
        self.runs = [forks.run(self.arguments)]
        if self.runs[0].status != 0:
            raise RuntimeError(f"{self.name} fails: {self.runs[0].err}")
        self.complete = read_state(self.db)
        self.known |= commands.read_problems(commands.call(commands.check(self.db)).out)


def read_state(db: Path) -> State:
    """Read metadata and thumbnails of all entries."""
    found = {}
    with Catalogue(db) as catalogue:
        for entry in catalogue.entries():
            thumbnail = hashlib.sha256(catalogue.thumbnail(entry["entry"])).hexdigest()
            known = {k: v for k, v in entry.items() if k not in ("entry", "file") and v is not None}
            found[entry["file"]] = (*sorted(known.items()), thumbnail)
    return found


def make(folder: Path, seed: int, findings: Findings) -> list[Case]:
    """Make one case per command that writes."""
    names = [*(f"{k:03}" for k in range(N_ENTRIES)), *(f"more{k}" for k in range(N_MORE))]
    files = images.save_marks(folder / "marks", names, seed)
    old, more = files[:N_ENTRIES], files[N_ENTRIES:]
    table = images.save_table(folder / "first.csv", old, token="first")
    more_table = images.save_table(folder / "more.csv", more, token="more")
    new_table = images.save_table(folder / "second.csv", old[::2], token="second", motif="crown", extra="new")
    work, start = folder / "work", folder / "start.db"
    work.mkdir()
    db = work / "marks.db"
    commands.must(commands.add(db, *old, metadata=table))
    db.rename(start)
    cases = [
        Case("add to a new file", "add", work, None, commands.add(db, *more, metadata=more_table)),
        Case("add to a file", "add", work, start, commands.add(db, *more, metadata=more_table)),
        Case("remove", "remove", work, start, commands.remove(db, *range(1, N_ENTRIES, 3))),
        Case("update", "update", work, start, commands.update(db, new_table)),
        Case("calibrate", "calibrate", work, start, commands.calibrate(db)),
    ]
    if not commands.exists(commands.migrate(db)):
        findings.remarks.append("the command that migrates a catalogue is missing; no migration is killed")
    elif not OLD.exists():
        findings.remarks.append(f"the catalogue {OLD.name} of the first schema is missing; no migration is killed")
    else:
        cases.append(Case("migrate", "migrate", work, OLD, commands.migrate(db)))
        cases.append(Case("add to an old file", "add", work, OLD, commands.add(db, *more, metadata=more_table)))
    return cases


def load(forks: Forks, cases: list[Case]) -> None:
    """Load everything that the commands need in the process that forks, and store their results."""
    for case in cases:
        case.restore()
        forks.load(case.arguments)
    for case in cases:
        case.learn(forks)


def run(folder: Path, kills: int, seed: int) -> Findings:
    """Kill commands at random moments, half of them after they began to write."""
    findings, progress, random = Findings(), Progress("d"), np.random.default_rng(seed)
    cases = make(folder, seed, findings)
    with Forks(folder) as forks:
        load(forks, cases)
        for k in range(ATTEMPTS * kills):
            case, writing = cases[k % len(cases)], k // len(cases) % 2 == 1
            case.restore()
            delay = case.span(writing) * random.uniform()
            ended = forks.run(case.arguments, delay=delay, writing=writing)
            if not ended.killed:
                case.runs.append(ended)
            judge(case, ended, f"{case.name}, attempt {k}", findings)
            progress.say(f"{findings.counts['killed']} of {kills} kills")
            if findings.counts["killed"] == kills:
                break
    findings.require(findings.counts["killed"] == kills, "too few commands were killed in time")
    return findings


def run_at_statements(folder: Path, seed: int, *, most: int, slow: int) -> Findings:
    """Run commands that kill themselves before some of the statements that write, and before the last statement.

    `most` is the largest number of statements, and `slow` that for calibrate, which takes a second or two.
    """
    findings = Findings()
    cases = make(folder, seed, findings)
    with Forks(folder) as forks:
        load(forks, cases)
        for case in cases:
            letters = case.runs[0].statements
            writes = [k for k, letter in enumerate(letters) if letter == "w"]
            places = slow if case.command == "calibrate" else most
            chosen = {writes[i] for i in np.linspace(len(writes) - 1, 0, places).astype(int)}
            for k in sorted(chosen if places == slow else chosen | {len(letters) - 1}):
                case.restore()
                ended = forks.run(case.arguments, kill_at=k)
                findings.require(ended.killed, f"{case.name} was not killed", f"statement {k}: {ended.err}")
                judge(case, ended, f"{case.name}, killed before statement {k}", findings)
    return findings


def judge(case: Case, ended: Ended, where: str, findings: Findings) -> None:
    """Check that a killed command leaves an intact catalogue, loses nothing, and can be run again."""
    findings.count("commands")
    findings.count("killed", ended.killed)
    findings.count(f"killed: {case.name}", ended.killed)
    findings.count("killed while writing", ended.killed and "w" in ended.statements)
    if not ended.killed and ended.status != 0:
        findings.fail(f"{case.name} fails", f"{where}: {ended.err}")
    after = _after(case, where, findings)
    if after is not None:
        said = commands.is_acknowledged(ended.out)
        findings.count("acknowledged before the kill", said and ended.killed)
        files = {*case.before, *case.complete}
        allowed = [(case.complete.get(f),) if said else (case.before.get(f), case.complete.get(f)) for f in files]
        lost = [file for file, known in zip(files, allowed) if after.get(file) not in known]
        findings.require(not lost and set(after) <= files, f"{case.name}: entries are lost", f"{where}: {lost[:3]}")
    again = commands.call(case.arguments)
    gone = case.command == "remove" and again.status == 2 and after == case.complete  # they have already been removed
    if not findings.require(again.status == 0 or gone, f"{case.name} fails when run again", f"{where}: {again.text}"):
        return
    finished = _after(case, f"{where}, run again", findings)
    findings.require(finished == case.complete, f"{case.name}: the second run does not complete the first", where)


def _after(case: Case, where: str, findings: Findings) -> State | None:
    """Return the stored entries, or None if they cannot be read."""
    if not case.db.exists() and case.start is None:
        return {}
    if case.start is None and case.db.stat().st_size == 0:
        findings.count("empty files")
    checked = commands.call(commands.check(case.db))
    new = commands.read_problems(checked.out) - case.known
    whole = checked.status in ((0, 1) if case.known else (0,)) and not new
    if not findings.require(whole, f"{case.name}: check fails after the kill", f"{where}: {checked.text} {new}"):
        return None
    return read_state(case.db)
