"""The transforms as scikit-learn transformers (§4 of the paper).

`X` is an array of images (n, H, W), a list of images of any sizes and PointClouds, or, with `image_shape`, a table of
flattened images (n, H · W). The result has one row per image and one column per feature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from radoncdt import _threads, _validation
from radoncdt._cdt import enforce_ascending, quantile_levels
from radoncdt._inverse import inverse_rcdt
from radoncdt._plan import Normalisation
from radoncdt._pooling import POOLS, WHITENED_POOLS, check_pool, choose_directions, pooled_nrcdt
from radoncdt._rcdt import choose_levels, nrcdt, rcdt
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.directions import Directions
from radoncdt.measures import Batch, PointCloud

__all__ = ["ImageEstimator", "NormalizedRadonCDT", "RadonCDT"]

_MAX_FRAME_SIDE = 2**14
"""Largest side, in pixels, of the frame that `fit` stores for PointClouds."""


class ImageEstimator(BaseEstimator):
    """Base of the estimators: reads images. `image_shape` is the shape of flattened images."""

    image_shape: Any

    def _read(self, X: Any, *, reset: bool) -> Batch:  # noqa: N803
        """Read the images of X, after scikit-learn's checks of tables."""
        if self.image_shape is not None:
            height, width = _validation.check_image_shape(self.image_shape, "image_shape")
            X = validate_data(self, X, reset=reset, dtype=(np.float64, np.float32))
            if X.shape[1] != height * width:
                raise ArgumentValueError(
                    "X", f"must have {height * width} columns for images of shape {(height, width)}, got {X.shape[1]}"
                )
            return Batch(
                X.reshape(-1, height, width), (len(X),), "X"
            )  # narrow images are fine, because the shape is explicit
        if not isinstance(X, (list, tuple, PointCloud)) and np.ndim(X) == 2:
            raise ArgumentValueError(
                "X",
                f"must be images (n, H, W) or a list of them, got an array of shape {np.shape(X)}; a single image "
                "goes in a list, and flattened images need `image_shape=(H, W)`",
            )
        batch = Batch.read(X, "X")
        if len(batch.lead) != 1:
            given = "one PointCloud" if isinstance(X, PointCloud) else f"an array of shape {np.shape(X)}"
            raise ArgumentValueError("X", f"must be images (n, H, W) or a list of images and PointClouds, got {given}")
        return batch

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = self.image_shape is None
        tags.input_tags.two_d_array = self.image_shape is not None
        tags.input_tags.positive_only = True
        return tags


class _Transformer(TransformerMixin, ImageEstimator):
    """The common part of the transformers. `_features` transforms images that have been read, (n, …)."""

    n_angles: Any
    angles: Any
    n_levels: Any
    level_grid: Any
    n_jobs: Any

    def _features(self, images: Batch, **options: Any) -> Floats:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Any:  # noqa: N803
        """Check the parameters and the images, and store the frame of the images.

        The features of an image do not depend on the images that were fitted.

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, or table (n, H · W)
            Measures of any sizes: bright ink, and zeros elsewhere. A table of flattened images needs `image_shape`.
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
        """
        self._check_parameters()
        _threads.check_n_jobs(self.n_jobs)
        directions = Directions.choose(self.n_angles, self.angles)
        levels = self._levels()
        batch = self._read(X, reset=True)
        for i in range(len(batch)):
            batch.check_measure(i)
        self.angles_, self.levels_ = directions.angles.copy(), levels
        self._fitted = self._options()  # parameters set later take effect at the next fit
        self.image_shape_ = _compute_frame(batch)
        return self

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """Compute the features of images.

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, or table (n, H · W)
            Measures of any sizes: bright ink, and zeros elsewhere. A table of flattened images needs `image_shape`. The
            images may differ in size from the fitted ones; a table must have the same columns.

        Returns
        -------
        float64 array (n, n_features)
            One row per image. The names of the columns are those of `get_feature_names_out`.

        Raises
        ------
        TypeError
            If `X` does not hold measures.
        ValueError
            If a measure has negative mass, no mass or values that are not finite, or if `X` has the wrong shape.
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.

        Warns
        -----
        UserWarning
            If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
            into a measure.
        """
        check_is_fitted(self)
        batch = self._read(X, reset=False)
        features = self._features(batch, n_jobs=self.n_jobs, **self._fitted)
        return features.reshape(len(batch), -1)

    def _check_parameters(self) -> None:
        """Check parameters that the functions would check only when they are called."""

    def _options(self) -> dict[str, Any]:
        angles = {"n_angles": self.n_angles} if self.angles is None else {"angles": self.angles}
        return {**angles, "n_levels": self.n_levels, "level_grid": self.level_grid}

    def _levels(self) -> Floats:
        return quantile_levels(self.n_levels, self.level_grid)

    def _level_names(self) -> list[str]:
        return [f"level{j}_t{t:.4g}" for j, t in enumerate(self.levels_)]

    def _direction_level_names(self) -> list[str]:
        """Names for every direction with every level."""
        degrees = np.rad2deg(self.angles_)
        return [f"angle{k}_{a:.4g}deg_{level}" for k, a in enumerate(degrees) for level in self._level_names()]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


