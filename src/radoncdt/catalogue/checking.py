"""Whether a catalogue is whole."""

import io
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from radoncdt.catalogue.adding import hash_of
from radoncdt.catalogue.chance import NAME, stored_chances
from radoncdt.catalogue.index import stored_summaries
from radoncdt.catalogue.store import CatalogueError, Store, named_file
from radoncdt.ink import InkOptions


class Problem(NamedTuple):
    """Something that is not as it should be."""

    entry: int | None
    """None if it concerns the whole catalogue."""
    what: str


def problems(store: Store, progress: bool) -> list[Problem]:
    """What is wrong with the database, its rows, or the files they were read from."""
    from tqdm import tqdm

    found = [Problem(None, text) for (text,) in store.rows("PRAGMA integrity_check") if text != "ok"]
    found += [Problem(row[1], f"{row[0]} without an entry") for row in store.rows("PRAGMA foreign_key_check")]
    try:
        settings = store.settings
        size = settings.n_angles * settings.levels.size
    except (CatalogueError, ValueError) as error:
        return [*found, Problem(None, str(error))]
    rows = store.rows(
        "SELECT e.id, e.hash, e.file, e.ink, e.picture, d.curves, d.moments, m.entry FROM entries e "
        "LEFT JOIN descriptors d ON d.entry = e.id LEFT JOIN metadata m ON m.entry = e.id ORDER BY e.id"
    )
    for number, digest, file, ink, picture, curves, moments, metadata in tqdm(
        rows, unit="entry", disable=None if progress else True, delay=2
    ):
        checks = (
            _row(ink, picture, curves, moments, size),
            None if metadata else "has no metadata",
            _file(file, store.path.parent, digest),
        )
        found += [Problem(number, what) for what in checks if what]
    if not found:
        found += _summaries(store)
    if store.rows("SELECT 1 FROM settings WHERE name = ?", [NAME]) and stored_chances(store) is None:
        found.append(Problem(None, "what was learnt of chances is damaged; the next search learns it anew"))
    return found


def _row(ink: str, picture: bytes, curves: bytes | None, moments: bytes | None, size: int) -> str | None:
    from PIL import Image

    try:
        InkOptions(**json.loads(ink))
        with Image.open(io.BytesIO(picture)) as image:
            image.verify()
    except (ValueError, TypeError, OSError, SyntaxError) as error:
        return f"its ink is damaged: {error}"
    if curves is None or moments is None or len(curves) != 2 * size or len(moments) != 48:
        return "its descriptor is missing or damaged"
    values, numbers = np.frombuffer(curves, np.float16), np.frombuffer(moments, np.float64)
    if not np.isfinite(values).all() or not np.isfinite(numbers).all():
        return "its descriptor is not finite"
    if not (np.linalg.eigvalsh(numbers[2:].reshape(2, 2)) > 0).all():
        return "its scatter is not positive definite"
    return None


def _file(file: str, folder: Path, digest: str) -> str | None:
    path = named_file(file, folder)
    if not path.exists():
        return f"its file is not there any more: {file}"
    return None if hash_of(path) == digest else f"its file has changed since: {file}"


def _summaries(store: Store) -> list[Problem]:
    """Summaries that are stored must be those of the entries."""
    stored, settings = stored_summaries(store), store.settings
    if stored is None or not len(store.numbers()):
        return []
    for k in range(0, len(stored.numbers), 1024):
        numbers = stored.numbers[k : k + 1024]
        there = np.isin(numbers, store.numbers())
        if not there.any():
            continue
        made = stored.coordinates.summaries(store.descriptors(numbers[there], settings)).astype(np.float32)
        if not np.allclose(made, stored.values[k : k + 1024][there], atol=1e-6):
            return [
                Problem(None, "the summaries that a search reads first are not those of the entries; add any image")
            ]
    return []
