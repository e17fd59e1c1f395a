"""The kernels of `radoncdt._interface` in NumPy, for machines without the compiled ones.

They compute the same as the compiled kernels, always in float64, and take about 25 times as long. ``method.py``
contains the transforms as the paper defines them. Both implementations are tested against it.
"""

from radoncdt._numpy.distortion import distortions
from radoncdt._numpy.fits import fit
from radoncdt._numpy.images import back_project, image_masses, image_moments, image_quantiles
from radoncdt._numpy.line_measures import quantile_masses, transport
from radoncdt._numpy.matching import least_distances, nearest, within
from radoncdt._numpy.moments import student_moments
from radoncdt._numpy.plausibility import plausible_turns
from radoncdt._numpy.quantiles import bin_quantiles
from radoncdt._numpy.strokes import strokes

__all__ = [
    "back_project",
    "bin_quantiles",
    "distortions",
    "fit",
    "image_masses",
    "image_moments",
    "image_quantiles",
    "least_distances",
    "nearest",
    "plausible_turns",
    "quantile_masses",
    "strokes",
    "student_moments",
    "transport",
    "within",
]
