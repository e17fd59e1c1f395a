"""Image files as grey values from 0 to 1."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._text import printable

Grey = NDArray[np.float32]
Mask = NDArray[np.bool_]

SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"})
"""Files that are taken for images when a folder is read."""

readable = printable
"""The former name of this function."""


LARGEST = 2**31
"""Bytes of a file that is read."""


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


def open_picture(path: str | os.PathLike[str], data: bytes | None = None) -> Picture:
    """Read the first page of an image file in grey, turned as the camera was held.

    Parameters
    ----------
    path : path
    data : bytes, optional
        The content of the file, if it has been read.

    Raises
    ------
    InkError
        A ValueError: the message names the file and says why.
    """
    path = Path(path)
    data = read_bytes(path) if data is None else data
    with _errors_that_name(path, data):
        values, pages = _values(data)
    note = f"has {pages} pages, of which the first is read" if pages > 1 else ""
    return picture_of(values, str(path), note)


def read_bytes(path: Path) -> bytes:
    """The content of a file, or an InkError that says why it cannot be read."""
    try:
        if path.is_dir():
            raise InkError(f"{path}: is a folder, not an image")
        if path.exists() and not path.is_file():
            raise InkError(f"{path}: cannot be read: it is no regular file")
        if path.stat().st_size > LARGEST:
            raise InkError(f"{path}: must not have more than {LARGEST:,} bytes, got {path.stat().st_size:,}")
        return path.read_bytes()
    except FileNotFoundError:
        broken = path.is_symlink()
        raise InkError(f"{path}: {'is a link to nothing' if broken else 'there is no such file'}") from None
    except PermissionError:
        raise InkError(f"{path}: must not be read by you (no permission)") from None
    except MemoryError:
        raise InkError(f"{path}: there is not enough memory to read it") from None
    except OSError as error:
        raise InkError(f"{path}: cannot be read: {error.strerror or error}") from None


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
    scaled = (grey - low) / (high - low) if high > low else (grey > 0).astype(np.float32)
    return Picture(scaled.astype(np.float32), opacity, note)


@contextmanager
def _errors_that_name(path: Path, data: bytes) -> Iterator[None]:
    from PIL import Image, UnidentifiedImageError

    try:
        yield
    except UnidentifiedImageError:
        what = "is no image that Pillow knows" if data else "is empty"
        raise InkError(f"{path}: {what}") from None
    except Image.DecompressionBombError:
        most = 2 * (Image.MAX_IMAGE_PIXELS or 0)
        raise InkError(f"{path}: has more than {most} pixels; reduce its size first") from None
    except MemoryError:
        raise InkError(f"{path}: there is not enough memory to read it") from None
    except Exception as error:  # decoders raise whatever comes their way at damaged files
        raise InkError(f"{path}: cannot be read: {error}") from None


def _values(data: bytes) -> tuple[NDArray[Any], int]:
    """Pixels of the first page as Pillow, or for colours of 16 bits tifffile, decodes them, and how many pages."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of metadata, and of sizes: twice as large is an error
        try:
            with Image.open(BytesIO(data)) as file:
                tags = getattr(file, "tag_v2", {}) if file.format == "TIFF" else {}
                if _is_deep(tags):
                    return _deep_tiff(data)
                pages = int(getattr(file, "n_frames", 1))
                turned = ImageOps.exif_transpose(file)
                deep = turned.mode in ("I", "F") or turned.mode.startswith("I;16")
                if deep:
                    values = np.asarray(turned)
                    return (-values.astype(np.float64) if tags.get(PHOTOMETRIC) == 0 else values), pages
                clear = turned.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in turned.info
                return np.asarray(turned.convert("LA" if clear else "L")), pages
        except UnidentifiedImageError:
            if data[:2] not in (b"II", b"MM"):
                raise
            return _deep_tiff(data)


PHOTOMETRIC, ORIENTATION, BITS, SAMPLES = 262, 274, 258, 277
"""Tags of TIFF files."""


def _is_deep(tags: Any) -> bool:
    """Whether a TIFF file has several samples a pixel of more than 8 bits."""
    bits = tags.get(BITS, (1,))
    return int(tags.get(SAMPLES, 1)) > 1 and max(bits if isinstance(bits, tuple) else (bits,)) > 8


def _deep_tiff(data: bytes) -> tuple[NDArray[Any], int]:
    """Colours of 16 bits, which Pillow does not read."""
    from PIL import Image, UnidentifiedImageError
    from tifffile import TiffFile, TiffFileError

    try:
        with TiffFile(BytesIO(data)) as file:
            page: Any = file.pages[0]
            if page.imagewidth * page.imagelength > 2 * (Image.MAX_IMAGE_PIXELS or np.inf):
                raise Image.DecompressionBombError
            values, pages = page.asarray(), len(file.pages)
            photometric, extra = int(page.photometric), tuple(int(kind) for kind in page.extrasamples)
            orientation = page.tags.get(ORIENTATION)
    except TiffFileError:
        raise UnidentifiedImageError from None
    if values.ndim == 3 and values.shape[:2] != (page.imagelength, page.imagewidth):
        values = np.moveaxis(values, 0, -1)
    if values.ndim == 3:
        colours = {5: 4, 2: 3}.get(photometric, 1)
        clear = values[..., colours : colours + 1] if extra[:1] in ((1,), (2,)) else values[..., :0]
        if photometric == 5:  # cyan, magenta, yellow, black
            whole = np.iinfo(values.dtype).max
            light = (whole - values[..., :3].astype(np.float64)) * (1 - values[..., 3:4] / whole)
            values = np.concatenate([light, clear], axis=-1).astype(values.dtype)
        else:
            values = np.concatenate([values[..., :colours], clear], axis=-1)
    return _turned(values, int(orientation.value) if orientation is not None else 1), pages


def _turned(values: NDArray[Any], orientation: int) -> NDArray[Any]:
    """As EXIF says the camera was held."""
    if orientation in (5, 6, 7, 8):
        values = values.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        values = values[::-1]
    if orientation in (2, 3, 6, 7):
        values = values[:, ::-1]
    return values


def image_files(paths: list[Any]) -> list[Path]:
    """The files among paths, and the image files in the folders among them, sorted."""
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found += sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and not file.is_dir())
        else:
            found.append(path)
    return found
