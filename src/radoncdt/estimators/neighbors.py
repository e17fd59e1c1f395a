"""Nearest neighbours of images, however they were moved, as scikit-learn estimators.

`X` is an array of images (n, H, W), a list of images of any sizes and PointClouds, a table of flattened images (with
`image_shape`), or `Descriptors`.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from radoncdt import _threads, _validation
from radoncdt._bright_paper import read_measures
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.estimators.transformers import ImageEstimator
from radoncdt.matching.descriptors import Descriptors, describe_batch, join_descriptors
from radoncdt.matching.index import AffineIndex
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import read_prior
from radoncdt.matching.settings import DescriptorSettings

__all__ = ["AffineNeighbors", "AffineNeighborsClassifier"]

_WEIGHTS = ("uniform", "distance")


class _Neighbors(ImageEstimator):
    """The common part of the estimators."""

    n_neighbors: Any
    reflections: Any
    n_angles: Any
    n_levels: Any
    moments: Any
    nu: Any
    trim: Any
    max_aspect: Any
    max_shear: Any
    max_scale: Any
    similarity: Any
    prior: Any
    n_jobs: Any

    def _fit(self, X: Any) -> None:  # noqa: N803
        _validation.check_count(self.n_neighbors, "n_neighbors", 1)
        _threads.check_n_jobs(self.n_jobs)
        limits = Plausible(
            max_aspect=self.max_aspect,
            max_shear=self.max_shear,
            max_scale=self.max_scale,
            similarity=self.similarity,
            reflections=self.reflections,
        )
        prior = read_prior(self.prior)
        settings = DescriptorSettings(self.n_angles, self.n_levels, self.moments, self.nu, self.trim)
        self.descriptors_ = self._describe(X, settings, reset=True)
        self.n_samples_fit_ = len(self.descriptors_)
        self._index = AffineIndex(self.descriptors_, limits, prior)

    def _describe(self, X: Any, settings: DescriptorSettings, *, reset: bool) -> Descriptors:  # noqa: N803
        X = join_descriptors(X)
        if not isinstance(X, Descriptors):
            return describe_batch(read_measures(self._read(X, reset=reset)), settings, self.n_jobs)
        if len(X) == 0:
            raise ArgumentValueError("X", "must hold at least one descriptor, got none")
        if X.settings != settings:
            raise ArgumentValueError("X", f"must have the settings of this estimator, {settings}, got {X.settings}")
        if reset:
            for name in ("n_features_in_", "feature_names_in_"):  # set by an earlier fit of a table
                self.__dict__.pop(name, None)
        return X

    def kneighbors(
        self,
        X: Any = None,  # noqa: N803
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> Any:
        """Find the nearest entries of every query: exactly those that a comparison with all entries would find.

        Parameters
        ----------
        X : images or Descriptors, optional
            The queries. By default the entries themselves; an entry is then not its own neighbour.
        n_neighbors : int, optional
            The number of neighbours; by default the parameter of the estimator.
        return_distance : bool
            Whether to return the distances.

        Returns
        -------
        distances : float64 array (n_queries, n_neighbors)
            The nearest first; equal distances keep the order of the entries. The distance is infinite for entries that
            no plausible map leads to.
        indices : int array (n_queries, n_neighbors)
        """
        check_is_fitted(self)
        k = _validation.check_count(self.n_neighbors if n_neighbors is None else n_neighbors, "n_neighbors", 1)
        queries = self._queries(X)
        there = self.n_samples_fit_ - (X is None)
        if k > there:
            others = " other" if X is None else ""
            raise ArgumentValueError("n_neighbors", f"must be at most {there}, the number of{others} entries, got {k}")
        distances, indices = self._index.nearest(queries, k, self.n_jobs, exclude_self=X is None)
        return (distances, indices) if return_distance else indices

    def _queries(self, X: Any) -> Descriptors:  # noqa: N803
        entries: Descriptors = self.descriptors_
        return entries if X is None else self._describe(X, entries.settings, reset=False)


class AffineNeighbors(_Neighbors):
    """Nearest neighbours of images, however each was shifted, rotated, scaled, sheared or mirrored.

    The distance is that of `affine_distances`. The search skips entries that cannot be among the nearest, and returns
    exactly what a comparison with all entries would return.

    Parameters
    ----------
    n_neighbors : int, default 5
        The default number of neighbours of `kneighbors`.
    radius : float, default 0.1
        The default radius of `radius_neighbors`.
    reflections : bool, default True
        Whether a mirror image counts as the same shape.
    n_angles, n_levels, moments, nu, trim
        See `DescriptorSettings`. Descriptors must have been computed with the same settings.
    max_aspect, max_shear, max_scale, similarity
        Which maps from a query to an entry are plausible, see `Plausible`; by default all are.
    prior : {"any", "upright", "photograph"}, MapPrior, or (aspect, rotation), default "any"
        Which maps are likely. The price of the map is added to the squared distance, see `MapPrior`.
    image_shape : (int, int), optional
        Shape (H, W) of images that come flattened, as the rows of a table.
    n_jobs : int, optional
        Threads, as elsewhere in scikit-learn: one by default, −1 for all cores.

    Attributes
    ----------
    descriptors_ : Descriptors
        The descriptors of the entries.
    n_samples_fit_ : int
        The number of entries.

    Examples
    --------
    >>> neighbors = AffineNeighbors(n_neighbors=1).fit([np.ones((40, 40)), np.tri(60)])
    >>> moved = push_forward(np.tri(60), [[0.2, -0.9], [1.1, 0.4]], [3, 5], shape=(120, 120))
    >>> distances, indices = neighbors.kneighbors([moved])
    >>> indices
    array([[1]])
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        radius: float = 0.1,
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
        image_shape: tuple[int, int] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
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
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> "AffineNeighbors":  # noqa: N803
        """Describe the entries.

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, table (n, H · W), or Descriptors
        y : ignored
        """
        _check_radius(self.radius)
        self._fit(X)
        return self

    def radius_neighbors(
        self,
        X: Any = None,  # noqa: N803
        radius: float | None = None,
        return_distance: bool = True,
    ) -> Any:
        """Find all entries within a radius of every query, the nearest first.

        Parameters
        ----------
        X : images or Descriptors, optional
            The queries. By default the entries themselves; an entry is then not its own neighbour.
        radius : float, optional
            By default the parameter of the estimator.
        return_distance : bool
            Whether to return the distances.

        Returns
        -------
        distances, indices : object arrays (n_queries,) of arrays
            One array per query, whose length is the number of entries found.
        """
        check_is_fitted(self)
        limit = _check_radius(self.radius if radius is None else radius)
        found = self._index.within(self._queries(X), limit, self.n_jobs, exclude_self=X is None)
        distances, indices = np.empty(len(found), object), np.empty(len(found), object)
        for row, (some, numbers) in enumerate(found):
            distances[row], indices[row] = some, numbers
        return (distances, indices) if return_distance else indices


def _check_radius(value: object) -> float:
    return _validation.check_number(value, "radius", "a number that is not negative", lambda x: x >= 0)


class AffineNeighborsClassifier(ClassifierMixin, _Neighbors):
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
    max_aspect, max_shear, max_scale, similarity, prior
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
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> "AffineNeighborsClassifier":  # noqa: N803
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
        check_classification_targets(labels)
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
