"""The ink of image files and arrays: `read_ink`, `find_ink` and `ink_steps`."""

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from radoncdt import _validation
from radoncdt._geometry import ink_box
from radoncdt._validation import ArgumentTypeError
from radoncdt.ink.drawing import find_drawing
from radoncdt.ink.files import Source, is_array, read_image
from radoncdt.ink.grey import find_grey_ink
from radoncdt.ink.image import Grey, GreyImage, InkError, Mask, reduce_image
from radoncdt.ink.options import DEFAULT_MAX_SIDE, DEFAULT_SPECKS, MIN_SIDE, InkOptions, Step
from radoncdt.ink.watermark import find_watermark

__all__ = ["assess_ink", "extract_steps", "find_ink", "ink_steps", "read_ink"]

_MIN_SHARE, _MAX_SHARE = 0.0005, 0.5  # plausible shares of ink among the pixels of a drawing or watermark


def read_ink(source: Source, /, **options: Any) -> Grey:
    """Read an image as a measure: paper has mass 0, and ink has mass up to 1.

    PNG, JPEG, TIFF with 8 or 16 bits, BMP, WebP and all other formats of Pillow can be read. Colours are converted to
    grey, EXIF orientation is applied, and transparent pixels are paper. Only the first of several pages is read, with a
    warning.

    Parameters
    ----------
    source : path, array, Pillow image, or file opened to read bytes
        An array has the shape (H, W), or (H, W, 2 to 4) with colours or opacity. A file is read from its beginning and
        stays open.
    **options
        How ink is found. `kind`: "drawing" (the default), "watermark" for photographs in transmitted light, or "grey"
        for grey values as mass. `ink`: "auto" (the default), "dark" or "bright". `threshold`: the contrast from 0 to 1
        at which the ink of a drawing begins, Otsu's by default, or the minimum strength of the ridges of a watermark in
        standard deviations of the noise, 5 by default. `low`: the minimum strength of ridges of a watermark that
        continue stronger ones, half the threshold by default. `specks`: connected ink that is shorter than this share
        of the extent of all ink is removed, by default 0.03 for drawings and 0.06 for watermarks. `max_side`: images
        with longer sides, in pixels, are reduced; by default 1024, without a limit for "grey". `roi`: the region of
        interest (x, y, width, height), in pixels from the upper left. `mask`: an image of the same size, whose dark
        pixels (0) are ignored.

    Returns
    -------
    float32 array (H, W)
        The ink in the bounding box of the pixels that count. It is smaller if that box is larger than `max_side`.

    Raises
    ------
    InkError
        A ValueError whose message names the file and the reason.
    TypeError, ValueError
        If `source` or an option has the wrong type, or an option is out of its range.

    Warns
    -----
    UserWarning
        If the file has several pages.

    See Also
    --------
    find_ink : Find the ink of an image in memory.
    ink_steps : All steps from the image to its ink.
    InkOptions : The options in detail.

    Examples
    --------
    >>> from PIL import Image
    >>> from radoncdt.ink import read_ink
    >>> page = Image.new("L", (60, 40), "white")
    >>> page.paste(0, (20, 10, 24, 30))
    >>> read_ink(page).sum()
    np.float32(80.0)
    """
    return _read_steps(source, "source", InkOptions(**options))[-1].image


