"""The parts of the comparison with other libraries, one module per part.

A part is a function that takes the libraries and whether to be quick, and yields records. A record contains the part,
the case, the library, its form, and either figures or the reason why there are none. ``compare.py`` runs the parts and
writes the records to results.json. ``comparison_page.py`` and ``comparison_plots.py`` show them.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers import Form, Peer

Record = dict[str, Any]

RESULTS = Path(__file__).parents[1] / "results.json"
OURS = "radoncdt"  # name of this package among the libraries
SIDE, N_ANGLES = 256, 128
"""The side of the images, in pixels, and the number of angles of most cases."""


def list_forms(found: list[Peer]) -> Iterator[tuple[Peer, str, Form]]:
    """List all forms of all libraries."""
    return ((peer, name, form) for peer in found for name, form in peer.forms.items())


def make_record(part: str, case: str, peer: Peer, form: str, **figures: Any) -> Record:
    """Make the record of one form of a library in one case."""
    return {"part": part, "case": case, "peer": peer.name, "form": form, **figures}


def attempt(part: str, case: str, peer: Peer, form: str, measure: Callable[[], dict[str, Any]], **more: Any) -> Record:
    """Make the record of a measurement. If it fails, the record says why, and the comparison continues."""
    try:
        return make_record(part, case, peer, form, **more, **measure())
    except Exception as error:
        return make_record(part, case, peer, form, **more, left_out=f"{type(error).__name__}: {error}")


def make_own_record(part: str, case: str, **figures: Any) -> Record:
    """Make a record of a part that measures radoncdt alone."""
    return {"part": part, "case": case, "peer": OURS, "form": "as shipped", **figures}
