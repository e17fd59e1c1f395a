"""Thumbnails: small PNG files of ink, dark on white, overlays of two of them, and pictures that are part of a page."""

import base64
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt._extras import require
from radoncdt._typing import Floats

__all__ = [
    "PICTURE_SIDE",
    "THUMBNAIL_SIDE",
    "draw_ink",
    "draw_overlay",
    "embed",
    "embed_ink",
    "make_thumbnail",
    "read_thumbnail",
    "reduction",
]

THUMBNAIL_SIDE = 256  # pixels; maximum length of the longer side
PICTURE_SIDE = 192  # pixels; maximum length of the longer side of a picture in a page

_MARGIN = 0.08  # margin around the fixed ink for parts of the moved ink beyond it, as a share of the longer side
_MOVED_COLOUR, _FIXED_COLOUR = (1.0, 0.45, 0.0), (0.1, 0.45, 0.9)  # orange and blue, distinct for the colour-blind
_MIN_SCALE = 0.01  # smaller changes of size are drawn with the blur of this one
_INK_COLOURS, _PICTURE_COLOURS = 4, 64  # colours of pictures of ink, and of all others; overlays mix rare ones


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


def reduction(shape: tuple[int, int]) -> Floats:
    """Return the map (3, 3) from (column, row, 1) of an image of this shape to those of its thumbnail."""
    factor = -(-max(shape) // THUMBNAIL_SIDE)
    offset = 0.5 / factor - 0.5
    return np.array([[1 / factor, 0, offset], [0, 1 / factor, offset], [0, 0, 1]])


def draw_overlay(moving: NDArray[np.float32], fixed: NDArray[np.float32], pixel_map: Floats) -> NDArray[np.uint8]:
    """Draw moved ink in orange over fixed ink in blue. Return colours (H, W, 3).

    `pixel_map` (3, 3) takes (column, row, 1) of the moving ink to those of the fixed ink.
    """
    from scipy.ndimage import gaussian_filter

    transform = require("skimage.transform", "drawing overlays")
    margin = round(_MARGIN * max(fixed.shape))
    fixed = np.pad(fixed, margin)
    whole = np.array([[1, 0, margin], [0, 1, margin], [0, 0, 1]]) @ pixel_map
    scale = max(float(np.sqrt(abs(np.linalg.det(whole[:2, :2])))), _MIN_SCALE)
    if scale < 1:  # lines must not vanish when they are drawn smaller
        moving = gaussian_filter(moving, 0.5 * np.sqrt(1 / scale**2 - 1))
    moved = transform.warp(moving, np.linalg.inv(whole), output_shape=fixed.shape, order=1)
    darkness = sum(
        np.clip(image, 0, 1)[:, :, None] * (1 - np.array(colour))
        for image, colour in ((moved, _MOVED_COLOUR), (fixed, _FIXED_COLOUR))
    )
    return np.rint(255 * np.clip(1 - darkness, 0, 1)).astype(np.uint8)


def embed_ink(ink: NDArray[np.float32]) -> str:
    """Return dark ink on white as a data URI."""
    return embed(draw_ink(ink), _INK_COLOURS)


def embed(pixels: NDArray[np.uint8], n_colours: int = _PICTURE_COLOURS) -> str:
    """Return a small picture with few colours as a data URI."""
    image: Any = require("PIL.Image", "writing a report").fromarray(pixels)
    image.thumbnail((PICTURE_SIDE, PICTURE_SIDE))
    buffer = BytesIO()
    image.quantize(n_colours).save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
