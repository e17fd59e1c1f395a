"""Fitting the points of one drawing to those of another."""

import numpy as np
from numpy.typing import NDArray

from radoncdt._typing import Floats

__all__ = ["LEAST", "WIDE", "fit"]

WIDE = 2.5
"""Scale of the weights, in medians of the distances; a pair at this distance has a quarter of the weight."""

LEAST = 0.01
"""Smallest scale of the weights, as a share of the size."""

AT_ONCE = 2**16
"""Number of distances in one temporary array."""


def fit(
    base: Floats,
    terms: Floats,
    some: NDArray[np.intp],
    targets: Floats,
    few: NDArray[np.intp],
    *,
    ridge: Floats,
    coefficients: Floats,
    size: float,
    most: float,
    iterations: int,
) -> tuple[Floats, float]:
    """Fit the points base + terms · coefficients to targets; return the coefficients (k, 2) and the misfit."""
    for step in range(iterations + 1):
        moved = base + np.einsum("ik,kc->ic", terms, coefficients)
        forth, forth_squares = _find_closest(moved[some], targets)
        back, back_squares = _find_closest(targets[few], moved)
        distances = np.sqrt(np.concatenate([forth_squares, back_squares]))
        if step == iterations:
            break
        points, aims = np.concatenate([some, back]), np.concatenate([forth, few])
        scale = max(WIDE * float(np.median(distances)), LEAST * size)
        weights = 1 / (1 + (distances / scale) ** 2) ** 2
        rows = terms[points]
        weighted = weights[:, None] * rows
        normal = np.einsum("pa,pb->ab", weighted, rows)
        right = np.einsum("pa,pc->ac", weighted, targets[aims] - base[points])
        # the last term makes the solution unique if the points are on a line
        normal += np.diag(ridge * points.size + 1e-9 * normal.diagonal().max())
        coefficients = np.linalg.solve(normal, right)
    limited = np.minimum(distances, most * size)
    misfit = (limited[: some.size].mean() + limited[some.size :].mean()) / (2 * size)
    return coefficients.copy(), float(misfit)


def _find_closest(places: Floats, others: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Find the index of the nearest of the others for each place, and the squared distance."""
    which, squares = np.empty(len(places), np.intp), np.empty(len(places))
    x, y = others.T.copy()
    step = max(1, AT_ONCE // len(others))
    for k in range(0, len(places), step):
        part = slice(k, k + step)
        dx, dy = x - places[part, :1], y - places[part, 1:]
        dx *= dx
        dy *= dy
        dx += dy
        which[part] = dx.argmin(axis=1)
        squares[part] = np.take_along_axis(dx, which[part, None], 1)[:, 0]
    return which, squares
