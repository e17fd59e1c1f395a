"""Images on frames of the whitened plane, as features for networks and other classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from radoncdt import _threads, _validation
from radoncdt._bright_paper import read_measures
from radoncdt._geometry import XY_TO_ROW_COLUMN
from radoncdt.estimators.transformers import ImageEstimator
from radoncdt.matching.descriptors import describe_batch
from radoncdt.matching.frames import REACH, make_canvases
from radoncdt.matching.settings import ROBUST, DescriptorSettings

__all__ = ["WhitenedImages"]


class WhitenedImages(TransformerMixin, ImageEstimator):
    """Canonical images of one size from images of any size, as a scikit-learn transformer.

    Each measure is shifted to mean 0 and multiplied by ``Σ^{-1/2}``, so that its covariance Σ becomes the unit matrix,
    and is sampled on [−2.6, 2.6]². If two images differ by an affine map, their canonical images differ by a rotation
    or a reflection only. If the map is only a shift and a change of size, they are the same up to interpolation.

    Parameters
    ----------
    frame_size : int, default 28
        Number of pixels along each side of a canonical image, from 8 to 1024.
    moments : {"exact", "robust"}, default "exact"
        Mean and covariance: those of the measure, or location and scatter of a Student t distribution fitted to it,
        which specks hardly change.
    image_shape : (int, int), optional
        Shape (H, W) of images that are given as the rows of a table.
    n_jobs : int or None, default None
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Attributes
    ----------
    n_features_out_ : int
        The number of features, frame_size².
    n_features_in_ : int
        Number of columns of the table; set only for tables.
    feature_names_in_ : array (n_features,)
        Names of the columns; set only for tables whose columns have names.

    See Also
    --------
    FewShotClassifier : Compares images on such frames.
    NormalizedRadonCDT : Features that do not depend on the rotation either.

    Examples
    --------
    >>> images = [np.ones((40, 10)), np.tri(60)]
    >>> WhitenedImages(frame_size=16).fit_transform(images).shape
    (2, 256)
    """

    def __init__(
        self,
        frame_size: int = 28,
        *,
        moments: str = "exact",
        image_shape: tuple[int, int] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.frame_size = frame_size
        self.moments = moments
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> WhitenedImages:  # noqa: N803
        """Check the parameters and the images.

        The canonical image of an image does not depend on the images that were fitted.

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
        _threads.check_n_jobs(self.n_jobs)
        side = _validation.check_count(self.frame_size, "frame_size", 8, 1024)
        _validation.check_choice(self.moments, "moments", ("exact", "robust"))
        batch = self._read(X, reset=True)
        for i in range(len(batch)):
            batch.check_measure(i)
        self.n_features_out_ = side * side
        self._settings = DescriptorSettings(1, 2, **({**ROBUST, "trim": 0.0} if self.moments == "robust" else {}))
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:  # noqa: N803
        """Compute the canonical images.

        The brightest pixel of each canonical image is 1. ``features.reshape(-1, frame_size, frame_size)`` has the
        images.

        Parameters
        ----------
        X : array (n, H, W), list of images and PointClouds, or table (n, H · W)
            Measures of any sizes: bright ink, and zeros elsewhere. A table of flattened images needs `image_shape`. The
            images may differ in size from the fitted ones; a table must have the same columns.

        Returns
        -------
        float32 array (n, frame_size²)
            The canonical images as rows.

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
        from scipy.ndimage import affine_transform

        check_is_fitted(self)
        batch, side = read_measures(self._read(X, reset=False)), int(np.sqrt(self.n_features_out_))
        canvases = make_canvases(batch, describe_batch(batch, self._settings, self.n_jobs), side, self.n_jobs)
        maps = canvases.maps(np.arange(len(batch)))
        step = 2 * REACH / side
        frames = np.empty((len(batch), side, side), np.float32)
        for frame, pixels, frame_map in zip(frames, canvases.pixels, maps):
            matrix = step * XY_TO_ROW_COLUMN @ frame_map[:, :2] @ XY_TO_ROW_COLUMN.T
            centre = (np.array(pixels.shape) - 1) / 2 + XY_TO_ROW_COLUMN @ frame_map[:, 2]
            offset = centre - matrix @ np.full(2, (side - 1) / 2)
            affine_transform(pixels, matrix, offset, (side, side), frame, order=1, mode="grid-constant")
            np.maximum(frame, 0, out=frame)  # the blur of a canvas may overshoot
            frame /= np.maximum(frame.max(), np.finfo(np.float32).tiny)
        return frames.reshape(len(batch), -1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features, with row and column of the pixel.

        An example is ``row3_column7``.

        Parameters
        ----------
        input_features : None, default None
            Ignored; present because scikit-learn's interface has it.

        Returns
        -------
        object array (frame_size²,)
            The names, as strings.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.
        """
        check_is_fitted(self)
        side = int(np.sqrt(self.n_features_out_))
        return np.array([f"row{i}_column{j}" for i in range(side) for j in range(side)], object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
