"""Distances between measures that affine maps do not change.

The distance is the root mean square difference of the NR-CDTs along whitened directions, at the best rotation by whole
steps of the circle, with or without a reflection. It is a sliced Wasserstein distance of the whitened measures, modulo
rotations. It is symmetric and satisfies the triangle inequality, unless maps are limited or have a penalty.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from radoncdt import _kernels, _threads, _validation
from radoncdt._typing import Floats
from radoncdt.matching.descriptors import Descriptors, check_settings, read_descriptors
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import PRIORS, MapPrior, read_prior
from radoncdt.matching.settings import DescriptorSettings
from radoncdt.measures import Measures

__all__ = ["PAIR_WORK", "affine_distances", "compute_distances", "read_pair"]

ROWS, COLUMNS = 32, 16
"""Numbers of descriptors that are compared with each other before the next are loaded; they fit into a core's cache."""

PAIR_WORK = 4
"""Cost of comparing two descriptors, per value of a descriptor, in the units of `_threads.count_workers`."""


def affine_distances(
    A: Measures | Descriptors,  # noqa: N803
    B: Measures | Descriptors | None = None,  # noqa: N803
    /,
    *,
    limits: Plausible | None = None,
    prior: str | MapPrior | Sequence[float] = "any",
    settings: DescriptorSettings | None = None,
    n_jobs: int | None = -1,
) -> Floats:
    """Compute the distances of all pairs of measures, however each was moved by an affine map.

    The distance is the root mean square difference of the NR-CDTs (§3.2 of the paper [1]_) along whitened directions,
    at the best rotation by whole steps of the circle, with or without a reflection. For copies of one shape it is 0,
    except for errors of discretisation: the steps alone cause at most 2 sin(π/(4 n_angles)). It is a sliced Wasserstein
    distance of the whitened measures, modulo rotations, and satisfies the triangle inequality, unless maps are limited
    or have a penalty.

    Parameters
    ----------
    A : array (n, H, W), list of images and PointClouds, or Descriptors
        Measures: bright ink, and zeros elsewhere. Leading axes become one.
    B : array (m, H, W), list of images and PointClouds, or Descriptors, optional
        Measures to compare with those of A. By default, the measures of A are compared with each other.
    limits : Plausible, optional
        Limits on the maps from A to B, such as ``Plausible(max_aspect=1.5)``. By default, every affine map is
        plausible. The distance is infinite if no map is plausible.
    prior : {"any", "upright", "photograph"}, MapPrior, or (aspect, rotation), default "any"
        Which maps are likely. The penalty of a map is added to its squared distance. "any": no map has a penalty.
        "upright": rotating, stretching and mirroring have penalties, which suits characters and symbols that are hardly
        rotated. "photograph": rotating is free, and stretching has a penalty. Two numbers are the penalties of the
        squared logarithm of the ratio of the two scales, and of 1 − cos ψ for a rotation by ψ; `MapPrior` has further
        penalties.
    settings : DescriptorSettings, optional
        How images and PointClouds are described: directions, levels, moments and trim. By default, the settings are
        those of given Descriptors, or else ``DescriptorSettings()``.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    float64 array (n, m)
        The distances. If B is not given and all maps are plausible, the array is symmetric with zeros on the diagonal.
        Values of A are rounded to float32 if those of B are float32.

    Raises
    ------
    TypeError
        If `A`, `B` or an option has the wrong type.
    ValueError
        If a measure has negative mass, no mass or values that are not finite, if an array looks like a colour image, or
        if an option has an invalid value. It is also raised if descriptors have different settings. The message names
        the argument and the value.

    Warns
    -----
    UserWarning
        If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
        into a measure.
    UserWarning
        If robust moments do not converge.

    See Also
    --------
    describe : Computes descriptors, for repeated use.
    AffineNeighbors : Finds the nearest measures without all distances.
    distortion_distances : Distances that see more details.
    register : The map from one measure to another.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> square, triangle = np.ones((40, 40)), np.tri(60)
    >>> moved = push_forward(triangle, [[0.2, -0.9], [1.1, 0.4]], [3, 5], shape=(120, 120))
    >>> affine_distances([square, triangle], [moved]).round(2)
    array([[0.14],
           [0.  ]])
    """
    limits = Plausible() if limits is None else limits
    _validation.check_instance(limits, "limits", Plausible)
    if B is None:
        first = second = read_descriptors(A, "A", settings, None, n_jobs)
    else:
        first, second = read_pair(A, "A", B, "B", settings, n_jobs)
    return compute_distances(first, second, limits, n_jobs, prior=read_prior(prior), symmetric=B is None)


def read_pair(
    a: object, a_name: str, b: object, b_name: str, settings: DescriptorSettings | None, n_jobs: int | None
) -> tuple[Descriptors, Descriptors]:
    """Read or compute the descriptors of two sets of measures, with the same settings."""
    if isinstance(b, Descriptors):
        second = read_descriptors(b, b_name, settings, None, n_jobs)
        first = read_descriptors(a, a_name, settings, second, n_jobs)
    else:
        first = read_descriptors(a, a_name, settings, None, n_jobs)
        second = read_descriptors(b, b_name, settings, first, n_jobs)
    check_settings(first, a_name, second, b_name)
    return first, second


def compute_distances(
    first: Descriptors,
    second: Descriptors,
    limits: Plausible,
    n_jobs: int | None,
    *,
    prior: MapPrior = PRIORS["any"],
    symmetric: bool = False,
    turns: NDArray[np.int64] | None = None,
) -> Floats:
    """Return the distances of all pairs of descriptors; threads compute blocks of them.

    The best turns are written into `turns`, if it is given; see `radoncdt._interface.Kernels.least_distances`.
    """
    symmetric = symmetric and not limits.is_limited
    x, y = first.astype(second.values.dtype).waves, second.waves
    maps, kernels = limits.maps._replace(prior=prior.penalties), _kernels.current()
    distances = np.zeros((len(first), len(second)))

    def fill(block: tuple[int, int]) -> None:
        rows, columns = ((k, min(k + size, n)) for k, size, n in zip(block, (ROWS, COLUMNS), distances.shape))
        kernels.least_distances(
            x,
            y,
            maps=maps,
            ascending=symmetric,
            rows=rows,
            columns=columns,
            distances=distances,
            turns=turns,
        )

    blocks = itertools.product(range(0, len(first), ROWS), range(0, len(second), COLUMNS))
    work = PAIR_WORK * distances.size * first.settings.n_angles * first.settings.n_levels
    upper = (block for block in blocks if not symmetric or block[1] + COLUMNS > block[0])
    _threads.for_each(fill, upper, _threads.count_workers(n_jobs, work))
    return distances + np.triu(distances, 1).T if symmetric else distances