def find_ink(image: Source, /, **options: Any) -> Grey:
    """Find the ink of an image in memory.

    Paper has mass 0, and ink has mass up to 1. Unlike `read_ink`, this function refuses paths.

    Parameters
    ----------
    image : array, Pillow image, or file opened to read bytes
        An array has the shape (H, W), or (H, W, 2 to 4) with colours or opacity. A file is read from its beginning and
        stays open.
    **options
        How ink is found. `kind`: "drawing" (the default), "watermark" for photographs in transmitted light, or "grey"
        for grey values as mass. `ink`: "auto" (the default), "dark" or "bright". `threshold`: the contrast from 0 to 1
        at which the ink of a drawing begins, Otsu's by default, or the minimum strength of the ridges of a watermark in
        standard deviations of the noise, 5 by default. `low`: the minimum strength of ridges of a watermark that
        continue stronger ones, half the threshold by default. `specks`: connected ink that is shorter than this share
        of the extent of all ink is removed, by default 0.03 for drawings and 0.06 for watermarks. `max_side`: images
        with longer sides, in pixels, are reduced; by default 1024, without a limit for "grey". `roi`: the region of
        interest (x, y, width, height), in pixels from the upper left. `mask`: an image of the same size, whose dark
        pixels (0) are ignored.

    Returns
    -------
    float32 array (H, W)
        The ink in the bounding box of the pixels that count. It is smaller if that box is larger than `max_side`.

    Raises
    ------
    InkError
        A ValueError whose message gives the reason, such as an image without contrast.
    TypeError, ValueError
        If the image is a path, or an option has the wrong type or is out of its range.

    Warns
    -----
    UserWarning
        If a file has several pages.

    See Also
    --------
    read_ink : The same for image files.

    Examples
    --------
    >>> from radoncdt.ink import find_ink
    >>> page = np.full((40, 60, 3), 230, np.uint8)
    >>> page[10:30, 20:24] = 40, 30, 60
    >>> find_ink(page).sum()
    np.float32(80.0)
    """
    if isinstance(image, (str, os.PathLike)):
        raise ArgumentTypeError(
            "image", f"must be an array, a Pillow image or an open file, got {image!r}; see `read_ink`"
        )
    return _read_steps(image, "image", InkOptions(**options))[-1].image


def ink_steps(source: Source, /, **options: Any) -> list[Step]:
    """Return every step of `read_ink`, the last of which is the ink.

    Parameters
    ----------
    source : path, array, Pillow image, or file opened to read bytes
        An array has the shape (H, W), or (H, W, 2 to 4) with colours or opacity. A file is read from its beginning and
        stays open.
    **options
        How ink is found. `kind`: "drawing" (the default), "watermark" for photographs in transmitted light, or "grey"
        for grey values as mass. `ink`: "auto" (the default), "dark" or "bright". `threshold`: the contrast from 0 to 1
        at which the ink of a drawing begins, Otsu's by default, or the minimum strength of the ridges of a watermark in
        standard deviations of the noise, 5 by default. `low`: the minimum strength of ridges of a watermark that
        continue stronger ones, half the threshold by default. `specks`: connected ink that is shorter than this share
        of the extent of all ink is removed, by default 0.03 for drawings and 0.06 for watermarks. `max_side`: images
        with longer sides, in pixels, are reduced; by default 1024, without a limit for "grey". `roi`: the region of
        interest (x, y, width, height), in pixels from the upper left. `mask`: an image of the same size, whose dark
        pixels (0) are ignored.

    Returns
    -------
    list of (name, image)
        Named tuples with the name of the step and its image, a float32 array (H, W). The first step is "grey", and
        the last one is "ink".

    Raises
    ------
    InkError
        A ValueError whose message names the file and the reason.
    TypeError, ValueError
        If `source` or an option has the wrong type, or an option is out of its range.

    Warns
    -----
    UserWarning
        If the file has several pages.

    See Also
    --------
    read_ink : Return the ink only.
    radoncdt.plot.steps : Draw the steps side by side.

    Examples
    --------
    >>> from radoncdt.ink import ink_steps
    >>> page = np.full((40, 60), 230, np.uint8)
    >>> page[10:30, 20:24] = 40
    >>> for name, image in ink_steps(page):
    ...     print(name, image.shape)
    grey (40, 60)
    light evened out (40, 60)
    above the threshold (40, 60)
    ink (40, 60)
    """
    return _read_steps(source, "source", InkOptions(**options))


