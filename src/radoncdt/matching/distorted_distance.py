"""Distances of images after registration, while small distortions are allowed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._bright_paper import read_measures
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentTypeError
from radoncdt.matching.descriptors import Descriptors, join_descriptors
from radoncdt.matching.framed import Frame, Framed
from radoncdt.matching.frames import make_canvases
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import MapPrior, read_prior
from radoncdt.matching.settings import DescriptorSettings
from radoncdt.matching.turns import compute_map_features, find_turns
from radoncdt.measures import Batch, Measures

__all__ = ["compare_all", "compare_turns", "distortion_distances", "rank_again"]

_PAIRS_AT_ONCE = 20_000  # pairs whose maps are kept at a time
_TURNS_SIDE = 56  # points along a side of the frame on which the turns of one pair are compared


def distortion_distances(
    A: Measures,  # noqa: N803
    B: Measures | None = None,  # noqa: N803
    /,
    *,
    limits: Plausible | None = None,
    prior: str | MapPrior | Sequence[float] = "any",
    settings: DescriptorSettings | None = None,
    frame_size: int = 28,
    window: int | None = None,
    n_jobs: int | None = -1,
) -> Floats:
    """Distances of every image of A to every image of B, or of A, registered and then compared point by point.

    Each pair is registered by its descriptors, as `affine_distances` does. Both images are then sampled on a frame of
    the whitened plane, and the gradients around each point of the first one are compared with those around the best
    point nearby of the second one (the image distortion model). The map is corrected once by the displacements found.

    These distances tell shapes apart that differ in details. They take longer than `affine_distances`, so
    `AffineNeighbors(refine=k)` computes them only for the k nearest entries.

    Parameters
    ----------
    A, B : array (n, H, W), list of images and PointClouds
        Leading axes become one.
    limits : Plausible, optional
        Which maps from A to B are plausible; by default all are. If no map is plausible, the distance is infinite.
    prior : {"any", "upright", "photograph"}, MapPrior, or (aspect, rotation)
        Which maps are likely. The prices `aspect`, `rotation` and `mirror` decide about the map, and `bent_aspect`,
        `bent_rotation` and `bent_mirror` are added to the result.
    settings : DescriptorSettings, optional
        How images are described. By default as `describe` does.
    frame_size : int
        Points along each side of the frame. Complex shapes need more than 28, such as 56.
    window : int, optional
        Largest displacement of a part of the image, in points of the frame; by default 2, or 3 for frames of more than
        28 points.
    n_jobs : int or None
        Threads, as in scikit-learn; −1 is all cores. The result does not depend on it.

    Returns
    -------
    float64 array (n, m)
        Not symmetric, because parts of the images of A move.

    Examples
    --------
    >>> square, triangle = np.ones((40, 40)), np.tri(60)
    >>> moved = push_forward(triangle, [[0.2, -0.9], [1.1, 0.4]], [3, 5], shape=(120, 120))
    >>> distances = distortion_distances([square, triangle], [moved])
    >>> bool(distances[1, 0] < 0.3 * distances[0, 0])
    True
    """
    limits = Plausible() if limits is None else limits
    _validation.check_instance(limits, "limits", Plausible)
    settings = DescriptorSettings() if settings is None else settings
    _validation.check_instance(settings, "settings", DescriptorSettings)
    frame, prices = Frame.read(frame_size, window), read_prior(prior)
    first = Framed.describe(_read_images(A, "A"), settings, frame, n_jobs)
    second = first if B is None else Framed.describe(_read_images(B, "B"), settings, frame, n_jobs)
    distances, turns = find_turns(first.descriptors, second.descriptors, limits=limits, prior=prices, n_jobs=n_jobs)
    pairs = np.argwhere(np.isfinite(distances))
    distances[pairs[:, 0], pairs[:, 1]] = compare_all(
        first, second, pairs, turns[pairs[:, 0], pairs[:, 1]], prices, n_jobs
    )
    return distances


def _read_images(measures: object, name: str) -> Batch:
    if isinstance(join_descriptors(measures), Descriptors):
        raise ArgumentTypeError(name, "must be images or PointClouds, because descriptors have no pixels")
    return read_measures(measures, name)


def compare_all(
    first: Framed,
    second: Framed,
    pairs: NDArray[np.intp],
    turns: NDArray[np.int64],
    prior: MapPrior,
    n_jobs: int | None,
) -> Floats:
    """Return the distances (n,) of pairs (n, 2) at the given turns, with the prices of the maps."""
    distances = np.empty(len(pairs))
    for some in (slice(k, k + _PAIRS_AT_ONCE) for k in range(0, len(pairs), _PAIRS_AT_ONCE)):
        features = compute_map_features(first.descriptors, second.descriptors, pairs[some], turns[some])
        bent = first.compare(second, pairs[some], turns[some], n_jobs)
        distances[some] = bent.distances + prior.bent_prices @ np.array(features)
    return distances


def rank_again(
    queries: Framed,
    entries: Framed,
    found: NDArray[np.intp],
    *,
    limits: Plausible,
    prior: MapPrior,
    n_jobs: int | None,
) -> tuple[Floats, NDArray[np.intp]]:
    """Order the entries found for each query, (n, k), by their distances after registration; return both.

    Entries that no plausible map leads to are infinitely far away. Equal distances keep their order.
    """
    distances = np.full(found.shape, np.inf)
    turns = np.full(found.shape, -1, np.int64)
    for i, numbers in enumerate(found):
        query, some = queries.descriptors[i], entries.descriptors[numbers]
        turns[i] = find_turns(query, some, limits=limits, prior=prior, n_jobs=n_jobs)[1][0]
    rows, columns = np.nonzero(turns >= 0)
    pairs = np.stack([rows, found[rows, columns]], axis=1)
    distances[rows, columns] = compare_all(queries, entries, pairs, turns[rows, columns], prior, n_jobs)
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(distances, order, axis=1), np.take_along_axis(found, order, axis=1)


def compare_turns(
    moving: Batch,
    fixed: Batch,
    descriptors: tuple[Descriptors, Descriptors],
    turns: NDArray[np.int64],
    prior: MapPrior,
    n_jobs: int | None,
) -> Floats:
    """Return the distances (n,) of one measure to another at several turns (n,), with the prices of the maps.

    `descriptors` are those of the moving and of the fixed measure.
    """
    frame = Frame.read(_TURNS_SIDE, None)
    first, second = (
        Framed(described, make_canvases(batch, described, frame.side, n_jobs), frame)
        for batch, described in zip((moving, fixed), descriptors)
    )
    return compare_all(first, second, np.zeros((len(turns), 2), np.intp), turns, prior, n_jobs)
