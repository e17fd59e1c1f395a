"""How unusual it is that an entry fits so well, if none of them is the same mark.

Of the entries nearest to a query, one stands out as its score is smaller than that of the others:

    stand = (median of the scores of the `NEAREST` entries) / (score of the entry).

The chance of a match is how often the best of the `FITTED` nearest entries would stand out as much or more if the
catalogue did not have the mark. How that is distributed depends on the catalogue, on how many marks there are and how
alike, so it is learnt from the catalogue itself (`calibrating`): some of its own marks, bent a little and searched for
among the others, have stands t_1, …, t_m, and

    chance = (1 + number of t_i ≥ stand) / (m + 1).

If the stand of a query whose mark is not there is distributed as these are (all of them exchangeable), that is uniform
on 1/(m + 1), …, 1, whatever the distribution is. It is never below 1/(m + 1).
"""

import json
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt.catalogue import records
from radoncdt.catalogue.store import Snapshot, Store

NEAREST = 11
"""Entries among which one stands out. A few entries of the same mark do not change the median of this many."""

FITTED = 20
"""Nearest entries whose lines are compared, at least: the best of them is the best of all, most often."""

NAME = "chances"
"""Of what is stored among the settings of a catalogue."""


class Chances(NamedTuple):
    """What was learnt from marks that a catalogue does not have.

    >>> from radoncdt.catalogue.p_values import Chances
    >>> learnt = Chances(100, 100, (1.1, 1.3, 1.5, 2.0))
    >>> learnt.of(1.4), learnt.of(9.0), learnt.of(0.7)
    (0.6, 0.2, 1.0)
    """

    entries: int
    """How many the catalogue had."""
    last: int
    """The highest of their numbers; later ones are higher."""
    stands: tuple[float, ...]
    """Of the best entry of each, ascending; none in a catalogue of copies of one mark."""

    def of(self, stand: float) -> float | None:
        """The chance that the best entry stands out as much; None if nothing could be learnt."""
        if not self.stands:
            return None
        fewer = int(np.searchsorted(self.stands, stand))
        return (1 + len(self.stands) - fewer) / (len(self.stands) + 1)

    def outdated(self, numbers: NDArray[np.int64]) -> bool:
        """Whether at least half of the entries, whose numbers these are, came since, or half of those then are gone."""
        old = int(np.searchsorted(numbers, self.last, side="right"))
        return 2 * old <= max(len(numbers), self.entries)


def stand(score: float, scores: NDArray[np.float64]) -> float:
    """How many times smaller a score is than the median of those of the nearest entries, the nearest first."""
    return float(np.median(scores[:NEAREST])) / max(score, 1e-9)


def stored_chances(snapshot: Snapshot) -> Chances | None:
    """What was learnt before, None if nothing was, or if it is damaged: it can be learnt again."""
    try:
        found = records.read_json(snapshot.setting(NAME) or "")
        entries, last = int(found["entries"]), int(found["last"])
        stands = np.array(found["stands"], np.float64)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    sound = stands.ndim == 1 and np.isfinite(stands).all() and 0 < entries <= last < 2**63
    return Chances(entries, last, tuple(np.sort(stands).tolist())) if sound else None


def store_chances(store: Store, chances: Chances) -> None:
    value = chances._replace(stands=tuple(round(each, 6) for each in chances.stands))._asdict()
    with store.transaction() as transaction:
        transaction.put_setting(NAME, json.dumps(value))
