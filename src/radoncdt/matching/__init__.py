"""Registration of measures, and distances that affine maps do not change, by descriptors along whitened directions."""

from radoncdt.matching.affine_distance import affine_distances
from radoncdt.matching.alignment import register
from radoncdt.matching.descriptors import Descriptors, describe
from radoncdt.matching.distorted_distance import distortion_distances
from radoncdt.matching.even import even_ink
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import MapPrior
from radoncdt.matching.registration import Registration
from radoncdt.matching.settings import DescriptorSettings

__all__ = [
    "DescriptorSettings",
    "Descriptors",
    "MapPrior",
    "Plausible",
    "Registration",
    "affine_distances",
    "describe",
    "distortion_distances",
    "even_ink",
    "register",
]
