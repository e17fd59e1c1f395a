"""Thumbnails: small PNG files of the ink of entries and queries, dark on white."""

from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from radoncdt._extras import require

__all__ = ["THUMBNAIL_SIDE", "ink_box", "make_thumbnail", "read_thumbnail", "reduce_ink"]

THUMBNAIL_SIDE = 256  # pixels; maximum length of the longer side


def ink_box(ink: NDArray[np.float32]) -> tuple[slice, slice]:
    """Return the rows and columns of the bounding box of the ink."""
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


def reduce_ink(ink: NDArray[np.float32], side: int) -> NDArray[np.float32]:
    """Reduce an image by an integer factor until no side is longer than `side`, and scale its maximum to 1."""
    image = require("PIL.Image", "making thumbnails")
    factor = -(-max(ink.shape) // side)
    small = np.asarray(image.fromarray(ink.astype(np.float32)).reduce(factor)) if factor > 1 else ink
    return np.clip(small / max(float(small.max()), 1e-9), 0, 1)


def make_thumbnail(ink: NDArray[np.float32]) -> bytes:
    """Return a thumbnail of ink as the bytes of a PNG file."""
    pixels = np.rint(255 * (1 - reduce_ink(ink, THUMBNAIL_SIDE))).astype(np.uint8)
    buffer = BytesIO()
    require("PIL.Image", "making thumbnails").fromarray(pixels).save(buffer, "PNG", compress_level=6)
    return buffer.getvalue()


def read_thumbnail(png: bytes) -> NDArray[np.float32]:
    """Return the ink that a thumbnail shows, from 0 to 1. Raises ValueError if the bytes are not a thumbnail."""
    image = require("PIL.Image", "reading thumbnails")
    try:
        with image.open(BytesIO(png), formats=["PNG"]) as file:
            if not max(file.size) <= THUMBNAIL_SIDE:  # checked before anything is decompressed
                raise ValueError(f"it must not be larger than {THUMBNAIL_SIDE} pixels, got {file.size}")
            return np.float32(1) - np.asarray(file.convert("L"), np.float32) / np.float32(255)
    except Exception as error:  # Pillow raises errors of many kinds for damaged files
        raise ValueError(str(error)) from error
