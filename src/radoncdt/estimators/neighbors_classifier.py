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

    The neighbours are those of `AffineNeighbors`: entries with the smallest root mean square difference of the NR-CDTs
    along whitened directions, at the best rotation by whole steps of the circle. Neighbours that no plausible map leads
    to have no vote. An image without any other neighbour gets the shares of the classes among the entries, with a
    warning.

    Parameters
    ----------
    n_neighbors : int, default 1
        Number of neighbours that vote. It must not be larger than `refine`, if that is given.
    weights : {"uniform", "distance"}, default "uniform"
        Whether all votes have the same weight, or one over the distance. With "distance", neighbours at distance 0
        outvote all others.
    reflections : bool, default True
        Whether a mirror image counts as the same shape.
    n_angles : int, default 64
        Number of directions of the descriptors on the half circle, from 1 to 65,536. Rotations are compared in steps of
        180°/n_angles.
    n_levels : int, default 64
        Number of levels t = (k + ½)/n_levels of the quantile functions, at least 2.
    moments : {"exact", "robust"}, default "exact"
        Mean m and covariance Σ of the normalisation. "exact": those of the measure. "robust": location and scatter of a
        Student t distribution fitted to the measure, which specks far from the shape hardly change.
    nu : float, default 3.0
        Degrees of freedom of the Student t distribution, above 0, for robust moments only. Smaller values give less
        weight to distant mass.
    trim : float, default 0.0
        Omit the levels t < trim and t > 1 − trim, to which specks far from the shape belong. It is at least 0 and below
        0.5, and at least two levels must remain.
    max_aspect : float, optional
        Largest ratio of the two scales (singular values) of the map from an image to an entry, at least 1. With 1, no
        map may stretch. By default, no map is excluded.
    max_shear : float, optional
        Largest angle, in degrees from 0 to 90, by which the images of the x and y axes depart from being perpendicular.
    max_scale : float, optional
        Largest change of size, at least 1: the geometric mean of the scales lies between 1/max_scale and max_scale.
    similarity : bool, default False
        Whether to admit only rotations, reflections and changes of size: the maps whose aspect is at most 1.1, or
        `max_aspect` if it is given.
    prior : {"any", "upright", "photograph"}, MapPrior, or (aspect, rotation), default "any"
        Which maps are likely. The penalty of a map is added to its squared distance. "any": no map has a penalty.
        "upright": rotating, stretching and mirroring have penalties, which suits characters and symbols that are hardly
        rotated. "photograph": rotating is free, and stretching has a penalty. Two numbers are the penalties of the
        squared logarithm of the ratio of the two scales, and of 1 − cos ψ for a rotation by ψ; `MapPrior` has further
        penalties.
    refine : int, optional
        `kneighbors` compares this many nearest entries with the image once more, point by point, and orders them by the
        distances of `distortion_distances`. This needs images instead of Descriptors, and keeps them. By default,
        entries are not compared again.
    frame_size : int, default 28
        Number of points along each side of the frame on which images are compared, from 8 to 256. Complex shapes need
        more than 28, such as 56. It is used only if `refine` is given.
    image_shape : (int, int), optional
        Shape (H, W) of images that are given as the rows of a table.
    n_jobs : int or None, default None
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Attributes
    ----------
    classes_ : array (n_classes,)
        The classes, sorted.
    descriptors_ : Descriptors
        The descriptors of the entries.
    n_samples_fit_ : int
        The number of entries.
    n_features_in_ : int
        Number of columns of the table; set only for tables.
    feature_names_in_ : array (n_features,)
        Names of the columns; set only for tables whose columns have names.

    See Also
    --------
    AffineNeighbors : The neighbours without classes.
    FewShotClassifier : A classifier that also allows for small distortions.

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
            The entries. Images have bright ink, and zeros elsewhere. A table of flattened images needs `image_shape`.
            Descriptors must have been computed with the settings of this estimator.
        y : array (n,)
            The class of every entry.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        TypeError
            If a parameter has the wrong type, or `X` does not hold measures.
        ValueError
            If a parameter has an invalid value, if a measure has negative mass, no mass or values that are not finite,
            or if `X` and `y` do not fit.

        Warns
        -----
        UserWarning
            If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
            into a measure.
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

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, table (n, H · W), or Descriptors
            The images to classify. Images have bright ink, and zeros elsewhere. A table of flattened images needs
            `image_shape`. Descriptors must have been computed with the settings of this estimator.

        Returns
        -------
        float64 array (n, n_classes)
            The columns are in the order of `classes_`.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If there are fewer entries than neighbours, if there are more neighbours than `refine`, or if the queries
            cannot be described with the settings of the entries.
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.

        Warns
        -----
        UserWarning
            If no plausible map leads from an image to any of its neighbours.
        UserWarning
            If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
            into a measure.
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
        """Predict the most frequent class among the neighbours of every image.

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, table (n, H · W), or Descriptors
            The images to classify. Images have bright ink, and zeros elsewhere. A table of flattened images needs
            `image_shape`. Descriptors must have been computed with the settings of this estimator.

        Returns
        -------
        array (n,)
            The classes; ties go to the first in `classes_`.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If there are fewer entries than neighbours, if there are more neighbours than `refine`, or if the queries
            cannot be described with the settings of the entries.
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.

        Warns
        -----
        UserWarning
            If no plausible map leads from an image to any of its neighbours.
        UserWarning
            If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
            into a measure.
        """
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on tables of numbers that are not images
        return tags
