"""The best turns between descriptors: distances of all pairs, and the maps that belong to them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._geometry import inverse_square_root, rotation, square_root
from radoncdt._typing import Floats
from radoncdt.matching.affine_distance import compute_distances
from radoncdt.matching.descriptors import Descriptors
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import MapPrior

__all__ = ["MapFeatures", "compute_map_features", "find_turns", "penalise_map", "turn_matrices"]


def turn_matrices(turns: NDArray[np.int64], n_angles: int) -> Floats:
    """Return the matrices (n, 2, 2) of turns: rotations by s steps, after mirroring y if s is 2·n_angles or more."""
    mirror = np.where((turns >= 2 * n_angles)[:, None], [1.0, -1.0], 1.0)
    return rotation(np.pi / n_angles * turns) * mirror[:, None, :]


def find_turns(
    first: Descriptors, second: Descriptors, *, limits: Plausible, prior: MapPrior, n_jobs: int | None
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distances of all pairs and their best turns, both (len(first), len(second)).

    A pair that no plausible map joins has an infinite distance and the turn −1.
    """
    turns = np.empty((len(first), len(second)), np.int64)
    return compute_distances(first, second, limits, n_jobs, prior=prior, turns=turns), turns


class MapFeatures(NamedTuple):
    """Features of maps that the ``bent_`` penalties of a prior multiply, each (n,)."""

    aspect: Floats  # squared logarithm of the ratio of the two scales
    rotation: Floats  # 1 − cos ψ
    mirror: Floats  # 1 for maps that mirror, else 0


def compute_map_features(
    first: Descriptors, second: Descriptors, pairs: NDArray[np.intp], turns: NDArray[np.int64]
) -> MapFeatures:
    """Return the features of the maps that belong to turns (n,) of pairs (n, 2)."""
    n_angles, (moving, fixed) = first.settings.n_angles, pairs.T
    roots, inverses = square_root(second.covariances[fixed]), inverse_square_root(first.covariances[moving])
    return _measure_maps(roots @ turn_matrices(turns, n_angles) @ inverses, turns >= 2 * n_angles)


def penalise_map(matrix: Floats, prior: MapPrior) -> float:
    """Return the penalty of the map with a matrix (2, 2), which is added to its squared distance."""
    if prior.penalties is None:
        return 0.0
    features = _measure_maps(matrix[None].copy(), np.array([np.linalg.det(matrix) < 0]))
    return float(sum(penalty * feature[0] for penalty, feature in zip(prior.penalties, features)))


def _measure_maps(matrices: Floats, mirrored: NDArray[np.bool_]) -> MapFeatures:
    """Return the features of maps (n, 2, 2), whose matrices are overwritten."""
    matrices[mirrored, :, 0] *= -1
    scales = np.linalg.svd(matrices, compute_uv=False)
    angle = np.arctan2(matrices[:, 1, 0] - matrices[:, 0, 1], matrices[:, 0, 0] + matrices[:, 1, 1])
    return MapFeatures(np.log(scales[:, 0] / scales[:, 1]) ** 2, 1 - np.cos(angle), mirrored.astype(float))