def assess_ink(ink: Grey, options: InkOptions) -> str | None:
    """Return a warning if very little or most of an image is ink, as happens if the kind is wrong; otherwise None."""
    share = float(np.mean(ink > 0))
    if options.kind == "grey" or _MIN_SHARE < share < _MAX_SHARE:
        return None
    return f"{share:.2%} of the image is ink; is {options.kind!r} the right kind?"


def extract_steps(image: GreyImage, options: InkOptions) -> list[Step]:
    """Return all steps from an image to its ink."""
    keep = np.ones(image.grey.shape, bool) if options.mask is None else _read_mask(options.mask)
    try:
        return _run_steps(*_crop(image, keep, options.roi), options)
    except InkError as error:
        raise InkError(f"{image.name}: {error}") from None


def _read_mask(mask: Any) -> Mask:
    if is_array(mask):
        return _validation.check_array(mask, "mask") > 0
    shown = read_image(mask, argument="mask")
    return shown.grey * shown.opacity > 0.5


def _crop(image: GreyImage, keep: Mask, roi: Sequence[int] | None) -> tuple[GreyImage, Mask]:
    """Return the bounding box of the pixels of the region that the mask keeps."""
    rows, columns = image.grey.shape
    if keep.shape != (rows, columns):
        got = " × ".join(map(str, keep.shape[::-1]))
        raise InkError(f"the mask must be as large as the image, {columns} × {rows} pixels, got {got}")
    if roi is not None:
        x, y, width, height = roi
        window = slice(y, y + height), slice(x, x + width)
        image, keep = image.crop(window), keep[window]
        if not keep.size:
            size = f"which has {columns} × {rows} pixels"
            raise InkError(f"the region {x},{y},{width},{height} contains no pixel of the image, {size}")
    if not keep.any():
        raise InkError(f"the mask excludes every pixel{'' if roi is None else ' of the region'}")
    box = ink_box(keep)
    return image.crop(box), keep[box]


def _run_steps(image: GreyImage, keep: Mask, options: InkOptions) -> list[Step]:
    if not ((image.opacity > 0) & keep).any():
        raise InkError("all pixels are transparent")
    is_grey = options.kind == "grey"
    if not is_grey and min(keep.shape) < MIN_SIDE:
        raise InkError(f"must be at least {MIN_SIDE} pixels wide and high, got {keep.shape[1]} × {keep.shape[0]}")
    max_side = options.max_side or (max(keep.shape) if is_grey else DEFAULT_MAX_SIDE)
    grey, keep = reduce_image(image.fill_transparent(options.ink), keep, max_side)
    if is_grey:
        return [Step("grey", grey), Step("ink", find_grey_ink(grey, keep, options.ink))]
    steps = (find_drawing if options.kind == "drawing" else find_watermark)(grey, keep, options)
    specks = DEFAULT_SPECKS[options.kind] if options.specks is None else options.specks
    return [Step("grey", grey), *steps, Step("ink", _remove_specks(steps[-1].image, specks))]


def _remove_specks(mass: Grey, share: float) -> Grey:
    """Remove connected ink that is shorter than a share of the extent of all ink."""
    from scipy.ndimage import find_objects, label

    numbers, _ = label(mass > 0, np.ones((3, 3), int))
    lengths = np.array([_longer_side(box) for box in find_objects(numbers)])
    shortest = min(share * _longer_side(ink_box(mass > 0)), lengths.max())
    stays = np.concatenate([[False], lengths >= shortest])
    return mass if stays[1:].all() else np.where(stays[numbers], mass, 0).astype(np.float32)


def _longer_side(box: tuple[slice, slice]) -> int:
    return max(side.stop - side.start for side in box)


def _read_steps(source: Source, argument: str, options: InkOptions) -> list[Step]:
    image = read_image(source, argument=argument)
    if image.note:
        warnings.warn(f"{image.name}: {image.note}", stacklevel=_validation.find_stacklevel())
    return extract_steps(image, options)
