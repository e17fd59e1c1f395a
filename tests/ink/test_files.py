"""Image files, Pillow images and open files as grey images."""

import io
import os
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from files import SHAPE, save
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

from radoncdt.ink import InkError, find_ink, image_files, ink_steps, read_ink
from radoncdt.ink.files import read_bytes, read_image

read_grey = partial(read_ink, kind="grey")


# ---------------------------------------------------------------- sources


class Pipe(io.RawIOBase):
    """A file that cannot go back to its beginning."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def read(self, size=-1):
        return self.data.read(size)

    def seekable(self):
        return False


@pytest.mark.parametrize("name", ["dark.png", "bright.png"])
@pytest.mark.parametrize("kind", ["grey", "drawing"])
def test_files_arrays_and_pillow_images_are_read_alike(folder, name, kind):
    expected = read_ink(name, kind=kind)
    with Image.open(name) as picture, open(name, "rb") as file:
        data = file.read()
        sources = [np.asarray(picture), picture, picture.copy(), file, io.BytesIO(data), Pipe(data), folder / name]
        for source in sources:
            assert_array_equal(read_ink(source, kind=kind), expected)
        for source in sources[:-2]:
            assert_array_equal(ink_steps(source, kind=kind)[-1].image, expected)
            assert_array_equal(find_ink(source, kind=kind), expected)
        assert not file.closed


def test_pillow_images_in_colours_are_turned_and_may_be_transparent(folder):
    rgba = np.zeros((30, 40, 4), np.uint8)
    rgba[5:25, 5:12, 3] = 255
    assert_array_equal(read_grey(Image.fromarray(rgba)), find_ink(rgba, kind="grey"))
    exif = Image.Exif()
    exif[0x0112] = 6
    save("turned.png", 255 - 255 * np.tri(40).repeat(2, axis=1), exif=exif)
    with Image.open("turned.png") as picture:
        assert_array_equal(read_grey(picture), read_grey("turned.png"))
        assert picture.getexif()[0x0112] == 6


def test_open_files_with_deep_colours_are_read(folder):
    tifffile = pytest.importorskip("tifffile")
    deep = np.stack([60000 - 50000 * SHAPE] * 3, axis=-1).astype(np.uint16)
    tifffile.imwrite("deep.tif", deep, photometric="rgb")
    with open("deep.tif", "rb") as file:
        assert_allclose(read_grey(file), SHAPE, atol=1e-4)
    assert_allclose(read_grey(deep), SHAPE, atol=1e-4)


def closed_file():
    file = io.BytesIO(b"bytes")
    file.close()
    return file


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (b"bytes", TypeError, "`source` must not be bytes; wrap them in io.BytesIO"),
        (io.StringIO("text"), TypeError, "`source` must be a file opened to read bytes, got one opened to read text"),
        (None, TypeError, "`source` must hold numbers, got None"),
        ({}, TypeError, "`source` must hold bool, integer or float numbers, got dict"),
        (3, InkError, r"`source`: must have the shape \(H, W\)"),
        (np.ones((2, 3, 4, 5)), InkError, r"`source`: must have the shape \(H, W\)"),
        (np.ones((9, 9, 5)), InkError, r"`source`: must have the shape \(H, W\) or \(H, W, 1 to 4\), got \(9, 9, 5\)"),
        (np.full((9, 9), np.nan), InkError, "`source`: some pixels are not finite"),
        (io.BytesIO(b""), InkError, "`source`: empty file$"),
        (closed_file(), ValueError, "`source` must be an open file, got one that is closed"),
        (io.BytesIO(b"no image"), InkError, "`source`: unrecognised image format$"),
        (Image.new("L", (0, 0)), InkError, "`source`: "),
    ],
)
def test_other_sources_are_refused(source, error, message):
    with pytest.raises(error, match=message):
        read_image(source)


def test_images_are_named_in_messages(folder):
    assert read_image("dark.png").name == "dark.png"
    assert read_image(SHAPE, argument="page").name == "`page`"
    with open("dark.png", "rb") as file:
        assert read_image(file).name == "dark.png"
    with pytest.raises(InkError, match=r"^mark 7: unrecognised image format$"):
        read_image(io.BytesIO(b"no image"), name="mark 7")


@pytest.mark.parametrize("beginning", [b"", b"no image", b"PK\x03\x04", b"II*\x00"])
def test_large_files_that_are_not_images_are_not_read(folder, beginning):
    with open("large.png", "wb") as file:
        file.write(beginning)
        file.truncate(2**27)  # sparse
    tracemalloc.start()
    try:
        for read in (read_image, lambda name: read_bytes(Path(name))):
            with pytest.raises(InkError, match=r"^large\.png: (unrecognised image format|cannot be read)"):
                read("large.png")
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_files_beyond_the_limit_are_refused(folder):
    with open("huge.png", "wb") as file:
        file.truncate(2**31 + 1)
    with pytest.raises(InkError, match=r"huge\.png: must have at most 2,147,483,648 bytes, got 2,147,483,649"):
        read_image("huge.png")


def test_the_content_of_images_is_read(folder):
    assert read_bytes(Path("dark.png")) == Path("dark.png").read_bytes()


# ---------------------------------------------------------------- formats


def test_colours_palettes_transparency_and_deep_greys_are_read(folder):
    rgb = np.stack([255 - 255 * SHAPE] * 3, axis=-1)
    save("colour.png", rgb)
    Image.fromarray(rgb.astype(np.uint8)).convert("P").save("palette.gif")
    rgba = np.concatenate([np.zeros((*SHAPE.shape, 3)), 255 * SHAPE[..., None]], axis=-1)
    save("clear.png", rgba)
    Image.fromarray((60000 - 50000 * SHAPE).astype(np.uint16)).save("deep.png")
    Image.fromarray(1 - SHAPE).save("float.tif")
    Image.fromarray(SHAPE > 0).save("bits.png")
    for name in ("colour.png", "palette.gif", "clear.png", "deep.png", "float.tif", "bits.png"):
        assert_allclose(read_grey(name), SHAPE, atol=0.01, err_msg=name)


@pytest.mark.parametrize("form", ["png", "jpg", "tif", "bmp", "webp"])
@pytest.mark.parametrize("kind", ["grey", "drawing"])
def test_all_formats_are_read_alike(folder, form, kind):
    big = np.pad(np.tri(60), 30)
    options = {"quality": 100} if form in ("jpg", "webp") else {}
    save(f"same.{form}", np.stack([255 - 255 * big] * 3, axis=-1), **options)
    ink = read_ink(f"same.{form}", kind=kind)
    assert np.abs(ink - big).mean() < 0.01


def test_colours_of_sixteen_bits_are_read(folder):
    import tifffile

    values = np.stack([60000 - 50000 * SHAPE] * 3, axis=-1).astype(np.uint16)
    tifffile.imwrite("deep.tif", values, photometric="rgb")
    tifffile.imwrite("planes.tif", np.moveaxis(values, -1, 0), photometric="rgb", planarconfig="separate")
    for name in ("deep.tif", "planes.tif"):
        assert_allclose(read_grey(name), SHAPE, atol=0.001, err_msg=name)


def test_deep_files_are_read_as_their_tags_say(folder):
    import tifffile

    deep = (60000 - 50000 * SHAPE).astype(np.uint16)
    colours = np.stack([deep] * 3, axis=-1)
    flipped = colours[::-1, ::-1]
    tifffile.imwrite("turned.tif", flipped, photometric="rgb", extratags=[(274, "H", 1, 3, True)])
    tifffile.imwrite("white.tif", 65535 - deep, photometric="miniswhite")
    inks = np.concatenate(
        [np.zeros((*SHAPE.shape, 3), np.uint16), (50000 * SHAPE[..., None]).astype(np.uint16)], axis=-1
    )
    tifffile.imwrite("cmyk.tif", inks, photometric="separated")
    extra = np.concatenate([colours, 0 * colours[..., :1]], axis=-1)
    tifffile.imwrite("extra.tif", extra, photometric="rgb", extrasamples=["unspecified"])
    for name in ("turned.tif", "white.tif", "cmyk.tif", "extra.tif"):
        assert_allclose(read_grey(name), SHAPE, atol=0.001, err_msg=name)


def test_images_are_turned_as_the_camera_was_held(folder):
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter to the right
    save("turned.jpg", 255 - 255 * np.tri(40).repeat(2, axis=1), exif=exif, quality=95)
    assert read_image("turned.jpg").grey.shape == (80, 40)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["png", "tif"])
def test_all_orientations_are_turned_back(folder, form, orientation):
    upright = np.pad(np.tri(20, 30), ((6, 6), (4, 9)))
    turn = {1: 0, 3: 2, 6: 1, 8: 3}.get(orientation)
    exif = Image.Exif()
    exif[0x0112] = orientation
    save(f"o.{form}", 255 - 255 * upright, exif=exif)
    expected = {2: upright[:, ::-1], 4: upright[::-1], 5: upright.T, 7: upright[::-1, ::-1].T}.get(orientation)
    assert_array_equal(read_grey(f"o.{form}"), np.rot90(upright, -turn) if expected is None else expected)


def test_only_the_first_of_several_pages_is_read_with_a_warning(folder):
    pages = [Image.fromarray(np.uint8(255 - 255 * image)) for image in (SHAPE, 0 * SHAPE)]
    pages[0].save("pages.tif", save_all=True, append_images=pages[1:])
    assert read_image("pages.tif").note == "only the first of 2 pages is read"
    with pytest.warns(UserWarning, match=r"^pages\.tif: only the first of 2 pages is read$") as caught:
        assert_array_equal(read_grey("pages.tif"), SHAPE)
    assert caught[0].filename == __file__


# ---------------------------------------------------------------- files that are refused


def test_too_large_an_image_is_refused(folder, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(InkError, match=r"dark\.png: has more than 200 pixels"):
        read_image("dark.png")


def test_folders_broken_links_and_special_files_are_refused(folder):
    with pytest.raises(InkError, match=r": is a folder, not an image file$"):
        read_image(folder)
    (folder / "link.png").symlink_to("gone.png")
    with pytest.raises(InkError, match=r"^link\.png: broken symbolic link$"):
        read_image("link.png")
    os.mkfifo("pipe.png")
    with pytest.raises(InkError, match=r"^pipe\.png: not a regular file$"):
        read_image("pipe.png")


def test_values_that_are_not_finite_are_refused(folder):
    Image.fromarray(np.full((4, 4), np.nan, np.float32)).save("nan.tif")
    with pytest.raises(InkError, match=r"^nan\.tif: some pixels are not finite$"):
        read_image("nan.tif")


def test_files_without_permission_are_refused(folder, monkeypatch):
    if os.name == "posix" and os.geteuid() != 0:
        (folder / "dark.png").chmod(0)
    else:  # root may read everything

        def deny(*_, **__):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", deny)
    for read in (read_image, read_bytes):
        with pytest.raises(InkError, match=r"^dark\.png: permission denied$"):
            read(Path("dark.png"))


@pytest.mark.parametrize("fail", ["Image.open", "Image.Image.convert"])
def test_a_lack_of_memory_is_named(folder, monkeypatch, fail):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr(f"PIL.{fail}", full)
    with pytest.raises(InkError, match=r"^dark\.png: not enough memory to read the image$"):
        read_image("dark.png")


def test_damaged_files_never_raise_anything_else(folder):
    """Every byte of a header, and many others, changed."""
    random = np.random.default_rng(0)
    tall = np.pad(SHAPE, 20)
    for form in ("png", "jpg", "tif", "bmp", "webp", "gif"):
        save(f"whole.{form}", 255 - 255 * tall)
        data = (folder / f"whole.{form}").read_bytes()
        for trial in range(60):
            place = trial if trial < 30 else int(random.integers(len(data)))
            changed = bytearray(data)
            changed[place] ^= int(random.integers(1, 256))
            (folder / f"bad.{form}").write_bytes(bytes(changed))
            try:
                image = read_image(f"bad.{form}")
            except InkError:
                continue
            assert np.isfinite(image.grey).all()


def test_folders_are_searched(folder):
    (folder / "sub").mkdir()
    save("sub/a.PNG", SHAPE)
    (folder / "notes.txt").touch()
    found = [str(path) for path in image_files([".", "missing.png"])]
    assert found == [
        "blank.png",
        "bright.png",
        "cut.png",
        "dark.png",
        "empty.png",
        "sub/a.PNG",
        "text.png",
        "missing.png",
    ]
