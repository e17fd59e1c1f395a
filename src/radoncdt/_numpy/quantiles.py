"""Quantiles of masses in bins."""

import numpy as np
from numpy.typing import NDArray

from radoncdt._typing import Floats


def bin_quantiles(masses: Floats, levels: Floats) -> Floats:
    """Quantiles (n, n_levels), in bins, of rows of masses (n, n_bins): inf{s : F(s) > t}, F being linear in a bin."""
    bins, parts = crossings(masses, levels)
    return bins + parts


def crossings(masses: Floats, levels: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Bins in which the cumulated masses first exceed the levels, and the part of the bin before: (n, n_levels) each.

    Levels are shares of the total mass. The level 1 is reached at the end of the last bin with mass.
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
