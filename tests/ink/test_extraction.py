"""Regions, masks, steps, warnings and errors of `read_ink`, `find_ink` and `ink_steps`."""

import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pytest
from files import BAD, SHAPE, save
from numpy.testing import assert_array_equal
from PIL import Image

from radoncdt import datasets
from radoncdt.ink import InkError, InkOptions, find_ink, ink_steps, read_ink
from radoncdt.ink.extraction import assess_ink, extract_steps
from radoncdt.ink.files import read_image

MARK = datasets.watermarks(3)[2].image()
read_grey = partial(read_ink, kind="grey")


@pytest.mark.parametrize("kind", ["drawing", "grey"])
@pytest.mark.parametrize("name", BAD)
def test_files_without_a_drawing_are_refused_by_name(folder, name, kind):
    with pytest.raises(InkError, match=f"^{name}: {BAD[name]}"):
        read_ink(name, kind=kind)


@pytest.mark.parametrize("kind", ["drawing", "watermark", "grey"])
def test_transparent_images_are_refused(folder, kind):
    save("nothing.png", np.zeros((9, 9, 4)))
    with pytest.raises(InkError, match=r"^nothing\.png: all pixels are transparent$"):
        read_ink("nothing.png", kind=kind)


def test_find_ink_does_not_read_paths():
    with pytest.raises(TypeError, match=r"`image` must be an array, a Pillow image or an open file, got 'a.png'; see"):
        find_ink("a.png")


def test_arrays_that_are_not_images_are_refused():
    with pytest.raises(InkError, match="`image`: must have the shape"):
        find_ink(np.zeros((3, 4, 5, 6)))
    with pytest.raises(InkError, match="not finite"):
        find_ink(np.full((9, 9), np.nan))
    with pytest.raises(InkError, match="`source`: no pixel is darker"):
        read_ink(Image.new("L", (9, 9), 200))


# ---------------------------------------------------------------- regions


def test_a_region_leaves_the_rest_out(folder):
    page = np.full((100, 200), 255.0)
    page[20:80, 20:80] -= 255 * np.tri(60)
    page[10:90, 120:190] = 0
    save("two.png", page)
    alone = read_ink("two.png", kind="drawing", roi=(0, 0, 100, 100))
    assert alone.shape == (100, 100)
    assert_array_equal(alone[20:80, 20:80] > 0.5, np.tri(60) > 0)
    mask = np.zeros((100, 200))
    mask[:, :100] = 255
    save("mask.png", mask)
    assert_array_equal(read_ink("two.png", kind="drawing", mask="mask.png"), alone)
    assert_array_equal(read_ink("two.png", kind="drawing", mask=mask), alone)


def test_masks_may_be_any_source(folder):
    half = np.zeros(SHAPE.shape, np.uint8)
    half[:, :16] = 255
    save("mask.png", half)
    expected = read_grey("dark.png", mask="mask.png")
    with open("mask.png", "rb") as file:
        for mask in (half, Image.fromarray(half), file):
            assert_array_equal(read_grey("dark.png", mask=mask), expected)


def test_masks_of_one_value_and_thin_ones_work(folder):
    Image.fromarray(np.full(SHAPE.shape, 65535, np.uint16)).save("deep.png")
    assert_array_equal(read_grey("dark.png", mask="deep.png"), SHAPE)
    page = np.full((3000, 3000), 255, np.uint8)
    page[1000:2000, 1490:1510] = 0
    mask = np.zeros(page.shape)
    mask[::7, 1480:1520] = 1
    assert find_ink(page, kind="drawing", mask=mask).any()


