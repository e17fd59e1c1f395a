"""Examples that vote for the class of an image: registered, compared while small distortions are allowed, weighed."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._interface import Bending
from radoncdt._typing import Floats
from radoncdt.matching.descriptors import Descriptors, describe_batch
from radoncdt.matching.distortion import compare_bent
from radoncdt.matching.frames import Canvases, make_canvases
from radoncdt.matching.prior import MapPrior
from radoncdt.matching.registration import Registration
from radoncdt.matching.settings import DescriptorSettings
from radoncdt.matching.turns import compute_map_features, find_turns
from radoncdt.measures import Batch

__all__ = ["DEFAULT_BETA", "Comparison", "Examples"]

DEFAULT_BETA = 5.0  # sharpness of the votes

_FLOOR = 1e-3  # probability that is shared by all classes, so that none is impossible


class Comparison(NamedTuple):
    """Images compared with their candidates among the examples: n pairs."""

    pairs: NDArray[np.intp]
    distances: Floats
    features: Floats  # (3, n): aspect, rotation and mirror of the maps
    maps: Floats  # (n, 2, 3): from the frames of the examples to the canvases of the images


@dataclass(frozen=True)
class Examples:
    """The examples, and how images are compared with them."""

    descriptors: Descriptors
    canvases: Canvases
    codes: NDArray[np.intp]  # the class of each example
    side: int  # points along a side of the frame
    bending: Bending
    n_classes: int  # classes whose examples are candidates
    n_examples: int  # candidates per class
    reflections: bool
    prior: MapPrior
    beta: float = DEFAULT_BETA  # votes are proportional to exp(−beta · distance)

    @property
    def settings(self) -> DescriptorSettings:
        return self.descriptors.settings

    def describe(self, batch: Batch, n_jobs: int | None) -> tuple[Descriptors, Canvases]:
        """Describe images as the examples are described."""
        descriptors = describe_batch(batch, self.settings, n_jobs).astype(np.float32)
        return descriptors, make_canvases(batch, descriptors, self.side, n_jobs)

    def compare(
        self,
        descriptors: Descriptors,
        canvases: Canvases,
        n_jobs: int | None,
        exclude: NDArray[np.intp] | None = None,
    ) -> Comparison:
        """Compare images with their candidates; image i is not compared with example exclude[i]."""
        distances, turns = find_turns(
            descriptors, self.descriptors, reflections=self.reflections, prior=self.prior, n_jobs=n_jobs
        )
        if exclude is not None:
            distances[np.arange(len(exclude)), exclude] = np.inf
        chosen = [self._choose_candidates(row) for row in distances]
        owners = np.repeat(np.arange(len(chosen)), [len(each) for each in chosen])
        pairs = np.stack([owners, np.concatenate(chosen)], axis=1)
        pair_turns = turns[pairs[:, 0], pairs[:, 1]]
        bent = compare_bent(
            canvases,
            self.canvases,
            pairs,
            pair_turns,
            self.settings.n_angles,
            side=self.side,
            bending=self.bending,
            n_jobs=n_jobs,
        )
        features = compute_map_features(descriptors, self.descriptors, pairs, pair_turns)
        return Comparison(pairs, bent.distances, np.array(features), bent.maps)

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
        prior = self.prior
        prices = np.array([prior.bent_aspect, prior.bent_rotation, prior.bent_mirror]) @ found.features
        costs = found.distances + prices
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

    def make_registration(
        self, descriptors: Descriptors, canvases: Canvases, found: Comparison, k: int
    ) -> Registration:
        """Return the map from the image of pair k to its example, as the comparison found it."""
        i, j = found.pairs[k].tolist()
        to_pixels = canvases.to_pixels[i]
        back = np.linalg.inv(to_pixels[:, :2])
        frame = back @ found.maps[k]
        frame[:, 2] -= back @ to_pixels[:, 2]  # from the frame of the example to the plane of the image
        matrix = self.canvases.roots[j] @ np.linalg.inv(frame[:, :2])
        shift = self.canvases.means[j] - matrix @ frame[:, 2]
        (height, width), (fixed_height, fixed_width) = (
            some.frames[at].tolist() for some, at in ((descriptors, i), (self.descriptors, j))
        )
        frames = (height, width), (fixed_height, fixed_width)
        return Registration(matrix, shift, float(found.distances[k]), bool(np.linalg.det(matrix) < 0), frames=frames)
