"""Files on disk."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import IO


def write_whole(path: Path, save: Callable[[IO[bytes]], None]) -> None:
    """Write a file as a whole or not at all."""
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            save(file)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
