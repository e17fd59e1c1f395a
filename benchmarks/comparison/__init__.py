"""What radoncdt and other libraries are compared in, one file a part.

A part is a function from the libraries and whether to be quick to records: each has the part, the case, the library
and its form, and figures, or why there are none. ``compare.py`` runs them and writes them to results.json, and
``page.py`` and ``plots.py`` show them.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from peers import Form, Peer

Record = dict[str, Any]

RESULTS = Path(__file__).parents[1] / "results.json"
OURS = "radoncdt"
SIDE, N_ANGLES = 256, 128
"""Where libraries are compared."""


def forms(found: list[Peer]) -> Iterator[tuple[Peer, str, Form]]:
    return ((peer, name, form) for peer in found for name, form in peer.forms.items())


def record(part: str, case: str, peer: Peer, form: str, **figures: Any) -> Record:
    return {"part": part, "case": case, "peer": peer.name, "form": form, **figures}


def attempt(part: str, case: str, peer: Peer, form: str, measure: Callable[[], dict[str, Any]], **more: Any) -> Record:
    """The record of what is measured, or why it could not be: one library that fails does not stop the others."""
    try:
        return record(part, case, peer, form, **more, **measure())
    except Exception as error:
        return record(part, case, peer, form, **more, left_out=f"{type(error).__name__}: {error}")


def ours_alone(part: str, case: str, **figures: Any) -> Record:
    return {"part": part, "case": case, "peer": OURS, "form": "as shipped", **figures}
