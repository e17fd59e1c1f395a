"""Calls of every public function that takes measures, without options."""

import numpy as np

import radoncdt
from radoncdt import datasets

CALLS = {
    "radon": radoncdt.radon,
    "rcdt": radoncdt.rcdt,
    "nrcdt": radoncdt.nrcdt,
    "max_nrcdt": radoncdt.max_nrcdt,
    "mean_nrcdt": radoncdt.mean_nrcdt,
    "pooled_nrcdt": radoncdt.pooled_nrcdt,
    "describe": radoncdt.describe,
    "affine_distances": radoncdt.affine_distances,
    "sliced_wasserstein_distances": radoncdt.sliced_wasserstein_distances,
    "mass": radoncdt.mass,
    "mean": radoncdt.mean,
    "covariance": radoncdt.covariance,
    "push_forward": lambda images: radoncdt.push_forward(images, np.eye(2)),
    "RadonCDT": radoncdt.RadonCDT().fit,
    "NormalizedRadonCDT": radoncdt.NormalizedRadonCDT().fit,
    "AffineNeighbors": radoncdt.AffineNeighbors().fit,
    "AffineNeighborsClassifier": lambda images: radoncdt.AffineNeighborsClassifier().fit(images, [0] * len(images)),
    "random_affine": lambda images: datasets.random_affine(images, datasets.AffineDistribution(), 0),
}
