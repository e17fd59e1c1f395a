"""Registration of measures, and distances that affine maps do not change, by descriptors along whitened directions."""

from radoncdt.matching.descriptors import Descriptors, describe
from radoncdt.matching.registration import Registration, affine_distances, register

__all__ = ["Descriptors", "Registration", "affine_distances", "describe", "register"]
