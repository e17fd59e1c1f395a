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
    """Compute the distances of all pairs of images after registration, while small distortions are allowed.

    Each pair is registered by its descriptors, as `affine_distances` does. Both images are then sampled on a frame of
    the whitened plane, and the gradients around each point of the first one are compared with those around the best
    point nearby of the second one (the image distortion model [1]_). The distance is the sum of the squared differences
    and of the penalties of the displacements. The map is corrected once by the displacements found.

    These distances tell shapes apart that differ in details. They take longer than `affine_distances`, so
    ``AffineNeighbors(refine=k)`` computes them only for the k nearest entries.

    Parameters
    ----------
    A : array (n, H, W), list of images and PointClouds
        Images to register with those of B: bright ink, and zeros elsewhere. Leading axes become one.
    B : array (m, H, W), list of images and PointClouds, optional
        Images with which those of A are registered. By default, the images of A are compared with each other.
    limits : Plausible, optional
        Limits on the maps from A to B, such as ``Plausible(max_aspect=1.5)``. By default, every affine map is
        plausible. The distance is infinite if no map is plausible.
    prior : {"any", "upright", "photograph"}, MapPrior, or (aspect, rotation), default "any"
        Which maps are likely. "any": no map has a penalty. "upright": rotating, stretching and mirroring have
        penalties, which suits characters and symbols that are hardly rotated. "photograph": rotating is free, and
        stretching has a penalty. Two numbers are the penalties of the squared logarithm of the ratio of the two scales,
        and of 1 − cos ψ for a rotation by ψ. Of a `MapPrior`, the penalties ``aspect``, ``rotation`` and ``mirror``
        decide about the map, and ``bent_aspect``, ``bent_rotation`` and ``bent_mirror`` are added to the result.
    settings : DescriptorSettings, optional
        How images and PointClouds are described: directions, levels, moments and trim. By default
        ``DescriptorSettings()``.
    frame_size : int, default 28
        Number of points along each side of the frame on which images are compared, from 8 to 256. Complex shapes need
        more than 28, such as 56.
    window : int, optional
        Largest displacement of a part of the image, in points of the frame, from 0 to 8. By default it is 2, or 3 for
        frames of more than 28 points.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    float64 array (n, m)
        The distances. They are not symmetric, because parts of the images of A move.

    Raises
    ------
    TypeError
        If A or B holds Descriptors, which have no pixels, or an option has the wrong type.
    ValueError
        If a measure has negative mass, no mass or values that are not finite, or if an option has an invalid value.

    Warns
    -----
    UserWarning
        If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
        into a measure.
    UserWarning
        If robust moments do not converge.

    See Also
    --------
    affine_distances : Faster distances that see fewer details.
    FewShotClassifier : A classifier by these distances.
    AffineNeighbors : Nearest neighbours, which may be ordered by these distances.

    References
    ----------
    .. [1] D. Keysers, T. Deselaers, C. Gollan, H. Ney, "Deformation models for image recognition", IEEE Transactions on
           Pattern Analysis and Machine Intelligence 29, 2007.

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
    frame, penalties = Frame.read(frame_size, window), read_prior(prior)
    first = Framed.describe(_read_images(A, "A"), settings, frame, n_jobs)
    second = first if B is None else Framed.describe(_read_images(B, "B"), settings, frame, n_jobs)
    distances, turns = find_turns(first.descriptors, second.descriptors, limits=limits, prior=penalties, n_jobs=n_jobs)
    pairs = np.argwhere(np.isfinite(distances))
    distances[pairs[:, 0], pairs[:, 1]] = compare_all(
        first, second, pairs, turns[pairs[:, 0], pairs[:, 1]], penalties, n_jobs
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
    """Return the distances (n,) of pairs (n, 2) at the given turns, with the penalties of the maps."""
    distances = np.empty(len(pairs))
    for some in (slice(k, k + _PAIRS_AT_ONCE) for k in range(0, len(pairs), _PAIRS_AT_ONCE)):
        features = compute_map_features(first.descriptors, second.descriptors, pairs[some], turns[some])
        bent = first.compare(second, pairs[some], turns[some], n_jobs)
        distances[some] = bent.distances + prior.bent_penalties @ np.array(features)
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
    """Return the distances (n,) of one measure to another at several turns (n,), with the penalties of the maps.

    `descriptors` are those of the moving and of the fixed measure.
    """
    frame = Frame.read(_TURNS_SIDE, None)
    first, second = (
        Framed(described, make_canvases(batch, described, frame.side, n_jobs), frame)
        for batch, described in zip((moving, fixed), descriptors)
    )
    return compare_all(first, second, np.zeros((len(turns), 2), np.intp), turns, prior, n_jobs)
