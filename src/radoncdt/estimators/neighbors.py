"""Nearest neighbours of images, however they were moved, as a scikit-learn estimator.

`X` is an array of images (n, H, W), a list of images of any sizes and PointClouds, a table of flattened images (with
`image_shape`), or `Descriptors`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from radoncdt import _threads, _validation
from radoncdt._bright_paper import read_measures
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.estimators.transformers import ImageEstimator
from radoncdt.matching.descriptors import Descriptors, describe_batch, join_descriptors
from radoncdt.matching.distorted_distance import rank_again
from radoncdt.matching.framed import Frame, Framed
from radoncdt.matching.index import AffineIndex
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import read_prior
from radoncdt.matching.settings import DescriptorSettings

__all__ = ["AffineNeighbors", "Neighbors"]


class Neighbors(ImageEstimator):
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
    refine: Any
    frame_size: Any
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
        self._prior, self._refine = read_prior(self.prior), self.refine
        self._frame = Frame.read(self.frame_size, None)
        if self.refine is not None:
            _validation.check_count(self.refine, "refine", 1)
        settings = DescriptorSettings(self.n_angles, self.n_levels, self.moments, self.nu, self.trim)
        described = self._describe(X, settings, reset=True)
        self._framed = described if isinstance(described, Framed) else None
        self.descriptors_ = described.descriptors if isinstance(described, Framed) else described
        self.n_samples_fit_ = len(self.descriptors_)
        self._index = AffineIndex(self.descriptors_, limits, self._prior)

    def _describe(self, X: Any, settings: DescriptorSettings, *, reset: bool) -> Descriptors | Framed:  # noqa: N803
        """Describe images; also frame them if neighbours are refined."""
        X = join_descriptors(X)
        if not isinstance(X, Descriptors):
            batch = read_measures(self._read(X, reset=reset))
            if self._refine is None:
                return describe_batch(batch, settings, self.n_jobs)
            return Framed.describe(batch, settings, self._frame, self.n_jobs)
        if self._refine is not None:
            raise ArgumentTypeError("X", "must be images if `refine` is given, because descriptors have no pixels")
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
        """Find the nearest entries of every query.

        The result is exactly that of a comparison of each query with all entries.

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, table (n, H · W), or Descriptors, optional
            The queries. By default, they are the entries themselves, and an entry is not its own neighbour.
        n_neighbors : int, optional
            Number of neighbours. By default, it is the parameter of the estimator. It must not be larger than `refine`,
            if that is given.
        return_distance : bool, default True
            Whether to return the distances before the indices.

        Returns
        -------
        distances : float64 array (n_queries, n_neighbors)
            The nearest first; equal distances keep the order of the entries. The distance is infinite for entries that
            no plausible map leads to. If `refine` is given, these are the distances of `distortion_distances`.
        indices : int array (n_queries, n_neighbors)
            Positions of the neighbours among the entries.

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
            If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
            into a measure.
        """
        check_is_fitted(self)
        k = _validation.check_count(self.n_neighbors if n_neighbors is None else n_neighbors, "n_neighbors", 1)
        there = self.n_samples_fit_ - (X is None)
        if k > there:
            others = " other" if X is None else ""
            raise ArgumentValueError("n_neighbors", f"must be at most {there}, the number of{others} entries, got {k}")
        if self._refine is not None and k > self._refine:
            raise ArgumentValueError("n_neighbors", f"must be at most `refine`, {self._refine}, got {k}")
        n_found = k if self._refine is None else min(self._refine, there)
        queries = self._queries(X)
        described = queries.descriptors if isinstance(queries, Framed) else queries
        distances, indices = self._index.nearest(described, n_found, self.n_jobs, exclude_self=X is None)
        if isinstance(queries, Framed) and self._framed is not None:
            options: dict[str, Any] = {"limits": self._index.limits, "prior": self._prior, "n_jobs": self.n_jobs}
            distances, indices = rank_again(queries, self._framed, indices, **options)
            distances, indices = distances[:, :k], indices[:, :k]
        return (distances, indices) if return_distance else indices

    def _queries(self, X: Any) -> Descriptors | Framed:  # noqa: N803
        if X is None:
            return self.descriptors_ if self._framed is None else self._framed
        return self._describe(X, self.descriptors_.settings, reset=False)


class AffineNeighbors(Neighbors):
    """Nearest neighbours of images, however each was shifted, rotated, scaled, sheared or mirrored.

    The distance is that of `affine_distances`: the root mean square difference of the NR-CDTs along whitened
    directions, at the best rotation by whole steps of the circle. The search skips entries that cannot be among the
    nearest, and returns exactly what a comparison with all entries would return.

    Parameters
    ----------
    n_neighbors : int, default 5
        Number of neighbours that `kneighbors` returns by default. It must not be larger than `refine`, if that is
        given.
    radius : float, default 0.1
        Radius that `radius_neighbors` uses by default.
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
        entries are not compared again. `radius_neighbors` never compares them again.
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
    AffineNeighborsClassifier : A classifier by these neighbours.
    affine_distances : The distances of all pairs.
    register : The map from an image to its neighbour.

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
        refine: int | None = None,
        frame_size: int = 28,
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
        self.refine = refine
        self.frame_size = frame_size
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> AffineNeighbors:  # noqa: N803
        """Describe the entries.

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, table (n, H · W), or Descriptors
            The entries. Images have bright ink, and zeros elsewhere. A table of flattened images needs `image_shape`.
            Descriptors must have been computed with the settings of this estimator.
        y : None, default None
            Ignored; present because scikit-learn's interface has it.

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
            or if `X` has the wrong shape.

        Warns
        -----
        UserWarning
            If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
            into a measure.
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
        X : array (n, H, W), list of images and PointClouds, table (n, H · W), or Descriptors, optional
            The queries. By default, they are the entries themselves, and an entry is not its own neighbour.
        radius : float, optional
            Largest distance of a neighbour. By default, it is the parameter of the estimator.
        return_distance : bool, default True
            Whether to return the distances before the indices.

        Returns
        -------
        distances : object array (n_queries,) of float64 arrays
            One array per query, whose length is the number of entries found.
        indices : object array (n_queries,) of int arrays
            Positions of the neighbours among the entries.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If the radius is negative, or if the queries cannot be described with the settings of the entries.
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.

        Warns
        -----
        UserWarning
            If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
            into a measure.
        """
        check_is_fitted(self)
        limit = _check_radius(self.radius if radius is None else radius)
        queries = self._queries(X)
        described = queries.descriptors if isinstance(queries, Framed) else queries
        found = self._index.within(described, limit, self.n_jobs, exclude_self=X is None)
        distances, indices = np.empty(len(found), object), np.empty(len(found), object)
        for row, (some, numbers) in enumerate(found):
            distances[row], indices[row] = some, numbers
        return (distances, indices) if return_distance else indices


def _check_radius(value: object) -> float:
    return _validation.check_number(value, "radius", "a number that is not negative", lambda x: x >= 0)
