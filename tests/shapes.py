"""Shapes and descriptors for tests of matching and estimators."""

from functools import cache

import numpy as np

from radoncdt import Descriptors, DescriptorSettings, datasets, describe

FLAG = np.zeros((60, 60))
"""A shape without any symmetry."""
FLAG[10:50, 20:24] = FLAG[10:26, 24:42] = 1

TURNED = datasets.AffineDistribution(scale=(0.6, 1.3), isotropic=False, rotation=180, shear=30, shift=10, mirror=True)


@cache
def moved_symbols():
    """Describe sixty copies of six symbols, and the symbols themselves; return the names of both, too."""
    names = ["circle-star1", "circle-star4", "square-star1", "square-star4", "triangle-star1", "shield-triangle"]
    symbols = np.stack(list(datasets.templates(names, canvas=128, size=64).values()))
    copies, _ = datasets.random_affine(np.repeat(symbols, 10, axis=0), TURNED, 0)
    return describe(copies), describe(symbols), np.repeat(names, 10), np.array(names)


def random_descriptors(n, n_angles, n_levels, rng, dtype=np.float64):
    """Make descriptors with random values, means and covariances."""
    values = np.cumsum(rng.normal(size=(n, n_angles, n_levels)), axis=1)
    roots = rng.normal(size=(n, 2, 2))
    settings = DescriptorSettings(n_angles=n_angles, n_levels=n_levels)
    covariances = roots @ roots.swapaxes(1, 2) + 0.1 * np.eye(2)
    return Descriptors(values.astype(dtype), rng.normal(size=(n, 2)), covariances, np.ones((n, 2), int), settings)
