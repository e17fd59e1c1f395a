"""The transforms and the nearest neighbours as scikit-learn estimators."""

from radoncdt.estimators.few_shot import Evidence, FewShotClassifier
from radoncdt.estimators.neighbors import AffineNeighbors
from radoncdt.estimators.neighbors_classifier import AffineNeighborsClassifier
from radoncdt.estimators.subspaces import NearestSubspaceClassifier
from radoncdt.estimators.transformers import NormalizedRadonCDT, RadonCDT
from radoncdt.estimators.whitened import WhitenedImages

__all__ = [
    "AffineNeighbors",
    "AffineNeighborsClassifier",
    "Evidence",
    "FewShotClassifier",
    "NearestSubspaceClassifier",
    "NormalizedRadonCDT",
    "RadonCDT",
    "WhitenedImages",
]
