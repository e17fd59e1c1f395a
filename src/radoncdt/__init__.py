"""Affine-invariant image features from Radon cumulative distribution transforms."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from radoncdt import catalogue, datasets, ink, plot, reproduction
    from radoncdt._cdt import cdt, inverse_cdt, quantile_levels
    from radoncdt._config import show_config
    from radoncdt._distance import sliced_wasserstein, sliced_wasserstein_distances, wasserstein
    from radoncdt._inverse import interpolate, inverse_rcdt
    from radoncdt._pooling import max_nrcdt, mean_nrcdt, pooled_nrcdt
    from radoncdt._push_forward import push_forward
    from radoncdt._radon import back_projection, filtered_back_projection, radon
    from radoncdt._rcdt import nrcdt, rcdt
    from radoncdt.directions import equispaced_angles
    from radoncdt.estimators import (
        AffineNeighbors,
        AffineNeighborsClassifier,
        FewShotClassifier,
        NearestSubspaceClassifier,
        NormalizedRadonCDT,
        RadonCDT,
        WhitenedImages,
    )
    from radoncdt.matching import (
        Descriptors,
        DescriptorSettings,
        MapPrior,
        Plausible,
        Registration,
        affine_distances,
        describe,
        distortion_distances,
        register,
    )
    from radoncdt.measures import PointCloud, covariance, mass, mean

__version__ = "0.1.0"

# Names are loaded when they are first used, so that importing the package is fast.
_MODULES = {
    "_cdt": ("cdt", "inverse_cdt", "quantile_levels"),
    "_config": ("show_config",),
    "_distance": ("sliced_wasserstein", "sliced_wasserstein_distances", "wasserstein"),
    "_inverse": ("interpolate", "inverse_rcdt"),
    "_pooling": ("max_nrcdt", "mean_nrcdt", "pooled_nrcdt"),
    "_push_forward": ("push_forward",),
    "_radon": ("back_projection", "filtered_back_projection", "radon"),
    "_rcdt": ("nrcdt", "rcdt"),
    "directions": ("equispaced_angles",),
    "estimators": (
        "AffineNeighbors",
        "AffineNeighborsClassifier",
        "FewShotClassifier",
        "NearestSubspaceClassifier",
        "NormalizedRadonCDT",
        "RadonCDT",
        "WhitenedImages",
    ),
    "matching": (
        "DescriptorSettings",
        "Descriptors",
        "MapPrior",
        "Plausible",
        "Registration",
        "affine_distances",
        "describe",
        "distortion_distances",
        "register",
    ),
    "measures": ("PointCloud", "covariance", "mass", "mean"),
}
_SUBMODULES = ("catalogue", "datasets", "estimators", "folders", "ink", "matching", "plot", "reproduction")
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "AffineNeighbors",
    "AffineNeighborsClassifier",
    "DescriptorSettings",
    "Descriptors",
    "FewShotClassifier",
    "MapPrior",
    "NearestSubspaceClassifier",
    "NormalizedRadonCDT",
    "Plausible",
    "PointCloud",
    "RadonCDT",
    "Registration",
    "WhitenedImages",
    "affine_distances",
    "back_projection",
    "catalogue",
    "cdt",
    "covariance",
    "datasets",
    "describe",
    "distortion_distances",
    "equispaced_angles",
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
    "reproduction",
    "show_config",
    "sliced_wasserstein",
    "sliced_wasserstein_distances",
    "wasserstein",
]


if not TYPE_CHECKING:  # with a module-level __getattr__, a type checker would accept every name

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            value = getattr(import_module(f"radoncdt.{_HOMES[name]}"), name)
            globals()[name] = value  # the next access does not call this function
            return value
        if name in _SUBMODULES:
            return import_module(f"radoncdt.{name}")
        raise AttributeError(f"module 'radoncdt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
