"""The best turns between descriptors: distances of all pairs, and the maps that belong to them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _kernels, _threads
from radoncdt._geometry import square_roots
from radoncdt._interface import Maps, Prior
from radoncdt._typing import Floats
from radoncdt.matching.affine_distance import PAIR_WORK
from radoncdt.matching.descriptors import Descriptors
from radoncdt.matching.distortion import turn_matrices

__all__ = ["MapFeatures", "compute_map_features", "find_turns"]

_ROWS, _COLUMNS = 32, 64  # descriptors that are compared with each other before the next are loaded


def find_turns(
    first: Descriptors, second: Descriptors, *, reflections: bool, prior: Prior | None, n_jobs: int | None
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distances of all pairs and their best turns, both (len(first), len(second))."""
    distances = np.empty((len(first), len(second)))
    turns = np.empty(distances.shape, np.int64)
    x, y, maps, kernels = first.waves, second.waves, Maps(reflections, None, prior), _kernels.current()

    def fill(start: int) -> None:
        rows = start, min(start + _ROWS, len(first))
        for column in range(0, len(second), _COLUMNS):
            columns = column, min(column + _COLUMNS, len(second))
            kernels.least_distances(
                x, y, maps=maps, ascending=False, rows=rows, columns=columns, distances=distances, turns=turns
            )

    work = PAIR_WORK * distances.size * first.settings.n_angles * first.settings.n_levels
    _threads.for_each(fill, range(0, len(first), _ROWS), _threads.count_workers(n_jobs, work))
    return distances, turns


class MapFeatures(NamedTuple):
    """Features of maps that the ``bent_`` prices of a prior multiply, each (n,)."""

    aspect: Floats  # squared logarithm of the ratio of the two scales
    rotation: Floats  # 1 − cos ψ
    mirror: Floats  # 1 for maps that mirror, else 0


def compute_map_features(
    first: Descriptors, second: Descriptors, pairs: NDArray[np.intp], turns: NDArray[np.int64]
) -> MapFeatures:
    """Return the features of the maps that belong to turns (n,) of pairs (n, 2)."""
    roots, inverses = square_roots(second.covariances[pairs[:, 1]]), square_roots(first.covariances[pairs[:, 0]])
    n_angles = first.settings.n_angles
    matrices = roots @ turn_matrices(turns, n_angles) @ np.linalg.inv(inverses)
    mirrored = turns >= 2 * n_angles
    matrices[mirrored, :, 0] *= -1
    scales = np.linalg.svd(matrices, compute_uv=False)
    angle = np.arctan2(matrices[:, 1, 0] - matrices[:, 0, 1], matrices[:, 0, 0] + matrices[:, 1, 1])
    return MapFeatures(np.log(scales[:, 0] / scales[:, 1]) ** 2, 1 - np.cos(angle), mirrored.astype(float))
