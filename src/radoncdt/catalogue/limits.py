"""Limits on the work of SQLite, for files and conditions that nobody vouches for."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

TICK = 1000  # steps of SQLite's virtual machine between two looks at the limit


@contextmanager
def limit_steps(db: sqlite3.Connection, most: int) -> Iterator[None]:
    """Interrupt what is executed within after some steps of SQLite's virtual machine, all statements together.

    The statement then raises `sqlite3.OperationalError` with the text "interrupted". Rows must be fetched within,
    because a statement does its work while they are.
    """
    left = most // TICK

    def tick() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    db.set_progress_handler(tick, TICK)
    try:
        yield
    finally:
        db.set_progress_handler(None, TICK)
