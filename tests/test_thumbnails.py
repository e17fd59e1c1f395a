"""Thumbnails: they show the ink, and damaged ones are refused."""

from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

from radoncdt._thumbnails import THUMBNAIL_SIDE, draw_ink, make_thumbnail, read_thumbnail


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
