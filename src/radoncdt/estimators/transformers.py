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

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, or table (n, H · W)
        y : ignored
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
            Images of any size, not only the one that was fitted. A table must have the same columns.

        Returns
        -------
        float64 array (n, n_features)
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
    """Radon cumulative distribution transform of images: `rcdt`, flattened (§3.1 of the paper).

    Euclidean distances of the features, divided by √n_features, are sliced Wasserstein-2 distances. The features depend
    on position, size and rotation; see `NormalizedRadonCDT` for affine-invariant features.

    Parameters
    ----------
    n_angles : int, default 128
        Directions πk/n on the half circle.
    n_levels : int, default 64
        Levels of the quantile functions.
    angles : array, optional
        Any angles, in radians, instead of the equispaced ones.
    level_grid : {"midpoint", "uniform"}, default "midpoint"
        See `quantile_levels`.
    image_shape : (int, int), optional
        Shape (H, W) of images that come flattened, as the rows of a table.
    n_jobs : int, optional
        Threads, as elsewhere in scikit-learn: one by default, −1 for all cores.

    Attributes
    ----------
    angles_ : array (n_angles,)
        The angles, in radians.
    levels_ : array (n_levels,)
        The levels.
    image_shape_ : (int, int)
        The frame of the images that `inverse_transform` returns: as high as the highest and as wide as the widest
        fitted image. For PointClouds it holds all points, but has at most 2¹⁴ pixels along a side.
    n_features_in_, feature_names_in_
        Set for tables only.

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
        """Compute images with the given features, in the frame of the fitted images: `inverse_rcdt`.

        Parameters
        ----------
        X : array (n, n_features)

        Returns
        -------
        float64 array (n, H, W), or (n, H · W) with `image_shape`
            Images of mass 1; the features do not contain the mass.
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
        """Names with the direction and level of every feature: ``angle3_4.219deg_level10_t0.1641``."""
        check_is_fitted(self)
        return np.array(self._direction_level_names(), dtype=object)


class NormalizedRadonCDT(_Transformer):
    """Affine-invariant features of images: the normalised R-CDT, pooled over the circle (§3.3 of the paper).

    The features of an image do not change when it is shifted, rotated, scaled, sheared or mirrored. So a linear
    classifier or a nearest neighbour separates classes from one or a few images each.

    Parameters
    ----------
    n_angles, n_levels, angles, level_grid, image_shape, n_jobs
        As in `RadonCDT`.
    pool : str or None, default "max"
        See `pooled_nrcdt`. With None the NR-CDT is not pooled but flattened to n_angles · n_levels features, which
        affine maps shift along the angles.
    n_components : int, optional
        Components per level of the pools "sorted" and "fourier", 8 by default, see `pooled_nrcdt`. Other pools ignore
        it.
    directions : {"auto", "equispaced", "whitened"}, default "auto"
        See `nrcdt`. "auto" means the same as in the functions, see `pooled_nrcdt`.
    moments : {"exact", "levels", "robust"}, default "exact"
        See `nrcdt`.
    nu : float, default 3
        Degrees of freedom of robust moments, see `nrcdt`.
    trim : float, default 0
        Omits the outer levels, see `nrcdt`.

    Attributes
    ----------
    angles_, levels_, image_shape_, n_features_in_, feature_names_in_
        As in `RadonCDT`.
    directions_ : {"equispaced", "whitened"}
        The given directions, or those that "auto" selected.

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
        """Names with the pool and level of every feature, ``max_level10_t0.1641``; without a pool as in `RadonCDT`."""
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
