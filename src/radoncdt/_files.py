"""Files that are written completely or not at all."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import IO

__all__ = ["write_atomically"]


def write_atomically(path: Path, save: Callable[[IO[bytes]], object]) -> None:
    """Write a file beside `path`, and move it there once `save` has succeeded."""
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            save(file)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
