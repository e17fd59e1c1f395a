"""Thumbnails and overlays: they show the ink, and damaged ones are refused."""

import base64
from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

from radoncdt._thumbnails import (
    THUMBNAIL_SIDE,
    draw_ink,
    draw_overlay,
    embed,
    make_thumbnail,
    read_thumbnail,
    reduction,
)


@pytest.mark.parametrize("shape", [(5, 9), (256, 256), (257, 40), (3000, 2), (700, 1000)])
def test_a_thumbnail_shows_the_ink_on_a_small_side(shape):
    ink = np.zeros(shape, np.float32)
    ink[: shape[0] // 2] = 0.5
    shown = read_thumbnail(make_thumbnail(ink))
    factor = -(-max(shape) // THUMBNAIL_SIDE)
    assert shown.shape == tuple(-(-side // factor) for side in shape)
    assert shown.max() == 1
    assert_allclose(shown.mean(), 2 * ink.mean(), atol=0.03)
    assert draw_ink(ink).min() == 0


def test_damaged_and_large_thumbnails_are_refused():
    png = make_thumbnail(np.eye(20, dtype=np.float32))
    large = BytesIO()
    Image.new("L", (THUMBNAIL_SIDE + 1, 1)).save(large, "PNG")
    for data in (b"", b"no picture", png[:40], large.getvalue()):
        with pytest.raises(ValueError, match="its thumbnail cannot be read"):
            read_thumbnail(data)


@pytest.mark.parametrize(("large", "small"), [((300, 900), (100, 120)), ((90, 70), (1100, 500)), ((40, 40), (50, 60))])
def test_an_overlay_of_thumbnails_is_dark_where_both_have_ink(large, small):
    """Both rectangles fill a quarter of their images, and the map takes one image to the other."""
    images = []
    for height, width in (large, small):
        images.append(np.zeros((height, width), np.float32))
        images[-1][: height // 2, : width // 2] = 1
    scale = np.array(small) / large
    whole = np.diag([scale[1], scale[0], 1.0])
    whole[:2, 2] = (scale[::-1] - 1) / 2
    moving, fixed = (read_thumbnail(make_thumbnail(image)) for image in images)
    pixel_map = reduction(small) @ whole @ np.linalg.inv(reduction(large))
    picture = draw_overlay(moving, fixed, pixel_map) / 255
    dark, coloured = (picture.max(axis=2) < 0.3).sum(), (np.ptp(picture, axis=2) > 0.3).sum()
    assert dark == pytest.approx(fixed.sum(), rel=0.08)
    assert coloured < 0.08 * dark
    away = np.array([[1, 0, 2 * fixed.shape[1]], [0, 1, 0], [0, 0, 1]])
    shifted = draw_overlay(moving, fixed, away @ pixel_map) / 255
    assert shifted[..., 2].min() > 0.3  # the fixed ink is blue, and the moved one outside


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e9])
def test_overlays_of_extreme_maps_are_drawn(scale):
    picture = draw_overlay(np.eye(30, dtype=np.float32), np.eye(20, dtype=np.float32), np.diag([scale, scale, 1]))
    assert picture.shape == (24, 24, 3)


def test_an_overlay_in_a_page_keeps_rare_colours():
    """A few orange lines stay orange beside much blue of all shades."""
    fixed = np.zeros((192, 192), np.float32)
    fixed[20:170, 20:170] = np.linspace(0, 1, 150)
    moving = np.zeros_like(fixed)
    moving[178:180, 10:180] = 1
    picture = embed(draw_overlay(moving, fixed, np.eye(3)))
    shown = np.asarray(Image.open(BytesIO(base64.b64decode(picture.partition(",")[2]))).convert("RGB")).astype(int)
    red, green, blue = np.moveaxis(shown, 2, 0)
    assert ((red > 200) & (green < 180) & (blue < 100)).sum() > 150