@pytest.mark.parametrize(
    ("region", "message"),
    [
        ({"roi": (0, 0, 100)}, "`roi` must be four integers"),
        ({"roi": (0, 0, 1.5, 3)}, "`roi` must be four integers"),
        ({"roi": (500, 0, 10, 10)}, "500,0,10,10 contains no pixel of the image, which has 32 × 32 pixels"),
        ({"roi": (0, 0, 0, 10)}, "contains no pixel"),
        ({"mask": np.ones((3, 3))}, "the mask must be as large as the image, 32 × 32 pixels, got 3 × 3"),
        ({"mask": np.zeros((32, 32))}, "the mask excludes every pixel$"),
        ({"mask": np.eye(32), "roi": (0, 20, 9, 9)}, "the mask excludes every pixel of the region$"),
        ({"mask": "missing.png"}, r"^missing\.png: no such file$"),
    ],
)
def test_invalid_regions_are_refused(folder, region, message):
    with pytest.raises(ValueError, match=message):
        read_ink("dark.png", **region)


# ---------------------------------------------------------------- steps and warnings


@pytest.mark.parametrize(
    ("kind", "polarity", "names"),
    [
        ("grey", "auto", ["grey", "ink"]),
        ("drawing", "auto", ["grey", "light evened out", "above the threshold", "ink"]),
        ("watermark", "dark", ["grey", "light evened out", "mould lines suppressed", "ridges", "lines", "ink"]),
    ],
)
def test_all_steps_are_shown(folder, kind, polarity, names):
    save("big.png", 255 - 255 * MARK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        steps = ink_steps("big.png", kind=kind, ink=polarity)
        assert [step.name for step in steps] == names
        assert_array_equal(steps[-1].image, read_ink("big.png", kind=kind, ink=polarity))
        options = InkOptions(kind=kind, ink=polarity)
        assert_array_equal(steps[-1].image, extract_steps(read_image("big.png"), options)[-1].image)


def test_an_unlikely_share_of_ink_causes_a_warning():
    ink, drawing = np.zeros((100, 100), np.float32), InkOptions(kind="drawing")
    ink[:2, :2] = 1
    assert assess_ink(ink, drawing) == "0.04% of the image is ink; is 'drawing' the right kind?"
    assert assess_ink(1 - ink, InkOptions(kind="watermark")) == (
        "99.96% of the image is ink; is 'watermark' the right kind?"
    )
    assert assess_ink(ink, InkOptions(kind="grey")) is None
    ink[:10, :10] = 1
    assert assess_ink(ink, drawing) is None


# ---------------------------------------------------------------- optional packages

WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None  # so that importing it raises ModuleNotFoundError
import numpy as np
import radoncdt.ink
from radoncdt._extras import MissingExtraError
page = np.full((40, 60), 255, np.uint8)
page[10:30, 20:24] = 0
assert radoncdt.ink.find_ink(page, kind="grey").sum() == 80
assert radoncdt.ink.image_files(["a.png"])
try:
    {call}
except MissingExtraError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("missing", "call", "message"),
    [
        ("PIL", "radoncdt.ink.read_ink('dark.png')", "reading image files needs the package Pillow"),
        ("PIL", "radoncdt.ink.find_ink(page)", "finding the ink of drawings needs the package Pillow"),
        ("PIL", "radoncdt.ink.find_ink(page, kind='grey', max_side=30)", "reducing images needs the package Pillow"),
        ("skimage", "radoncdt.ink.find_ink(page)", "finding the ink of drawings needs the package scikit-image"),
        (
            "skimage",
            "radoncdt.ink.find_ink(page, kind='watermark')",
            "finding watermarks needs the package scikit-image",
        ),
        ("tifffile", "radoncdt.ink.read_ink('deep.tif')", "reading image files needs the package tifffile"),
    ],
)
def test_a_missing_package_is_an_error_that_names_its_extra(folder, missing, call, message):
    import tifffile

    tifffile.imwrite("deep.tif", np.zeros((9, 9, 3), np.uint16), photometric="rgb")
    code = WITHOUT.format(missing=[missing], call=call)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == f"{message}, which is not installed: pip install 'radoncdt[watermarks]'"


def test_the_module_is_imported_without_optional_packages():
    code = WITHOUT.format(missing=["PIL", "skimage", "tifffile", "matplotlib", "tqdm", "rich", "jinja2"], call="pass")
    assert subprocess.run([sys.executable, "-c", code], check=True).returncode == 0
