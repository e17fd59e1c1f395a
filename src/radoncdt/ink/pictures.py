"""Image files as grey values from 0 to 1."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.float32]
Mask = NDArray[np.bool_]

SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"})
"""Files that are taken for images when a folder is read."""


class InkError(ValueError):
    """A file that holds no image, or an image that holds no ink."""


class Picture(NamedTuple):
    """What a file shows."""

    grey: Grey
    """Brightness from 0 to 1, (H, W)."""
    opacity: Grey
    """From 0, transparent, to 1, (H, W)."""
    note: str = ""
    """What of the file was left out, in words."""


def open_picture(path: str | os.PathLike[str]) -> Picture:
    """Read the first page of an image file in grey, turned as the camera was held.

    Raises
    ------
    InkError
        A ValueError: the message names the file and says why.
    """
    path = Path(path)
    with _errors_that_name(path):
        values, pages = _values(path)
    note = f"has {pages} pages, of which the first is read" if pages > 1 else ""
    return picture_of(values, str(path), note)


def picture_of(values: NDArray[Any], name: str, note: str = "") -> Picture:
    """Grey values of an array: (H, W) in grey, (H, W, 2) with opacity, (H, W, 3) in colours, (H, W, 4) with opacity."""
    if values.ndim not in (2, 3) or 0 in values.shape or (values.ndim == 3 and values.shape[2] not in (1, 2, 3, 4)):
        raise InkError(f"{name}: must have the shape (H, W) or (H, W, 1 to 4), got {values.shape}")
    if values.dtype.kind not in "biuf":
        raise InkError(f"{name}: must hold real numbers, got {values.dtype}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InkError(f"{name}: some pixels are not finite")
    largest = np.iinfo(values.dtype).max if values.dtype.kind in "iu" else 1
    planes = values[:, :, None] if values.ndim == 2 else values
    colours, opacity = planes, np.broadcast_to(np.float32(1), planes.shape[:2])
    if planes.shape[2] in (2, 4):
        colours, opacity = planes[:, :, :-1], planes[:, :, -1].astype(np.float32) / np.float32(largest)
    if colours.shape[2] == 3:
        grey = colours.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)  # as Pillow does
    else:
        grey = colours[:, :, 0].astype(np.float32 if values.dtype.itemsize < 4 else np.float64)
    if planes.shape[2] in (2, 4):
        opacity = np.clip(opacity, 0, 1)
    if values.dtype == bool or values.dtype == np.uint8:
        grey /= largest
        return Picture(grey, opacity, note)
    low, high = grey.min(), grey.max()
    return Picture(((grey - low) / (high - low if high > low else 1)).astype(np.float32), opacity, note)


@contextmanager
def _errors_that_name(path: Path) -> Iterator[None]:
    from PIL import Image, UnidentifiedImageError

    try:
        yield
    except FileNotFoundError:
        broken = path.is_symlink()
        raise InkError(f"{path}: {'is a link to nothing' if broken else 'there is no such file'}") from None
    except IsADirectoryError:
        raise InkError(f"{path}: is a folder, not an image") from None
    except PermissionError:
        raise InkError(f"{path}: must not be read by you (no permission)") from None
    except UnidentifiedImageError:
        what = "is empty" if path.stat().st_size == 0 else "is no image that Pillow knows"
        raise InkError(f"{path}: {what}") from None
    except Image.DecompressionBombError:
        most = 2 * (Image.MAX_IMAGE_PIXELS or 0)
        raise InkError(f"{path}: has more than {most} pixels; reduce its size first") from None
    except MemoryError:
        raise InkError(f"{path}: there is not enough memory to read it") from None
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError) as error:
        raise InkError(f"{path}: cannot be read: {error}") from None  # decoders raise all of these at damaged files


def _values(path: Path) -> tuple[NDArray[Any], int]:
    """Pixels of the first page as Pillow, or for colours of 16 bits tifffile, decodes them, and how many pages."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    if path.is_dir():
        raise IsADirectoryError
    if path.exists() and not path.is_file():
        raise OSError("it is no regular file")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of metadata, and of sizes: twice as large is an error
        try:
            with Image.open(path) as file:
                if file.format == "TIFF" and _is_deep(getattr(file, "tag_v2", {})):
                    return _deep_tiff(path)
                pages = int(getattr(file, "n_frames", 1))
                turned = ImageOps.exif_transpose(file)
                deep = turned.mode in ("I", "F") or turned.mode.startswith("I;16")
                clear = turned.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in turned.info
                return np.asarray(turned if deep else turned.convert("LA" if clear else "L")), pages
        except UnidentifiedImageError:
            if path.suffix.lower() not in (".tif", ".tiff") or path.stat().st_size == 0:
                raise
            return _deep_tiff(path)


def _is_deep(tags: Any) -> bool:
    """Whether a TIFF file has several samples a pixel of more than 8 bits."""
    bits = tags.get(258, (1,))
    return int(tags.get(277, 1)) > 1 and max(bits if isinstance(bits, tuple) else (bits,)) > 8


def _deep_tiff(path: Path) -> tuple[NDArray[Any], int]:
    """Colours of 16 bits, which Pillow does not read."""
    from PIL import Image, UnidentifiedImageError
    from tifffile import TiffFile, TiffFileError

    try:
        with TiffFile(path) as file:
            page = file.pages[0]
            if page.size > 4 * 2 * (Image.MAX_IMAGE_PIXELS or np.inf):
                raise Image.DecompressionBombError
            values = page.asarray()
            return (np.moveaxis(values, 0, -1) if values.ndim == 3 and values.shape[0] in (3, 4) else values), len(
                file.pages
            )
    except TiffFileError:
        raise UnidentifiedImageError from None


def readable(name: str | os.PathLike[str]) -> str:
    """A file name that any terminal or file can show, whatever bytes it is made of."""
    return os.fsencode(name).decode("utf-8", "replace")


def image_files(paths: list[Any]) -> list[Path]:
    """The files among paths, and the image files in the folders among them, sorted."""
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found += sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and not file.is_dir())
        else:
            found.append(path)
    return found
