"""Quantiles of masses in bins."""

import numpy as np
from numpy.typing import NDArray

from radoncdt._typing import Floats

__all__ = ["bin_quantiles", "find_crossings"]


def bin_quantiles(masses: Floats, levels: Floats) -> Floats:
    """Quantiles inf{s : F(s) > t}, (n, n_levels), in bins, of rows of masses (n, n_bins); F is linear in a bin."""
    bins, parts = find_crossings(masses, levels)
    return bins + parts


def find_crossings(masses: Floats, levels: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Find the bins in which the cumulated masses first exceed the levels, and the part of the bin before that place.

    Both results are (n, n_levels). Levels are shares of the total mass. The level 1 is reached at the end of the last
    bin with mass.
    """
    cumulated = np.zeros((len(masses), masses.shape[1] + 1))
    np.cumsum(masses, axis=1, out=cumulated[:, 1:])
    totals = cumulated[:, -1:]
    last = np.maximum((cumulated < totals).sum(axis=1) - 1, 0)  # the last bin with mass
    targets = levels * totals
    bins = np.empty(targets.shape, np.intp)
    for row in range(len(masses)):
        bins[row] = np.searchsorted(cumulated[row, 1 : last[row] + 1], targets[row], side="right")
    below, above = np.take_along_axis(cumulated, bins, 1), np.take_along_axis(cumulated, bins + 1, 1)
    with np.errstate(invalid="ignore"):  # a row without mass
        parts = (targets - below) / (above - below)
    return bins, np.fmin(np.fmax(parts, 0.0), 1.0)