class RadonCDT(_Transformer):
    """Radon cumulative distribution transform of images, as a scikit-learn transformer.

    The features are the R-CDT ``R̂_θ[μ](t)``, the quantile function of the projection of μ on every direction θ (§3.1
    of the paper [1]_), in pixels and flattened to one row per image. Euclidean distances of the features, divided by
    √n_features, are sliced Wasserstein-2 distances. The features depend on position, size and rotation; those of
    `NormalizedRadonCDT` do not.

    Parameters
    ----------
    n_angles : int, default 128
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    n_levels : int, default 64
        Number of levels t in (0, 1) of the quantile functions, at least 2.
    angles : array (n_angles,), optional
        Any angles, in radians, instead of the equispaced ones. They replace `n_angles`.
    level_grid : {"midpoint", "uniform"}, default "midpoint"
        The levels: t = (k + ½)/n_levels for "midpoint", and t = (k + 1)/(n_levels + 1) for "uniform", with k = 0, …,
        n_levels − 1. The authors of the paper use "uniform".
    image_shape : (int, int), optional
        Shape (H, W) of images that are given as the rows of a table.
    n_jobs : int or None, default None
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Attributes
    ----------
    angles_ : float64 array (n_angles,)
        The angles, in radians.
    levels_ : float64 array (n_levels,)
        The levels.
    image_shape_ : (int, int)
        Shape (H, W) of a frame that holds the fitted images: as high as the highest and as wide as the widest one. For
        PointClouds it holds all points, but has at most 2¹⁴ pixels along a side.
    n_features_in_ : int
        Number of columns of the table; set only for tables.
    feature_names_in_ : array (n_features,)
        Names of the columns; set only for tables whose columns have names.

    See Also
    --------
    rcdt : The transform as a function.
    NormalizedRadonCDT : Affine-invariant features.
    NearestSubspaceClassifier : A classifier for these features.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> images = np.random.default_rng(0).random((6, 20, 30))
    >>> RadonCDT(n_angles=8, n_levels=16).fit_transform(images).shape
    (6, 128)
    """

    def __init__(
        self,
        n_angles: int = 128,
        n_levels: int = 64,
        *,
        angles: Any = None,
        level_grid: str = "midpoint",
        image_shape: tuple[int, int] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_angles = n_angles
        self.n_levels = n_levels
        self.angles = angles
        self.level_grid = level_grid
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def _features(self, images: Batch, **options: Any) -> Floats:
        return rcdt(images, **options)

    def inverse_transform(self, X: Any) -> Floats:  # noqa: N803
        """Compute images with the given features, in the frame of the fitted images.

        Parameters
        ----------
        X : array (n, n_features)
            Features as `transform` returns them, or averages of them.

        Returns
        -------
        float64 array (n, H, W), or (n, H · W) with `image_shape`
            Images of mass 1; the features do not contain the mass.

        Raises
        ------
        ValueError
            If `X` has the wrong shape, values that are not finite, or values that descend along the levels.
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.

        Warns
        -----
        UserWarning
            If, in some direction, more mass is outside the frame than a hundredth and the blur of the strips.

        See Also
        --------
        radoncdt.inverse_rcdt : The inverse as a function.
        """
        check_is_fitted(self)
        features = _validation.check_finite_array(X, "X")
        n_features = self.angles_.size * self.levels_.size
        if features.ndim != 2 or features.shape[1] != n_features or len(features) == 0:
            raise ArgumentValueError("X", f"must have shape (n, {n_features}), got {features.shape}")
        values = enforce_ascending(features.reshape(-1, self.angles_.size, self.levels_.size), "X")
        images = inverse_rcdt(
            values,
            self.image_shape_,
            angles=self.angles_,
            level_grid=self._fitted["level_grid"],
            n_jobs=self.n_jobs,
        )
        return images if self.image_shape is None else images.reshape(len(images), -1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features, with direction and level.

        An example is ``angle3_4.219deg_level10_t0.1641``.

        Parameters
        ----------
        input_features : None, default None
            Ignored; present because scikit-learn's interface has it.

        Returns
        -------
        object array (n_features,)
            The names, as strings.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.
        """
        check_is_fitted(self)
        return np.array(self._direction_level_names(), dtype=object)


class NormalizedRadonCDT(_Transformer):
    """Affine-invariant features of images, as a scikit-learn transformer.

    The features are the mNR-CDT ``N_m[μ](t) = sup_θ N_θ[μ](t)`` (§3.3 of the paper [1]_), or another functional of the
    NR-CDT ``N_θ[μ]``, which is the R-CDT with mean 0 and standard deviation 1 in each direction θ (§3.2). They do not
    change when an image is shifted, rotated, scaled, sheared or mirrored. Therefore a linear classifier or a nearest
    neighbour separates classes from one or a few images each (Theorem 1).

    Parameters
    ----------
    n_angles : int, default 128
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    n_levels : int, default 64
        Number of levels t in (0, 1) of the quantile functions, at least 2.
    pool : str or None, default "max"
        One of "max", "min", "mean", "median", "range", "max_abs", "min_abs", "range_abs" and "total_variation", which
        yield n_levels features. The range is the maximum minus the minimum; "_abs" takes absolute values first; the
        total variation is the sum of the absolute steps from each direction to the next, once around.

        With whitened directions also "sorted", the order statistics over the circle, and "fourier", the magnitudes of
        the Fourier coefficients along the circle. These yield n_components · n_levels features. With None, the NR-CDT
        is not pooled but flattened to n_angles · n_levels features, which affine maps shift along the angles.
    n_components : int, optional
        Number of components per level of the pools "sorted" and "fourier". By default it is 8, or all if there are
        fewer. Other pools ignore it.
    angles : array (n_angles,), optional
        Any angles, in radians, instead of the equispaced ones. They replace `n_angles`. They need only cover half the
        circle, because the pool also covers the opposite directions.
    level_grid : {"midpoint", "uniform"}, default "midpoint"
        The levels: t = (k + ½)/n_levels for "midpoint", and t = (k + 1)/(n_levels + 1) for "uniform", with k = 0, …,
        n_levels − 1. The authors of the paper use "uniform".
    directions : {"auto", "equispaced", "whitened"}, default "auto"
        Whether the angles are those of directions θ in the plane of the image ("equispaced"), or of directions η of the
        whitened measure ("whitened"), which are ``θ = Σ^{-1/2}η/‖Σ^{-1/2}η‖`` in the plane of the image. Whitened
        measures that differ by an affine map differ by a rotation or a reflection, and so do their NR-CDTs along the
        angles. "auto" means equispaced directions without a pool, for the mean and the median, and wherever `angles` or
        the moments "levels" are given. For the other pools it means whitened directions, along which their values
        change less under affine maps.
    moments : {"exact", "levels", "robust"}, default "exact"
        Mean and standard deviation of the normalisation. "exact": those of the measure itself, ⟨m, θ⟩ and √(θᵀΣθ),
        where m and Σ are its mean and covariance. "levels": mean and sample standard deviation of the values at the
        levels, as the authors of the paper compute them; not with whitened directions. "robust": m and Σ are location
        and scatter of a Student t distribution fitted to the measure, which specks far from the shape hardly change.
        They are affine equivariant, so the invariance is kept.
    nu : float, default 3.0
        Degrees of freedom of the Student t distribution, above 0, for robust moments only. Smaller values give less
        weight to distant mass.
    trim : float, default 0.0
        Omit the levels t < trim and t > 1 − trim, to which specks far from the shape belong. It is at least 0 and below
        0.5, and at least two levels must remain. The result then has fewer levels.
    image_shape : (int, int), optional
        Shape (H, W) of images that are given as the rows of a table.
    n_jobs : int or None, default None
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Attributes
    ----------
    angles_ : float64 array (n_angles,)
        The angles, in radians.
    levels_ : float64 array (n_levels,)
        The levels.
    image_shape_ : (int, int)
        Shape (H, W) of a frame that holds the fitted images: as high as the highest and as wide as the widest one. For
        PointClouds it holds all points, but has at most 2¹⁴ pixels along a side.
    directions_ : {"equispaced", "whitened"}
        The given directions, or those that "auto" selected.
    n_features_in_ : int
        Number of columns of the table; set only for tables.
    feature_names_in_ : array (n_features,)
        Names of the columns; set only for tables whose columns have names.

    See Also
    --------
    max_nrcdt : The default pool as a function.
    pooled_nrcdt : All pools as a function.
    RadonCDT : The transform without the normalisation.
    FewShotClassifier : A classifier that registers images and compares their pixels.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    One image of each of two shapes is enough:

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> shapes = [np.ones((40, 40)), np.tri(60)]
    >>> model = make_pipeline(NormalizedRadonCDT(), KNeighborsClassifier(1)).fit(shapes, ["square", "triangle"])
    >>> moved = push_forward(np.tri(60), [[0.2, -0.9], [1.1, 0.4]], [3, 5], shape=(120, 120))
    >>> model.predict([moved])
    array(['triangle'], dtype='<U8')
    """

    def __init__(
        self,
        n_angles: int = 128,
        n_levels: int = 64,
        pool: str | None = "max",
        *,
        n_components: int | None = None,
        angles: Any = None,
        level_grid: str = "midpoint",
        directions: str = "auto",
        moments: str = "exact",
        nu: float = 3.0,
        trim: float = 0.0,
        image_shape: tuple[int, int] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_angles = n_angles
        self.n_levels = n_levels
        self.pool = pool
        self.n_components = n_components
        self.angles = angles
        self.level_grid = level_grid
        self.directions = directions
        self.moments = moments
        self.nu = nu
        self.trim = trim
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        if self.pool is not None:
            n_components = self.n_components if self.pool in WHITENED_POOLS else None
            check_pool(self.pool, n_components, len(Directions.choose(self.n_angles, self.angles)))
        self.directions_ = choose_directions(self.directions, self.pool, self.angles, self.moments)
        Normalisation.choose(self.moments, self.directions_, self.nu)

    def _levels(self) -> Floats:
        return choose_levels(self.n_levels, self.level_grid, self.trim)

    def _options(self) -> dict[str, Any]:
        return {
            **super()._options(),
            "directions": self.directions_,
            "moments": self.moments,
            "nu": self.nu,
            "trim": self.trim,
            "pool": self.pool,
            "n_components": self.n_components if self.pool in WHITENED_POOLS else None,
        }

    def _features(self, images: Batch, **options: Any) -> Floats:
        if options["pool"] is None:
            del options["pool"], options["n_components"]
            return nrcdt(images, **options)
        return pooled_nrcdt(images, **options)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features, with pool and level.

        An example is ``max_level10_t0.1641``. Without a pool, the names have direction and level instead:
        ``angle3_4.219deg_level10_t0.1641``.

        Parameters
        ----------
        input_features : None, default None
            Ignored; present because scikit-learn's interface has it.

        Returns
        -------
        object array (n_features,)
            The names, as strings.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.
        """
        check_is_fitted(self)
        pool = self._fitted["pool"]
        if pool is None:
            names = self._direction_level_names()
        elif pool in POOLS:
            names = [f"{pool}_{n}" for n in self._level_names()]
        else:
            count = check_pool(pool, self._fitted["n_components"], self.angles_.size)
            names = [f"{pool}{k}_{n}" for k in range(count) for n in self._level_names()]
        return np.array(names, dtype=object)


def _compute_frame(batch: Batch) -> tuple[int, int]:
    """The shape of an image around the origin that holds all measures."""
    if isinstance(batch.items, np.ndarray):
        return batch.items.shape[1], batch.items.shape[2]
    shapes = [
        2 * np.ceil(np.minimum(np.abs(item.points[:, ::-1]).max(axis=0), _MAX_FRAME_SIDE / 2)).astype(int) + 1
        if isinstance(item, PointCloud)
        else item.shape
        for item in batch.items
    ]
    height, width = np.max(shapes, axis=0).tolist()
    return height, width
