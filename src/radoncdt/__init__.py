"""Radon cumulative distribution transforms: features of images that affine maps do not change."""

from typing import TYPE_CHECKING, Any

from radoncdt.cdt import cdt, inverse_cdt, quantile_levels
from radoncdt.descriptors import Descriptors, describe
from radoncdt.directions import equispaced_angles
from radoncdt.distance import sliced_wasserstein, sliced_wasserstein_distances, wasserstein
from radoncdt.inverse import interpolate, inverse_rcdt
from radoncdt.measures import PointCloud, covariance, mass, mean, push_forward
from radoncdt.radon import back_projection, filtered_back_projection, radon
from radoncdt.rcdt import max_nrcdt, mean_nrcdt, nrcdt, pooled_nrcdt, rcdt
from radoncdt.registration import Registration, affine_distances, register

if TYPE_CHECKING:
    from radoncdt import catalogue, datasets, experiments, ink, plot
    from radoncdt.estimators import NormalizedRadonCDT, RadonCDT
    from radoncdt.neighbors import AffineNeighbors, AffineNeighborsClassifier
    from radoncdt.subspaces import NearestSubspaceClassifier

__version__ = "0.1.0"

ESTIMATORS = {
    "RadonCDT": "estimators",
    "NormalizedRadonCDT": "estimators",
    "AffineNeighbors": "neighbors",
    "AffineNeighborsClassifier": "neighbors",
    "NearestSubspaceClassifier": "subspaces",
}
"""In which modules they are."""

__all__ = [
    "AffineNeighbors",
    "AffineNeighborsClassifier",
    "Descriptors",
    "NearestSubspaceClassifier",
    "NormalizedRadonCDT",
    "PointCloud",
    "RadonCDT",
    "Registration",
    "affine_distances",
    "back_projection",
    "catalogue",
    "cdt",
    "covariance",
    "datasets",
    "describe",
    "equispaced_angles",
    "experiments",
    "filtered_back_projection",
    "ink",
    "interpolate",
    "inverse_cdt",
    "inverse_rcdt",
    "mass",
    "max_nrcdt",
    "mean",
    "mean_nrcdt",
    "nrcdt",
    "plot",
    "pooled_nrcdt",
    "push_forward",
    "quantile_levels",
    "radon",
    "rcdt",
    "register",
    "sliced_wasserstein",
    "sliced_wasserstein_distances",
    "wasserstein",
]


def __getattr__(name: str) -> Any:
    """What needs scikit-learn or matplotlib, or is no transform, is loaded when it is first asked for."""
    from importlib import import_module

    if name in ESTIMATORS:
        return getattr(import_module(f"radoncdt.{ESTIMATORS[name]}"), name)
    if name in ("catalogue", "datasets", "experiments", "ink", "plot"):
        return import_module(f"radoncdt.{name}")
    raise AttributeError(f"module 'radoncdt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
