"""Radon cumulative distribution transforms: features of images that affine maps do not change."""

from radoncdt.cdt import cdt, quantile_levels
from radoncdt.directions import equispaced_angles
from radoncdt.measures import PointCloud, covariance, mass, mean, push_forward
from radoncdt.radon import back_projection, radon
from radoncdt.rcdt import max_nrcdt, mean_nrcdt, nrcdt, pooled_nrcdt, rcdt

__version__ = "0.1.0"

__all__ = [
    "PointCloud",
    "back_projection",
    "cdt",
    "covariance",
    "equispaced_angles",
    "mass",
    "max_nrcdt",
    "mean",
    "mean_nrcdt",
    "nrcdt",
    "pooled_nrcdt",
    "push_forward",
    "quantile_levels",
    "radon",
    "rcdt",
]
