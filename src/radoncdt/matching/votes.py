"""Examples that vote for the class of an image: registered, compared while small distortions are allowed, weighed."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._typing import Floats
from radoncdt.matching.distortion import BentPairs
from radoncdt.matching.framed import Framed
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import MapPrior
from radoncdt.matching.turns import compute_map_features, find_turns
from radoncdt.measures import Batch

__all__ = ["DEFAULT_BETA", "Comparison", "Examples"]

DEFAULT_BETA = 5.0  # sharpness of the votes

_FLOOR = 1e-3  # probability that is shared by all classes, so that none is impossible


class Comparison(NamedTuple):
    """Images compared with their candidates among the examples: n pairs."""

    pairs: NDArray[np.intp]
    bent: BentPairs
    features: Floats  # (3, n): aspect, rotation and mirror of the maps


@dataclass(frozen=True)
class Examples:
    """The examples, and how images are compared with them."""

    framed: Framed
    codes: NDArray[np.intp]  # the class of each example
    n_classes: int  # classes whose examples are candidates
    n_examples: int  # candidates per class
    reflections: bool
    prior: MapPrior
    beta: float = DEFAULT_BETA  # votes are proportional to exp(−beta · distance)

    def describe(self, batch: Batch, n_jobs: int | None) -> Framed:
        """Describe images as the examples are described."""
        return Framed.describe(batch, self.framed.descriptors.settings, self.framed.frame, n_jobs)

    def compare(self, images: Framed, n_jobs: int | None, exclude: NDArray[np.intp] | None = None) -> Comparison:
        """Compare images with their candidates; image i is not compared with example exclude[i]."""
        first, second = images.descriptors, self.framed.descriptors
        limits = Plausible(reflections=self.reflections)
        distances, turns = find_turns(first, second, limits=limits, prior=self.prior, n_jobs=n_jobs)
        if exclude is not None:
            distances[np.arange(len(exclude)), exclude] = np.inf
        chosen = [self._choose_candidates(row) for row in distances]
        owners = np.repeat(np.arange(len(chosen)), [len(each) for each in chosen])
        pairs = np.stack([owners, np.concatenate(chosen)], axis=1)
        pair_turns = turns[pairs[:, 0], pairs[:, 1]]
        bent = images.compare(self.framed, pairs, pair_turns, n_jobs)
        return Comparison(pairs, bent, np.array(compute_map_features(first, second, pairs, pair_turns)))

    def _choose_candidates(self, distances: Floats) -> NDArray[np.intp]:
        """Return the nearest examples of the nearest classes."""
        order = np.argsort(distances, kind="stable")
        order = order[np.isfinite(distances[order])]
        codes = self.codes[order]
        by_class = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[by_class], prepend=-1))
        ranks = np.empty(len(codes), np.intp)  # of each example among those of its class
        ranks[by_class] = np.arange(len(codes)) - np.repeat(starts, np.diff(starts, append=len(codes)))
        nearest = codes[np.sort(by_class[starts])[: self.n_classes]]
        chosen: NDArray[np.intp] = order[(ranks < self.n_examples) & np.isin(codes, nearest)]
        return chosen

    def weigh(self, found: Comparison) -> Floats:
        """Return the vote of every pair, relative to the largest one of the same image."""
        costs = found.bent.distances + self.prior.bent_prices @ found.features
        least = np.full(int(found.pairs[:, 0].max()) + 1, np.inf)
        np.minimum.at(least, found.pairs[:, 0], costs)
        votes: Floats = np.exp(-self.beta * (costs - least[found.pairs[:, 0]]))
        return votes

    def vote(self, found: Comparison, n: int) -> Floats:
        """Return the probabilities (n, number of classes) of the classes of n images."""
        shares = np.zeros((n, int(self.codes.max()) + 1))
        np.add.at(shares, (found.pairs[:, 0], self.codes[found.pairs[:, 1]]), self.weigh(found))
        shares /= shares.sum(axis=1, keepdims=True)
        return (1 - _FLOOR) * shares + _FLOOR / shares.shape[1]
