"""Affine-invariant image features from Radon cumulative distribution transforms."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from radoncdt import catalogue, datasets, experiments, ink, plot
    from radoncdt._cdt import cdt, inverse_cdt, quantile_levels
    from radoncdt._config import show_config
    from radoncdt._radon import back_projection, filtered_back_projection, radon
    from radoncdt._rcdt import max_nrcdt, mean_nrcdt, nrcdt, pooled_nrcdt, rcdt
    from radoncdt.descriptors import Descriptors, describe
    from radoncdt.directions import equispaced_angles
    from radoncdt.distance import sliced_wasserstein, sliced_wasserstein_distances, wasserstein
    from radoncdt.estimators import NormalizedRadonCDT, RadonCDT
    from radoncdt.inverse import interpolate, inverse_rcdt
    from radoncdt.measures import PointCloud, covariance, mass, mean, push_forward
    from radoncdt.neighbors import AffineNeighbors, AffineNeighborsClassifier
    from radoncdt.registration import Registration, affine_distances, register
    from radoncdt.subspaces import NearestSubspaceClassifier

__version__ = "0.1.0"

# Names are loaded when they are first used, so that ``radoncdt --help`` does not have to wait for NumPy.
_MODULES = {
    "_cdt": ("cdt", "inverse_cdt", "quantile_levels"),
    "_config": ("show_config",),
    "_radon": ("back_projection", "filtered_back_projection", "radon"),
    "_rcdt": ("max_nrcdt", "mean_nrcdt", "nrcdt", "pooled_nrcdt", "rcdt"),
    "descriptors": ("Descriptors", "describe"),
    "directions": ("equispaced_angles",),
    "distance": ("sliced_wasserstein", "sliced_wasserstein_distances", "wasserstein"),
    "estimators": ("NormalizedRadonCDT", "RadonCDT"),
    "inverse": ("interpolate", "inverse_rcdt"),
    "measures": ("PointCloud", "covariance", "mass", "mean", "push_forward"),
    "neighbors": ("AffineNeighbors", "AffineNeighborsClassifier"),
    "registration": ("Registration", "affine_distances", "register"),
    "subspaces": ("NearestSubspaceClassifier",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}
_SUBMODULES = ("catalogue", "datasets", "experiments", "ink", "plot", *(name for name in _MODULES if name[0] != "_"))

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
    "show_config",
    "sliced_wasserstein",
    "sliced_wasserstein_distances",
    "wasserstein",
]


if not TYPE_CHECKING:  # which would take every name for one of the package

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            value = getattr(import_module(f"radoncdt.{_HOMES[name]}"), name)
            globals()[name] = value  # the next time, this function is not called
            return value
        if name in _SUBMODULES:
            return import_module(f"radoncdt.{name}")
        raise AttributeError(f"module 'radoncdt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
