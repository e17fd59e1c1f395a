"""Image files, Pillow images and open files as grey images."""

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from io import BytesIO, TextIOBase
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._extras import MissingExtraError, require
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.ink.image import GreyImage, InkError

__all__ = ["Source", "image_files", "is_array", "read_bytes", "read_image"]

Source: TypeAlias = Any  # a path, an array, a Pillow image, or a file opened to read bytes

_SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"})
_MAX_BYTES = 2**31  # size of the largest file that is read
_PHOTOMETRIC, _ORIENTATION, _BITS, _SAMPLES = 262, 274, 258, 277  # tags of TIFF files
_WHITE_IS_ZERO, _RGB, _CMYK = 0, 2, 5  # values of the tag _PHOTOMETRIC
_PURPOSE = "reading image files"


def image_files(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """List the files among paths and the image files in the folders among them, sorted within each folder.

    Files in folders are found by their suffixes, such as .png, .jpg or .tif. Subfolders are searched, too.

    Parameters
    ----------
    paths : iterable of paths
        Files, which are returned whatever their suffix, and folders.

    Returns
    -------
    list of Path
        The files in the order of `paths`.

    See Also
    --------
    read_ink : Read one of the files.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from radoncdt.ink import image_files
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("star.png", "notes.txt", "crown.jpg"):
    ...         Path(folder, name).touch()
    ...     print([file.name for file in image_files([folder])])
    ['crown.jpg', 'star.png']
    """
    return [file for path in map(Path, paths) for file in (_list_folder(path) if path.is_dir() else [path])]


def _list_folder(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.suffix.lower() in _SUFFIXES and not file.is_dir())


def is_array(source: Source) -> bool:
    """Whether a source is an array, rather than a path, a Pillow image or an open file."""
    pillow = sys.modules.get("PIL.Image")  # if Pillow is not imported, no source is a Pillow image
    is_pillow_image = pillow is not None and isinstance(source, pillow.Image)
    return not (is_pillow_image or isinstance(source, (str, os.PathLike)) or hasattr(source, "read"))


def read_image(source: Source, *, argument: str = "source", name: str | None = None) -> GreyImage:
    """Read the first page of an image in grey and apply its EXIF orientation.

    Messages call the image `name`, by default its path or else the name of the argument.
    """
    name = _name_of(source, argument) if name is None else name
    if isinstance(source, bytes):
        raise ArgumentTypeError(argument, f"must not be bytes; wrap them in io.BytesIO, got {len(source):,} bytes")
    if is_array(source):
        return GreyImage.from_array(_validation.check_array(source, argument), name)
    if isinstance(source, (str, os.PathLike)):
        with _open(Path(source)) as file:
            return _decode(file, name)
    return _decode(_rewind(source, argument) if hasattr(source, "read") else source, name)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, or raise an InkError if its header is not that of an image."""
    with _open(path) as file, _explain_errors(str(path), file):
        with _open_image(file) as image:
            if image is None:
                file.seek(0)
                with require("tifffile", _PURPOSE).TiffFile(file) as tiff:
                    tiff.pages[0]
        file.seek(0)
        return file.read()


def _name_of(source: Source, argument: str) -> str:
    path = source.name if hasattr(source, "read") and hasattr(source, "name") else source
    return str(path) if isinstance(path, (str, os.PathLike)) else f"`{argument}`"


def _rewind(file: Any, argument: str) -> Any:
    """Return a file at its beginning; if it cannot be rewound, return the rest of it in memory."""
    if isinstance(file, TextIOBase):
        raise ArgumentTypeError(argument, "must be a file opened to read bytes, got one opened to read text")
    if getattr(file, "closed", False):
        raise ArgumentValueError(argument, "must be an open file, got one that is closed")
    if not hasattr(file, "seekable") or not file.seekable():
        return BytesIO(file.read())
    file.seek(0)
    return file


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    """Open a regular file that is not too large."""
    try:
        if path.is_dir():
            raise InkError(f"{path}: is a folder, not an image file")
        if path.exists() and not path.is_file():
            raise InkError(f"{path}: not a regular file")
        if (size := path.stat().st_size) > _MAX_BYTES:
            raise InkError(f"{path}: must have at most {_MAX_BYTES:,} bytes, got {size:,}")
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise InkError(f"{path}: {'broken symbolic link' if path.is_symlink() else 'no such file'}") from None
    except PermissionError:
        raise InkError(f"{path}: permission denied") from None
    except OSError as error:
        raise InkError(f"{path}: cannot be read: {error.strerror or error}") from None


@contextmanager
def _explain_errors(name: str, source: Any) -> Iterator[None]:
    """Turn every error of a decoder into an InkError that names the image."""
    pillow = require("PIL.Image", _PURPOSE)
    try:
        yield
    except (InkError, MissingExtraError):
        raise
    except pillow.UnidentifiedImageError:
        is_empty = source.seek(0, os.SEEK_END) == 0
        raise InkError(f"{name}: {'empty file' if is_empty else 'unrecognised image format'}") from None
    except pillow.DecompressionBombError:
        raise InkError(f"{name}: has more than {2 * pillow.MAX_IMAGE_PIXELS:,} pixels; reduce its size first") from None
    except MemoryError:
        raise InkError(f"{name}: not enough memory to read the image") from None
    except Exception as error:  # decoders raise errors of any type if a file is damaged
        raise InkError(f"{name}: cannot be read: {error}") from None


def _decode(source: Any, name: str) -> GreyImage:
    """Decode an open file or a Pillow image."""
    with _explain_errors(name, source):
        values, pages = _read_page(source) if hasattr(source, "read") else (_pixels(source), 1)
        return GreyImage.from_array(values, name, f"only the first of {pages} pages is read" if pages > 1 else "")


@contextmanager
def _open_image(file: IO[bytes]) -> Iterator[Any]:
    """Open a file with Pillow, or yield None if Pillow does not recognise it but it begins like a TIFF file."""
    pillow, image = require("PIL.Image", _PURPOSE), None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of damaged metadata, or of images above half of Pillow's limit
        try:
            image = pillow.open(file)
        except pillow.UnidentifiedImageError:
            file.seek(0)
            if file.read(2) not in (b"II", b"MM"):
                raise
        with image or nullcontext():
            yield image


def _read_page(file: IO[bytes]) -> tuple[NDArray[Any], int]:
    """Decode the first page with Pillow, or with tifffile if it has deep colours, and count the pages."""
    with _open_image(file) as image:
        if image is None or _has_deep_colours(_tags(image)):
            return _read_deep_tiff(file)
        return _pixels(image), int(getattr(image, "n_frames", 1))


def _pixels(image: Any) -> NDArray[Any]:
    """Return the pixels of a Pillow image: unchanged if deeper than 8 bits, and otherwise in grey, with any opacity."""
    upright = require("PIL.ImageOps", _PURPOSE).exif_transpose(image)
    if upright.mode in ("I", "F") or upright.mode.startswith("I;16"):
        values = np.asarray(upright)
        return -values.astype(np.float64) if _tags(image).get(_PHOTOMETRIC) == _WHITE_IS_ZERO else values
    has_opacity = upright.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in upright.info
    return np.asarray(upright.convert("LA" if has_opacity else "L"))


def _tags(image: Any) -> Any:
    return getattr(image, "tag_v2", {}) if image.format == "TIFF" else {}


def _has_deep_colours(tags: Any) -> bool:
    """Whether a TIFF file has several samples per pixel with more than 8 bits, which Pillow cannot read."""
    return int(tags.get(_SAMPLES, 1)) > 1 and bool(np.max(tags.get(_BITS, 1)) > 8)


def _read_deep_tiff(file: IO[bytes]) -> tuple[NDArray[Any], int]:
    """Decode the first page of a TIFF file with tifffile, and count the pages."""
    tifffile, pillow = require("tifffile", _PURPOSE), require("PIL.Image", _PURPOSE)
    try:
        file.seek(0)
        with tifffile.TiffFile(file) as tiff:
            page: Any = tiff.pages[0]
            if page.imagewidth * page.imagelength > 2 * (pillow.MAX_IMAGE_PIXELS or np.inf):
                raise pillow.DecompressionBombError
            values, pages = page.asarray(), len(tiff.pages)
            photometric, extra = int(page.photometric), tuple(int(kind) for kind in page.extrasamples)
            orientation = page.tags.get(_ORIENTATION)
    except tifffile.TiffFileError:
        raise pillow.UnidentifiedImageError from None
    if values.ndim == 3 and values.shape[:2] != (page.imagelength, page.imagewidth):
        values = np.moveaxis(values, 0, -1)
    if values.ndim == 3:
        colours = {_CMYK: 4, _RGB: 3}.get(photometric, 1)
        opacity = values[..., colours : colours + 1] if extra[:1] in ((1,), (2,)) else values[..., :0]
        if photometric == _CMYK:
            whole = np.iinfo(values.dtype).max
            light = (whole - values[..., :3].astype(np.float64)) * (1 - values[..., 3:4] / whole)
            values = np.concatenate([light, opacity], axis=-1).astype(values.dtype)
        else:
            values = np.concatenate([values[..., :colours], opacity], axis=-1)
    return _turn_upright(values, int(orientation.value) if orientation is not None else 1), pages


def _turn_upright(values: NDArray[Any], orientation: int) -> NDArray[Any]:
    """Undo the orientation of EXIF."""
    upright = values.swapaxes(0, 1) if orientation in (5, 6, 7, 8) else values
    vertical, horizontal = (-1 if orientation in mirrored else 1 for mirrored in ((3, 4, 7, 8), (2, 3, 6, 7)))
    return upright[::vertical, ::horizontal]
