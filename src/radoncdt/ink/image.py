"""Images as grey values from 0 to 1, and their reduction."""

from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from radoncdt._extras import require

__all__ = ["STD_PER_MAD", "Grey", "GreyImage", "InkError", "Mask", "raise_no_contrast", "reduce_image"]

Grey: TypeAlias = NDArray[np.float32]
Mask: TypeAlias = NDArray[np.bool_]

STD_PER_MAD = 1.4826  # standard deviation of a normal distribution in units of its median absolute deviation

_LUMA = np.array([0.299, 0.587, 0.114], np.float32)  # weights of red, green and blue, the same as in Pillow


class InkError(ValueError):
    """A file is not a readable image, or an image has no ink.

    The message names the file, or the argument, and the reason.

    See Also
    --------
    read_ink : Read an image as a measure, which raises this error.

    Examples
    --------
    >>> from radoncdt.ink import InkError, find_ink
    >>> try:
    ...     find_ink(np.full((40, 60), 255, np.uint8))
    ... except InkError as error:
    ...     print(error)
    `image`: no pixel is darker than the paper; use the kind 'watermark' for transmitted light
    """


class GreyImage(NamedTuple):
    """Brightness and opacity of an image."""

    grey: Grey  # brightness from 0 to 1, (H, W)
    opacity: Grey  # from 0, transparent, to 1, (H, W)
    name: str  # the file, or the argument, as messages name it
    note: str = ""  # a sentence about parts of the file that are not read

    @classmethod
    def from_array(cls, values: NDArray[Any], name: str, note: str = "") -> "GreyImage":
        """Convert an array (H, W), or (H, W, c) of grey, grey and opacity, RGB, or RGB and opacity.

        Values of type uint8 are divided by 255. All other numbers are scaled from their range to 0 … 1.
        """
        if values.ndim not in (2, 3) or 0 in values.shape or (values.ndim == 3 and values.shape[2] > 4):
            raise InkError(f"{name}: must have the shape (H, W) or (H, W, 1 to 4), got {values.shape}")
        if values.dtype.kind not in "biuf":
            raise InkError(f"{name}: must hold real numbers, got {values.dtype}")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise InkError(f"{name}: some pixels are not finite")
        largest = np.iinfo(values.dtype).max if values.dtype.kind in "iu" else 1
        planes = np.atleast_3d(values)
        opacity = np.broadcast_to(np.float32(1), planes.shape[:2])
        if planes.shape[2] in (2, 4):
            opacity = np.clip(planes[:, :, -1].astype(np.float32) / np.float32(largest), 0, 1)
            planes = planes[:, :, :-1]
        if planes.shape[2] == 3:
            grey = planes.astype(np.float32) @ _LUMA
        else:
            grey = planes[:, :, 0].astype(np.float32 if values.dtype.itemsize < 4 else np.float64)
        if values.dtype == bool or values.dtype == np.uint8:
            grey /= largest
            return cls(grey, opacity, name, note)
        low, high = grey.min(), grey.max()
        scaled = (grey - low) / (high - low) if high > low else (grey > 0).astype(np.float32)
        return cls(scaled.astype(np.float32), opacity, name, note)

    def crop(self, window: tuple[slice, slice]) -> "GreyImage":
        """Return a part of the image."""
        return self._replace(grey=self.grey[window], opacity=self.opacity[window])

    def fill_transparent(self, ink: str) -> Grey:
        """Return the brightness with paper in place of transparent pixels; `ink` is the polarity."""
        grey, opacity = self.grey, self.opacity
        if opacity.strides == (0, 0) or opacity.min() == 1:
            return grey
        paper = 1.0 if ink == "dark" or (ink == "auto" and grey[opacity > 0].min() < 0.5) else 0.0
        return grey * opacity + np.float32(paper) * (1 - opacity)


def reduce_image(grey: Grey, keep: Mask, max_side: int) -> tuple[Grey, Mask]:
    """Average blocks of pixels so that no side is longer than `max_side`."""
    factor = -(-max(grey.shape) // max_side)
    if factor == 1:
        return grey, keep
    pillow = require("PIL.Image", "reducing images")
    height, width = (min(factor, side) for side in grey.shape)
    images = grey, keep.astype(np.float32)
    means, shares = (np.asarray(pillow.fromarray(image).reduce((width, height))) for image in images)
    return means, shares > 0.5 if (shares > 0.5).any() else shares > 0


def raise_no_contrast(*, dark: bool) -> NoReturn:
    """Raise the error for an image in which no pixel is darker, or brighter, than the paper."""
    hint = "; use the kind 'watermark' for transmitted light" if dark else ""
    raise InkError(f"no pixel is {'darker' if dark else 'brighter'} than the paper{hint}")
