"""Distances between measures that affine maps do not change.

The distance is the root mean square difference of the NR-CDTs along whitened directions, at the best rotation by whole
steps of the circle, with or without a reflection. It is a sliced Wasserstein distance of the whitened measures, modulo
rotations. It is symmetric and satisfies the triangle inequality, unless maps are limited or have a price.
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
    """Distances of every measure of A to every measure of B, or of A, however they were moved.

    The distance is the root mean square difference of the NR-CDTs along whitened directions, at the best rotation by
    whole steps of the circle, with or without a reflection. For copies of one shape it is 0, except for errors of
    discretisation: the steps alone cause at most 2 sin(π/(4 n_angles)).

    Parameters
    ----------
    A, B : array (n, H, W), list of images and PointClouds, or Descriptors
        As in `describe`. Leading axes become one.
    limits : Plausible, optional
        Which maps from A to B are plausible; by default all are. If no map is plausible, the distance is infinite.
    prior : {"any", "upright", "photograph"}, MapPrior, or (aspect, rotation)
        Which maps are likely. The price of the map is added to the squared distance; by default no map has a price.
    settings : DescriptorSettings, optional
        How images and PointClouds are described. By default as Descriptors that are given, or as `describe` does.
    n_jobs : int or None
        Threads, as in scikit-learn; −1 is all cores.

    Returns
    -------
    float64 array (n, m)
        Symmetric with zeros on the diagonal if B is None and all maps are plausible. Values of A are rounded to float32
        if those of B are float32.

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
    maps, kernels = limits.maps._replace(prior=prior.prices), _kernels.current()
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
