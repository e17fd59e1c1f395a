"""Ink of image files and arrays, in one call."""

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._geometry import ink_box
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.ink.files import InkError, Picture, Source, is_picture, name_of, open_picture
from radoncdt.ink.kinds import InkOptions, Step, steps_of

Mass = NDArray[np.float32]


def read_ink(source: Source, *, roi: Sequence[int] | None = None, mask: Source | None = None, **options: Any) -> Mass:
    """Read an image as a measure: mass 0 for paper, up to 1 for ink.

    PNG, JPEG, TIFF (8 and 16 bits, of several pages the first, with a warning), BMP, WebP and what else Pillow reads.
    Colours are read as grey, turned as the camera was held; what is transparent is paper.

    Parameters
    ----------
    source : path, array, Pillow image, or file opened to read bytes
        An array is (H, W), or (H, W, 2 to 4) with colours or opacity: whole numbers, or floats. A file is read from its
        beginning and stays open.
    roi : (x, y, width, height), optional
        The region of interest, in pixels from the upper left; the rest is left out.
    mask : path, array (H, W), Pillow image or open file, optional
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
    TypeError
        For a source that is none of these.

    Examples
    --------
    >>> from PIL import Image
    >>> from radoncdt.ink import read_ink
    >>> page = Image.new("L", (60, 40), "white")
    >>> page.paste(0, (20, 10, 24, 30))
    >>> read_ink(page).sum()
    np.float32(80.0)
    """
    return _all_steps(source, "source", roi, mask, options)[-1].image


def find_ink(image: Source, *, roi: Sequence[int] | None = None, mask: Source | None = None, **options: Any) -> Mass:
    """The same for an image that is in memory: an array, a Pillow image, or an open file, but not a path.

    >>> from radoncdt.ink import find_ink
    >>> page = np.full((40, 60, 3), 230, np.uint8)
    >>> page[10:30, 20:24] = 40, 30, 60
    >>> find_ink(page, kind="drawing").sum()
    np.float32(80.0)
    """
    if isinstance(image, (str, os.PathLike)):
        raise ArgumentTypeError(
            "image", f"must be an array, a Pillow image or an open file, got {image!r}; see `read_ink`"
        )
    return _all_steps(image, "image", roi, mask, options)[-1].image


def ink_steps(
    source: Source, *, roi: Sequence[int] | None = None, mask: Source | None = None, **options: Any
) -> list[Step]:
    """As `read_ink`: every step on the way, the last of which is the ink."""
    return _all_steps(source, "source", roi, mask, options)


def _all_steps(source: Source, argument: str, roi: Any, mask: Any, options: dict[str, Any]) -> list[Step]:
    chosen, name = InkOptions(**options), name_of(source, argument)
    picture = open_picture(source, argument=argument)
    if picture.note:
        warnings.warn(f"{name} {picture.note}", stacklevel=3)
    return _steps(picture, name, roi, mask, chosen)


def _steps(picture: Picture, name: str, roi: Any, mask: Any, options: InkOptions) -> list[Step]:
    keep = _mask(mask, picture.grey.shape, name)
    if roi is not None:
        window = _window(roi, picture.grey.shape, name)
        picture, keep = Picture(picture.grey[window], picture.opacity[window]), keep[window]
    if not keep.any():
        raise InkError(f"{name}: the mask leaves nothing" + (" of the region" if roi is not None else ""))
    box = ink_box(keep)
    return steps_of(Picture(picture.grey[box], picture.opacity[box]), keep[box], options, name)


def _window(roi: Any, shape: tuple[int, ...], name: str) -> tuple[slice, slice]:
    try:
        x, y, width, height = (_validation.check_count(value, "roi", 0) for value in roi)
    except (TypeError, ValueError):
        raise ArgumentValueError(
            "roi", f"must be four whole numbers x, y, width, height, none negative, got {roi!r}"
        ) from None
    if width == 0 or height == 0 or x >= shape[1] or y >= shape[0]:
        raise InkError(f"{name}: the region {x},{y},{width},{height} has no pixel of its {shape[1]} × {shape[0]}")
    return slice(y, y + height), slice(x, x + width)


def _mask(mask: Any, shape: tuple[int, ...], name: str) -> NDArray[np.bool_]:
    if mask is None:
        return np.ones(shape, bool)
    if is_picture(mask):
        shown = open_picture(mask, argument="mask")
        keep: NDArray[np.bool_] = shown.grey * shown.opacity > 0.5
    else:
        keep = _validation.check_array(mask, "mask") > 0
    if keep.shape != shape:
        raise InkError(
            f"{name}: the mask must be as large as the image, {shape[1]} × {shape[0]} pixels, got "
            f"{' × '.join(map(str, keep.shape[::-1]))}"
        )
    return keep
