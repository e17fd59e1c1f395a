"""A process that loads everything once, and forks one child per command, which is killed with SIGKILL.

A child kills itself before a chosen statement of SQLite, or is killed some time after it started or began to write.
Loading takes seconds, whereas forking is immediate, so that kills happen while commands are running.
"""

import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

# beginnings of the statements that write
WRITES = ("BEGIN IMMEDIATE", "BEGIN EXCLUSIVE", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "VACUUM", "COMMIT")


@dataclass(frozen=True)
class Ended:
    """How a child ended."""

    status: int  # negative if it was killed
    seconds: float
    first_write: float | None  # seconds after the start
    statements: str  # one letter per statement: w if it writes, r if not
    out: str
    err: str

    @property
    def killed(self) -> bool:
        return self.status == -signal.SIGKILL


class Forks:
    """The process, as its parent sees it."""

    def __init__(self, folder: Path) -> None:
        self.out, self.err, self.log = folder / "fork.out", folder / "fork.err", folder / "forks.err"
        paths = os.pathsep.join(path for path in sys.path if path)
        single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        with self.log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "stress.forks", str(self.out), str(self.err)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | single | {"PYTHONPATH": paths},
            )

    def __enter__(self) -> "Forks":
        return self

    def __exit__(self, *_) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def load(self, arguments: list[str]) -> None:
        """Run a command in the process itself, so that everything is loaded before children are forked."""
        self._ask(arguments=arguments, here=True)

    def run(
        self,
        arguments: list[str],
        *,
        kill_at: int | None = None,
        delay: float | None = None,
        writing: bool = False,
    ) -> Ended:
        """Run a command in a child.

        Parameters
        ----------
        arguments : list of str
        kill_at : int, optional
            The child kills itself before this statement, counted from 0.
        delay : float, optional
            The child is killed this many seconds after its start.
        writing : bool
            The delay counts from the first statement that writes.
        """
        for file in (self.out, self.err):
            file.write_text("", encoding="utf-8")  # a child may be killed before it opens the file
        answer = self._ask(arguments=arguments, here=False, kill_at=kill_at, delay=delay, writing=writing)
        return Ended(**answer, out=self.out.read_text(encoding="utf-8"), err=self.err.read_text(encoding="utf-8"))

    def _ask(self, **request) -> dict:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process that forks has ended: {self.log.read_text(encoding='utf-8')}")
        return json.loads(answer)


def serve(out: str, err: str) -> None:
    """Answer requests, one per line."""
    from tqdm import tqdm

    from radoncdt import cli

    tqdm.monitor_interval = 0  # no monitor thread, because a fork does not copy threads
    answers, sys.stdout = sys.stdout, open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for line in sys.stdin:
        request = json.loads(line)
        if request.pop("here"):
            cli.main(request["arguments"])
            answer = {}
        else:
            answer = _forked(out=out, err=err, **request)
        print(json.dumps(answer), file=answers, flush=True)


def _forked(
    arguments: list[str], kill_at: int | None, delay: float | None, writing: bool, out: str, err: str
) -> dict[str, object]:
    notes, note = os.pipe()
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(notes)
        os._exit(_run(arguments, kill_at, note, out, err))
    os.close(note)
    statements, first_write = "", None
    end = None if delay is None or writing else begun + delay
    while True:
        left = None if end is None else max(0.0, end - time.monotonic())
        if not select.select([notes], [], [], left)[0]:
            os.kill(child, signal.SIGKILL)
            end = None
            continue
        some = os.read(notes, 4096).decode()
        if not some:
            break
        statements += some
        if first_write is None and "w" in some:
            first_write = time.monotonic() - begun
            if delay is not None and writing:
                end = time.monotonic() + delay
    os.close(notes)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    seconds = time.monotonic() - begun
    return {"status": status, "seconds": seconds, "first_write": first_write, "statements": statements}


def _run(arguments: list[str], kill_at: int | None, note: int, out: str, err: str) -> int:
    """Run a command in a child; return its exit status."""
    from radoncdt import cli

    for number, name in ((1, out), (2, err)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = open(1, "w", encoding="utf-8", buffering=1), open(2, "w", encoding="utf-8", buffering=1)  # noqa: SIM115
    connect, count = sqlite3.connect, 0

    def traced(statement: str) -> None:
        nonlocal count
        if count == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1
        os.write(note, b"w" if statement.lstrip().upper().startswith(WRITES) else b"r")

    def connect_traced(*arguments, **options):
        db = connect(*arguments, **options)
        db.set_trace_callback(traced)
        return db

    sqlite3.connect = connect_traced
    try:
        return cli.main(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
        return 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    serve(*sys.argv[1:])
