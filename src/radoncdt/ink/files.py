"""Image files as grey values from 0 to 1."""

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._validation import ArgumentTypeError, ArgumentValueError

Grey = NDArray[np.float32]
Mask = NDArray[np.bool_]
Source = Any
"""A path, an array, a Pillow image, or a file opened to read bytes."""

SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"})
"""Files that are taken for images when a folder is read."""


LARGEST = 2**31
"""Bytes of the largest file that is read."""


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


def open_picture(source: Source, data: bytes | None = None, *, argument: str = "source") -> Picture:
    """Read the first page of an image in grey, turned as the camera was held.

    Parameters
    ----------
    source : path, array (H, W) or (H, W, 1 to 4), Pillow image, or file opened to read bytes
    data : bytes, optional
        The content of the file at a path, if it has been read.
    argument : str
        The name of `source` in messages, where it has none of its own.

    Raises
    ------
    InkError
        A ValueError: the message names the file and says why.
    """
    from PIL import Image

    name = name_of(source, argument)
    if isinstance(source, Image.Image):
        with _errors_that_name(name):
            values = _pixels(source)
        return picture_of(values, name)
    if isinstance(source, (str, os.PathLike)):
        with _opened(Path(source)) if data is None else BytesIO(data) as file:
            return _picture_in(file, name)
    if hasattr(source, "read"):
        return _picture_in(_seekable(source, argument), name)
    if isinstance(source, bytes):
        raise ArgumentTypeError(argument, f"must not be bytes; wrap them in io.BytesIO, got {len(source):,} bytes")
    return picture_of(_validation.check_array(source, argument), name)


def name_of(source: Source, argument: str) -> str:
    """How messages call an image: by its file, if it has one, or by the name of the argument."""
    path = source.name if hasattr(source, "read") and hasattr(source, "name") else source
    return str(path) if isinstance(path, (str, os.PathLike)) else f"`{argument}`"


def is_picture(source: object) -> bool:
    """Whether this is a path, a Pillow image or an open file, rather than an array."""
    from PIL import Image

    return isinstance(source, (str, os.PathLike, Image.Image)) or hasattr(source, "read")


def _picture_in(file: IO[bytes], name: str) -> Picture:
    with _errors_that_name(name, file):
        values, pages = _values(file)
    note = f"has {pages} pages, of which the first is read" if pages > 1 else ""
    return picture_of(values, name, note)


def _seekable(file: Any, argument: str) -> IO[bytes]:
    """A file that can be read from its beginning, whatever was read of it; the rest of one that cannot."""
    if isinstance(file, io.TextIOBase):
        raise ArgumentTypeError(argument, "must be a file opened to read bytes, got one opened to read text")
    if getattr(file, "closed", False):
        raise ArgumentValueError(argument, "must be an open file, got one that is closed")
    if not hasattr(file, "seekable") or not file.seekable():
        return BytesIO(file.read())
    file.seek(0)
    seekable: IO[bytes] = file
    return seekable


def read_bytes(path: Path) -> bytes:
    """The content of an image file, or an InkError that says why it cannot be read.

    The file is read only if its beginning is that of an image.
    """
    with _opened(path) as file:
        with _errors_that_name(str(path), file):
            _check_beginning(file)
        file.seek(0)
        return file.read()


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """A file of a size that can be read."""
    try:
        if path.is_dir():
            raise InkError(f"{path}: is a folder, not an image")
        if path.exists() and not path.is_file():
            raise InkError(f"{path}: cannot be read: it is not a regular file")
        if path.stat().st_size > LARGEST:
            raise InkError(f"{path}: must not have more than {LARGEST:,} bytes, got {path.stat().st_size:,}")
        with path.open("rb") as file:
            yield file
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
def _errors_that_name(name: str, file: IO[bytes] | None = None) -> Iterator[None]:
    from PIL import Image, UnidentifiedImageError

    try:
        yield
    except UnidentifiedImageError:
        empty = file is not None and file.seek(0, os.SEEK_END) == 0
        raise InkError(f"{name}: {'is empty' if empty else 'is not an image of a known format'}") from None
    except Image.DecompressionBombError:
        most = 2 * (Image.MAX_IMAGE_PIXELS or 0)
        raise InkError(f"{name}: has more than {most} pixels; reduce its size first") from None
    except MemoryError:
        raise InkError(f"{name}: there is not enough memory to read it") from None
    except Exception as error:  # decoders raise whatever comes their way at damaged files
        raise InkError(f"{name}: cannot be read: {error}") from None


def _check_beginning(file: IO[bytes]) -> None:
    """Refuse a file that does not begin as an image does, without reading the rest of it."""
    from PIL import Image, UnidentifiedImageError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(file):
                pass
        except UnidentifiedImageError:
            if not _may_be_deep(file):
                raise
            from tifffile import TiffFile

            file.seek(0)
            with TiffFile(file) as tiff:
                tiff.pages[0]


def _may_be_deep(file: IO[bytes]) -> bool:
    """Whether a file that Pillow does not know begins as a TIFF file does."""
    file.seek(0)
    return file.read(2) in (b"II", b"MM")


def _values(file: IO[bytes]) -> tuple[NDArray[Any], int]:
    """Pixels of the first page as Pillow, or for colours of 16 bits tifffile, decodes them, and how many pages."""
    from PIL import Image, UnidentifiedImageError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of metadata, and of sizes: twice as large is an error
        try:
            with Image.open(file) as image:
                if _is_deep(_tags(image)):
                    return _deep_tiff(file)
                pages = int(getattr(image, "n_frames", 1))
                return _pixels(image), pages
        except UnidentifiedImageError:
            if not _may_be_deep(file):
                raise
            return _deep_tiff(file)


def _pixels(image: Any) -> NDArray[Any]:
    """Pixels of a Pillow image as they are, if of more than 8 bits, or else in grey, with opacity if it has any."""
    from PIL import ImageOps

    turned = ImageOps.exif_transpose(image)
    if turned.mode in ("I", "F") or turned.mode.startswith("I;16"):
        values = np.asarray(turned)
        return -values.astype(np.float64) if _tags(image).get(PHOTOMETRIC) == 0 else values
    clear = turned.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in turned.info
    return np.asarray(turned.convert("LA" if clear else "L"))


def _tags(image: Any) -> Any:
    return getattr(image, "tag_v2", {}) if image.format == "TIFF" else {}


PHOTOMETRIC, ORIENTATION, BITS, SAMPLES = 262, 274, 258, 277
"""Tags of TIFF files."""


def _is_deep(tags: Any) -> bool:
    """Whether a TIFF file has several samples a pixel of more than 8 bits."""
    bits = tags.get(BITS, (1,))
    return int(tags.get(SAMPLES, 1)) > 1 and max(bits if isinstance(bits, tuple) else (bits,)) > 8


def _deep_tiff(file: IO[bytes]) -> tuple[NDArray[Any], int]:
    """Colours of 16 bits, which Pillow does not read."""
    from PIL import Image, UnidentifiedImageError
    from tifffile import TiffFile, TiffFileError

    try:
        file.seek(0)
        with TiffFile(file) as tiff:
            page: Any = tiff.pages[0]
            if page.imagewidth * page.imagelength > 2 * (Image.MAX_IMAGE_PIXELS or np.inf):
                raise Image.DecompressionBombError
            values, pages = page.asarray(), len(tiff.pages)
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
