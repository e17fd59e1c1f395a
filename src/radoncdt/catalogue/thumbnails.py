"""Thumbnails: small PNG files of the ink of entries and queries, dark on white."""

from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from radoncdt._extras import require

__all__ = ["THUMBNAIL_SIDE", "draw_ink", "make_thumbnail", "read_thumbnail"]

THUMBNAIL_SIDE = 256  # pixels; maximum length of the longer side


def draw_ink(ink: NDArray[np.float32], side: int = THUMBNAIL_SIDE) -> NDArray[np.uint8]:
    """Draw ink dark on white, reduced by an integer factor so that no side is longer than `side`."""
    image = require("PIL.Image", "making thumbnails")
    factor = -(-max(ink.shape) // side)
    small = np.asarray(image.fromarray(ink.astype(np.float32)).reduce(factor)) if factor > 1 else ink
    small = np.clip(small / max(float(small.max()), 1e-9), 0, 1)
    return np.rint(255 * (1 - small)).astype(np.uint8)


def make_thumbnail(ink: NDArray[np.float32]) -> bytes:
    """Return a thumbnail of ink as the bytes of a PNG file."""
    buffer = BytesIO()
    require("PIL.Image", "making thumbnails").fromarray(draw_ink(ink)).save(buffer, "PNG", compress_level=6)
    return buffer.getvalue()


def read_thumbnail(png: bytes) -> NDArray[np.float32]:
    """Return the ink that a thumbnail shows, from 0 to 1. Raises ValueError if it is damaged."""
    image = require("PIL.Image", "reading thumbnails")
    try:
        with image.open(BytesIO(png), formats=["PNG"]) as file:
            if not max(file.size) <= THUMBNAIL_SIDE:  # checked before anything is decompressed
                raise ValueError(f"it must not be larger than {THUMBNAIL_SIDE} pixels, got {file.size}")
            return np.float32(1) - np.asarray(file.convert("L"), np.float32) / np.float32(255)
    except Exception as error:  # Pillow raises errors of many kinds for damaged files
        raise ValueError(f"its thumbnail cannot be read: {error}") from error
