"""A classifier by the nearest neighbours of images, however they were moved."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from radoncdt import _validation
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.estimators.neighbors import Neighbors

__all__ = ["AffineNeighborsClassifier"]

_WEIGHTS = ("uniform", "distance")


class AffineNeighborsClassifier(ClassifierMixin, Neighbors):
    """Classify images by a vote of their nearest neighbours, however they were moved.

    Parameters
    ----------
    n_neighbors : int, default 1
        The number of neighbours that vote.
    weights : {"uniform", "distance"}, default "uniform"
        Whether all votes have the same weight, or one over the distance. With "distance", neighbours at distance 0
        outvote all others.
    reflections, n_angles, n_levels, moments, nu, trim, image_shape, n_jobs
        As in `AffineNeighbors`.
    max_aspect, max_shear, max_scale, similarity, prior, refine, frame_size
        As in `AffineNeighbors`. Neighbours that no plausible map leads to have no vote. An image without any other
        neighbour gets the shares of the classes among the entries, with a warning.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    descriptors_, n_samples_fit_
        As in `AffineNeighbors`.

    Examples
    --------
    >>> model = AffineNeighborsClassifier().fit([np.ones((40, 40)), np.tri(60)], ["square", "triangle"])
    >>> model.predict([push_forward(np.tri(60), [[0.2, -0.9], [1.1, 0.4]], [3, 5], shape=(120, 120))])
    array(['triangle'], dtype='<U8')
    """

    def __init__(
        self,
        n_neighbors: int = 1,
        weights: str = "uniform",
        *,
        reflections: bool = True,
        n_angles: int = 64,
        n_levels: int = 64,
        moments: str = "exact",
        nu: float = 3.0,
        trim: float = 0.0,
        max_aspect: float | None = None,
        max_shear: float | None = None,
        max_scale: float | None = None,
        similarity: bool = False,
        prior: Any = "any",
        refine: int | None = None,
        frame_size: int = 28,
        image_shape: tuple[int, int] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.reflections = reflections
        self.n_angles = n_angles
        self.n_levels = n_levels
        self.moments = moments
        self.nu = nu
        self.trim = trim
        self.max_aspect = max_aspect
        self.max_shear = max_shear
        self.max_scale = max_scale
        self.similarity = similarity
        self.prior = prior
        self.refine = refine
        self.frame_size = frame_size
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> AffineNeighborsClassifier:  # noqa: N803
        """Describe the entries.

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, table (n, H · W), or Descriptors
        y : array (n,)
            The classes of the images.
        """
        _validation.check_choice(self.weights, "weights", _WEIGHTS)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(np.tile(labels, 2))  # twice, since it warns of classes with one example
        self._fit(X)
        if len(labels) != self.n_samples_fit_:
            raise ArgumentValueError(
                "y", f"must have a class for each of {self.n_samples_fit_} images, got {len(labels)}"
            )
        self.classes_, self._y = np.unique(labels, return_inverse=True)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Compute the shares of the classes among the neighbours of every image.

        Returns
        -------
        float64 array (n, n_classes)
            The columns are in the order of `classes_`.
        """
        distances, indices = self.kneighbors(X)
        votes = (distances < np.inf).astype(np.float64)
        if self.weights == "distance":
            same = distances == 0
            with np.errstate(divide="ignore"):
                votes = np.where(same.any(axis=1, keepdims=True), same, votes / distances)
        shares = np.zeros((len(votes), len(self.classes_)))
        for column in range(votes.shape[1]):
            shares[np.arange(len(votes)), self._y[indices[:, column]]] += votes[:, column]
        lost = np.flatnonzero(shares.sum(axis=1) == 0)
        if lost.size:
            warnings.warn(
                f"{lost.size} of {len(shares)} images have no neighbour within {self._index.limits}, the first of "
                f"them `X[{lost[0]}]`; they get the shares of the classes among the entries",
                stacklevel=2,
            )
            shares[lost] = np.bincount(self._y)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Predict the most frequent class among the neighbours of every image; ties go to the first in `classes_`."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on tables of numbers that are not images
        return tags
