"""Ink of image files and arrays, in one call."""

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _checks
from radoncdt.ink.kinds import InkOptions, Step, steps_of
from radoncdt.ink.pictures import InkError, Picture, open_picture, picture_of

Mass = NDArray[np.float32]


def read_ink(
    path: str | os.PathLike[str],
    *,
    roi: Sequence[int] | None = None,
    mask: str | os.PathLike[str] | ArrayLike | None = None,
    **options: Any,
) -> Mass:
    """Read an image file as a measure: mass 0 for paper, up to 1 for ink.

    PNG, JPEG, TIFF (8 and 16 bits, of several pages the first, with a warning), BMP, WebP and what else Pillow reads.
    Colours are read as grey, turned as the camera was held; what is transparent is paper.

    Parameters
    ----------
    path : str or Path
    roi : (x, y, width, height), optional
        The region of interest, in pixels from the upper left; the rest is left out.
    mask : path of an image, or array (H, W), optional
        As large as the image: what is dark (0) in it is left out.
    **options
        Those of `InkOptions`: `kind`, "grey" by default, `ink`, `threshold`, `low`, `specks`, `max_side`.

    Returns
    -------
    float32 array (H, W)
        Of the region of interest alone. Smaller than the image if that is larger than `max_side`.

    Raises
    ------
    InkError
        A ValueError: the message names the file and says why.
    """
    return ink_steps(path, roi=roi, mask=mask, **options)[-1].image


def find_ink(
    image: ArrayLike, *, roi: Sequence[int] | None = None, mask: ArrayLike | None = None, **options: Any
) -> Mass:
    """The same for an array (H, W), or (H, W, 2 to 4) with colours or opacity: whole numbers, or floats.

    >>> from radoncdt.ink import find_ink
    >>> page = np.full((40, 60, 3), 230, np.uint8)
    >>> page[10:30, 20:24] = 40, 30, 60
    >>> find_ink(page, kind="drawing").sum()
    np.float32(80.0)
    """
    picture = picture_of(_checks.real_array(image, "image"), "`image`")
    return _steps(picture, "`image`", roi, mask, InkOptions(**options))[-1].image


def ink_steps(
    path: str | os.PathLike[str],
    *,
    roi: Sequence[int] | None = None,
    mask: str | os.PathLike[str] | ArrayLike | None = None,
    **options: Any,
) -> list[Step]:
    """As `read_ink`: every step on the way, the last of which is the ink."""
    chosen = InkOptions(**options)
    picture = open_picture(path)
    if picture.note:
        warnings.warn(f"{path} {picture.note}", stacklevel=2)
    return _steps(picture, str(path), roi, mask, chosen)


def _steps(picture: Picture, name: str, roi: Any, mask: Any, options: InkOptions) -> list[Step]:
    keep = _mask(mask, picture.grey.shape, name)
    if roi is not None:
        window = _window(roi, picture.grey.shape, name)
        picture, keep = Picture(picture.grey[window], picture.opacity[window]), keep[window]
    if not keep.any():
        raise InkError(f"{name}: the mask leaves nothing" + (" of the region" if roi is not None else ""))
    rows, columns = (np.flatnonzero(keep.any(axis=axis)) for axis in (1, 0))
    box = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    return steps_of(Picture(picture.grey[box], picture.opacity[box]), keep[box], options, name)


def _window(roi: Any, shape: tuple[int, ...], name: str) -> tuple[slice, slice]:
    try:
        x, y, width, height = (_checks.count(value, "roi", 0) for value in roi)
    except (TypeError, ValueError):
        raise ValueError(f"`roi` must be four whole numbers x, y, width, height, none negative, got {roi!r}") from None
    if width == 0 or height == 0 or x >= shape[1] or y >= shape[0]:
        raise InkError(f"{name}: the region {x},{y},{width},{height} has no pixel of its {shape[1]} × {shape[0]}")
    return slice(y, y + height), slice(x, x + width)


def _mask(mask: Any, shape: tuple[int, ...], name: str) -> NDArray[np.bool_]:
    if mask is None:
        return np.ones(shape, bool)
    if isinstance(mask, (str, os.PathLike)):
        shown = open_picture(mask)
        keep: NDArray[np.bool_] = shown.grey * shown.opacity > 0.5
    else:
        keep = _checks.real_array(mask, "mask") > 0
    if keep.shape != shape:
        raise InkError(
            f"{name}: the mask must be as large as the image, {shape[1]} × {shape[0]} pixels, got "
            f"{' × '.join(map(str, keep.shape[::-1]))}"
        )
    return keep
