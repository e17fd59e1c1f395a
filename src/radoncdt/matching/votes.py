"""Examples that vote for the class of an image: registered, compared while small distortions are allowed, weighed.

The cost of an example is its distortion distance, plus the penalty of the map to it, plus a multiple of the logarithm
of the distance of the Fourier magnitudes along the circle. Its vote is proportional to exp(−β · cost).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._typing import Floats
from radoncdt.matching.descriptors import Descriptors, compute_spectrum
from radoncdt.matching.distortion import BentPairs
from radoncdt.matching.framed import Framed
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import MapPrior
from radoncdt.matching.registration import Registration
from radoncdt.matching.turns import compute_map_features, find_turns
from radoncdt.measures import Batch

__all__ = ["DEFAULT_BETA", "DEFAULT_FOURIER", "Decisions", "Examples", "Voters"]

DEFAULT_BETA = 5.0  # sharpness of the votes
DEFAULT_FOURIER = 0.35  # weight of the logarithm of the Fourier distance

_FLOOR = 1e-3  # probability that is shared by all classes, so that none is impossible


class Comparison(NamedTuple):
    """Images compared with their candidates among the examples: n pairs."""

    pairs: NDArray[np.intp]
    bent: BentPairs
    features: Floats
    """(4, n): aspect, rotation and mirror of the maps, and the logarithms of the Fourier distances."""
    distances: Floats
    """(n,): distances of the descriptors at the turns of the pairs, without the penalties of the maps."""


@dataclass(frozen=True)
class Examples:
    """The examples, described in one way, and how images are compared with them."""

    framed: Framed
    codes: NDArray[np.intp]  # the class of each example
    n_candidate_classes: int  # classes whose examples are candidates
    n_examples: int  # candidates per class
    reflections: bool
    prior: MapPrior

    @cached_property
    def _magnitudes(self) -> NDArray[np.float32]:
        return _compute_magnitudes(self.framed.descriptors)

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
        maps = compute_map_features(first, second, pairs, pair_turns)
        penalties = 0.0 if self.prior.penalties is None else np.array(self.prior.penalties) @ np.array(maps)
        plain = np.sqrt(np.maximum(distances[pairs[:, 0], pairs[:, 1]] ** 2 - penalties, 0))
        return Comparison(pairs, bent, np.array([*maps, self._compare_magnitudes(first, chosen)]), plain)

    def _choose_candidates(self, distances: Floats) -> NDArray[np.intp]:
        """Return the nearest examples of the nearest classes."""
        order = np.argsort(distances, kind="stable")
        order = order[np.isfinite(distances[order])]
        codes = self.codes[order]
        by_class = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[by_class], prepend=-1))
        ranks = np.empty(len(codes), np.intp)  # of each example among those of its class
        ranks[by_class] = np.arange(len(codes)) - np.repeat(starts, np.diff(starts, append=len(codes)))
        nearest = codes[np.sort(by_class[starts])[: self.n_candidate_classes]]
        chosen: NDArray[np.intp] = order[(ranks < self.n_examples) & np.isin(codes, nearest)]
        return chosen

    def _compare_magnitudes(self, images: Descriptors, chosen: list[NDArray[np.intp]]) -> Floats:
        """Return the logarithms of the distances of the Fourier magnitudes of images to those of their candidates.

        Distances that the steps of the circle can cause are all the same.
        """
        differences = zip(_compute_magnitudes(images), chosen)
        distances = np.concatenate([np.linalg.norm(self._magnitudes[some] - own, axis=1) for own, some in differences])
        logarithms: Floats = np.log(np.maximum(distances, images.settings.grid_distance))
        return logarithms


def _compute_magnitudes(descriptors: Descriptors) -> NDArray[np.float32]:
    """Return the Fourier magnitudes along the circle (n, features), which affine maps do not change."""
    magnitudes = np.abs(compute_spectrum(descriptors.values)).astype(np.float32)
    return magnitudes.reshape(len(magnitudes), -1)


class Round(NamedTuple):
    """Images compared with the examples in one view."""

    view: Examples
    images: Framed
    numbers: NDArray[np.intp]
    """The numbers of these images among all."""
    found: Comparison
    """The images in its pairs have their numbers among all."""


@dataclass(frozen=True)
class Decisions:
    """Votes about several images: m votes, and the probabilities of the classes."""

    probabilities: Floats
    """(n, number of classes)."""
    rounds: list[Round]
    shares: Floats
    """(m,): the share of each vote among all votes about the same image."""

    @property
    def pairs(self) -> NDArray[np.intp]:
        """The image and the example of each vote, (m, 2)."""
        return np.concatenate([each.found.pairs for each in self.rounds])

    @property
    def distances(self) -> Floats:
        """The distortion distance of each vote, (m,)."""
        return np.concatenate([each.found.bent.distances for each in self.rounds])

    def join_votes(self) -> tuple[NDArray[np.intp], Floats]:
        """Return the largest vote of each image and example, (l,), and the sum of the shares of its votes, (l,)."""
        found, places = np.unique(self.pairs, axis=0, return_inverse=True)
        order = np.lexsort([-self.shares, places])
        largest = order[np.unique(places[order], return_index=True)[1]]
        shares: Floats = np.bincount(places, self.shares, len(found)).astype(np.float64)
        return largest, shares

    def make_registration(self, k: int) -> Registration:
        """Return the map from the image to the example of vote k."""
        for each in self.rounds:
            if k < len(each.found.pairs):
                break
            k -= len(each.found.pairs)
        image, example = each.found.pairs[k].tolist()
        pair = int(np.searchsorted(each.numbers, image)), example
        distance = float(each.found.distances[k])
        return each.images.make_registration(each.view.framed, pair, each.found.bent.maps[k], distance)


@dataclass(frozen=True)
class Voters:
    """The examples, described in one or two ways, and how they vote.

    The second view is consulted about images for which no class has the probability `certain` after the first one.
    """

    views: tuple[Examples, ...]
    prior: MapPrior  # its penalties for bent images count
    beta: float = DEFAULT_BETA
    fourier: float = DEFAULT_FOURIER
    certain: float = np.inf

    def decide(self, batch: Batch, n_jobs: int | None) -> Decisions:
        """Let the examples vote about images."""
        rounds: list[Round] = []
        numbers = np.arange(len(batch))
        for view in self.views:
            items = [batch.items[i] for i in numbers]
            images = view.describe(Batch(items, (len(items),), batch.name), n_jobs)
            found = view.compare(images, n_jobs)
            found.pairs[:, 0] = numbers[found.pairs[:, 0]]
            rounds.append(Round(view, images, numbers, found))
            probabilities = self.vote([each.found for each in rounds], len(batch))
            numbers = np.flatnonzero(probabilities.max(axis=1) < self.certain)
            if not len(numbers):
                break
        votes = np.concatenate(self.weigh([each.found for each in rounds]))
        owners = np.concatenate([each.found.pairs[:, 0] for each in rounds])
        return Decisions(probabilities, rounds, votes / np.bincount(owners, votes)[owners])

    def weigh(self, found: list[Comparison]) -> list[Floats]:
        """Return the vote of every pair of each comparison, relative to the largest one about the same image."""
        weights = np.array([*self.prior.bent_penalties, self.fourier])
        costs = [each.bent.distances + weights @ each.features for each in found]
        least = np.full(max(int(each.pairs[:, 0].max()) for each in found) + 1, np.inf)
        for each, some in zip(found, costs):
            np.minimum.at(least, each.pairs[:, 0], some)
        return [np.exp(-self.beta * (some - least[each.pairs[:, 0]])) for each, some in zip(found, costs)]

    def vote(self, found: list[Comparison], n: int) -> Floats:
        """Return the probabilities (n, number of classes) of the classes of n images."""
        codes = self.views[0].codes
        shares = np.zeros((n, int(codes.max()) + 1))
        for each, votes in zip(found, self.weigh(found)):
            np.add.at(shares, (each.pairs[:, 0], codes[each.pairs[:, 1]]), votes)
        shares /= shares.sum(axis=1, keepdims=True)
        return (1 - _FLOOR) * shares + _FLOOR / shares.shape[1]
