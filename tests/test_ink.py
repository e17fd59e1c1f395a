"""From image files to measures."""

import io
import os
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from files import BAD, SHAPE, save, save_files
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

import radoncdt
from radoncdt import cli, datasets
from radoncdt.ink import InkError, InkOptions, find_ink, image_files, ink_steps, open_picture, read_ink
from radoncdt.ink.files import read_bytes
from radoncdt.ink.kinds import SPECKS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Drawings and files that are none; the working folder."""
    monkeypatch.chdir(tmp_path)
    save_files(tmp_path)
    return tmp_path


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
    picture = Image.fromarray(rgba)
    assert_array_equal(read_ink(picture), find_ink(rgba))
    exif = Image.Exif()
    exif[0x0112] = 6
    save("turned.png", 255 - 255 * np.tri(40).repeat(2, axis=1), exif=exif)
    with Image.open("turned.png") as picture:
        assert_array_equal(read_ink(picture), read_ink("turned.png"))
        assert picture.getexif()[0x0112] == 6


def test_deep_files_that_are_open_are_read(folder):
    tifffile = pytest.importorskip("tifffile")
    deep = np.stack([60000 - 50000 * SHAPE] * 3, axis=-1).astype(np.uint16)
    tifffile.imwrite("deep.tif", deep, photometric="rgb")
    with open("deep.tif", "rb") as file:
        assert_allclose(read_ink(file), SHAPE, atol=1e-4)
    assert_allclose(read_ink(deep), SHAPE, atol=1e-4)


def test_masks_may_be_any_source(folder):
    half = np.zeros(SHAPE.shape, np.uint8)
    half[:, :16] = 255
    save("mask.png", half)
    expected = read_ink("dark.png", mask="mask.png")
    with open("mask.png", "rb") as file:
        for mask in (half, Image.fromarray(half), file):
            assert_array_equal(read_ink("dark.png", mask=mask), expected)


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
        (io.BytesIO(b""), InkError, "`source`: is empty"),
        (closed_file(), ValueError, "`source` must be an open file, got one that is closed"),
        (io.BytesIO(b"no image"), InkError, "`source`: is not an image"),
        (Image.new("L", (0, 0)), InkError, "`source`: "),
        (Image.new("L", (9, 9), 200), InkError, "`source`: no pixel is darker"),
    ],
)
def test_other_sources_are_refused(source, error, message):
    with pytest.raises(error, match=message):
        read_ink(source)


def test_finding_ink_is_not_for_paths():
    with pytest.raises(TypeError, match=r"`image` must be an array, a Pillow image or an open file, got 'a.png'; see"):
        find_ink("a.png")


@pytest.mark.parametrize("beginning", [b"", b"no image", b"PK\x03\x04", b"II*\x00"])
def test_large_files_that_are_no_images_are_not_read(folder, beginning):
    with open("large.png", "wb") as file:
        file.write(beginning)
        file.truncate(2**27)  # sparse
    tracemalloc.start()
    try:
        for read in (read_ink, lambda name: read_bytes(Path(name))):
            with pytest.raises(InkError, match=r"^large\.png: (is not an image|cannot be read)"):
                read("large.png")
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_files_beyond_the_limit_are_refused(folder):
    with open("huge.png", "wb") as file:
        file.truncate(2**31 + 1)
    with pytest.raises(InkError, match=r"huge\.png: must not have more than 2,147,483,648 bytes"):
        read_ink("huge.png")


def test_the_content_of_images_is_read(folder):
    assert read_bytes(Path("dark.png")) == Path("dark.png").read_bytes()


# ---------------------------------------------------------------- documents


def test_documents_name_the_specks_that_are_removed(capsys):
    text = " ".join(InkOptions.__doc__.split())
    assert f"{SPECKS['drawing']:g} by default for drawings, {SPECKS['photo']:g} for photographs" in text
    with pytest.raises(SystemExit):
        cli.main(["ink", "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "(default: 0.03 for kind drawing, 0.06 for kind photo; 0 removes nothing)" in printed
    for kind, share in SPECKS.items():
        assert f"{share:g} for kind {kind}" in printed


# ---------------------------------------------------------------- files


def test_ink_is_mass_whichever_side_of_the_paper_it_is_on(folder):
    assert_array_equal(read_ink("dark.png"), SHAPE)
    assert_array_equal(read_ink("bright.png"), SHAPE)
    assert_array_equal(read_ink("dark.png", ink="dark"), SHAPE)


def test_grey_paper_has_no_mass(folder):
    save("grey.png", 180 - 150 * SHAPE)
    assert_allclose(read_ink("grey.png"), SHAPE, atol=1e-6)


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
        assert_allclose(read_ink(name), SHAPE, atol=0.01, err_msg=name)


def test_noise_and_uneven_light_are_paper(folder):
    """Features stay near those of the clean drawing; without care they would be nearer to those of a square."""
    rng = np.random.default_rng(0)
    clean = radoncdt.max_nrcdt(np.pad(SHAPE, 40).repeat(2, 0).repeat(2, 1))
    square = np.linalg.norm(radoncdt.max_nrcdt(np.ones((9, 9))) - clean)
    grey = 230 - 180 * np.pad(SHAPE, 40).repeat(2, 0).repeat(2, 1)
    light = 1 - 0.1 * np.linspace(0, 1, grey.shape[1])
    for disturbed in (grey + rng.normal(0, 2, grey.shape), grey * light, grey * light + rng.normal(0, 2, grey.shape)):
        save("disturbed.png", np.clip(disturbed, 0, 255).round())
        assert np.linalg.norm(radoncdt.max_nrcdt(read_ink("disturbed.png")) - clean) < square / 4


def test_drawings_on_transparent_ground(folder):
    """A white square with a black outline: the outline is dark ink, the inside is bright ink."""
    rgba = np.zeros((20, 20, 4))
    rgba[5:15, 5:15, 3] = 255
    rgba[6:14, 6:14, :3] = 255
    save("both.png", rgba)
    inside = np.pad(np.ones((8, 8)), 6)
    outline = np.pad(np.ones((10, 10)), 5) - inside
    assert_array_equal(read_ink("both.png"), outline)
    assert_array_equal(read_ink("both.png", ink="dark"), outline)
    assert_array_equal(read_ink("both.png", ink="bright"), inside)


def test_pictures_are_turned_as_the_camera_was_held(folder):
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter to the right
    save("turned.jpg", 255 - 255 * np.tri(40).repeat(2, axis=1), exif=exif, quality=95)
    assert read_ink("turned.jpg").shape == (80, 40)


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_drawing_is_refused_by_name(folder, name):
    with pytest.raises(InkError, match=f"^{name}: {BAD[name]}"):
        read_ink(name)


def test_more_is_refused(folder):
    with pytest.raises(InkError, match="is a folder"):
        read_ink(folder)
    save("nothing.png", np.zeros((5, 5, 4)))
    with pytest.raises(InkError, match="all transparent"):
        read_ink("nothing.png")
    Image.fromarray(np.full((4, 4), np.nan, np.float32)).save("nan.tif")
    with pytest.raises(InkError, match="not finite"):
        read_ink("nan.tif")
    with pytest.raises(ValueError, match="`ink` must be one of"):
        read_ink("dark.png", ink="red")


def test_too_large_an_image_is_refused(folder, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(InkError, match=r"dark\.png: has more than 200 pixels"):
        read_ink("dark.png")


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
        assert_allclose(read_ink(name), SHAPE, atol=0.001, err_msg=name)


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
        assert_allclose(read_ink(name), SHAPE, atol=0.001, err_msg=name)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["png", "tif"])
def test_all_orientations_are_turned_back(folder, form, orientation):
    upright = np.pad(np.tri(20, 30), ((6, 6), (4, 9)))
    turn = {1: 0, 3: 2, 6: 1, 8: 3}.get(orientation)
    exif = Image.Exif()
    exif[0x0112] = orientation
    save(f"o.{form}", 255 - 255 * upright, exif=exif)
    expected = {2: upright[:, ::-1], 4: upright[::-1], 5: upright.T, 7: upright[::-1, ::-1].T}.get(orientation)
    assert_array_equal(read_ink(f"o.{form}"), np.rot90(upright, -turn) if expected is None else expected)


def test_masks_of_one_value_and_thin_ones_work(folder):
    Image.fromarray(np.full(SHAPE.shape, 65535, np.uint16)).save("deep.png")
    assert_array_equal(read_ink("dark.png", mask="deep.png"), SHAPE)
    page = np.full((3000, 3000), 255, np.uint8)
    page[1000:2000, 1490:1510] = 0
    mask = np.zeros(page.shape)
    mask[::7, 1480:1520] = 1
    assert find_ink(page, kind="drawing", mask=mask).any()


def test_of_several_pages_the_first_is_read_and_said_so(folder):
    pages = [Image.fromarray(np.uint8(255 - 255 * image)) for image in (SHAPE, 0 * SHAPE)]
    pages[0].save("pages.tif", save_all=True, append_images=pages[1:])
    with pytest.warns(UserWarning, match=r"pages\.tif has 2 pages, of which the first is read"):
        assert_array_equal(read_ink("pages.tif"), SHAPE)


def test_links_to_nothing_and_special_files_are_refused(folder):
    (folder / "link.png").symlink_to("gone.png")
    with pytest.raises(InkError, match="is a link to nothing"):
        read_ink("link.png")
    os.mkfifo("pipe.png")
    with pytest.raises(InkError, match="not a regular file"):
        read_ink("pipe.png")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_files_without_permission_are_refused(folder):
    (folder / "dark.png").chmod(0)
    with pytest.raises(InkError, match="no permission"):
        read_ink("dark.png")


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
                picture = open_picture(f"bad.{form}")
            except InkError:
                continue
            assert np.isfinite(picture.grey).all()


# ---------------------------------------------------------------- drawings


MARK = datasets.watermarks(3)[2].image()


def distance(a, b):
    return float(
        radoncdt.affine_distances([a], [b], settings=radoncdt.DescriptorSettings(moments="robust", trim=1 / 16))[0, 0]
    )


def test_a_clean_drawing_is_its_own_ink():
    ink = find_ink(np.rint(255 - 255 * MARK).astype(np.uint8), kind="drawing")
    assert distance(ink, MARK) < 0.01
    assert_allclose(find_ink(np.rint(255 * MARK).astype(np.uint8), kind="drawing"), ink, atol=0.03)  # either polarity


def test_tracings_of_uneven_light_and_noise_are_found():
    random = np.random.default_rng(0)
    light = np.linspace(0.55, 1, 256) * np.linspace(1, 0.8, 256)[:, None]
    pencil = 1 - 0.4 * MARK * random.uniform(0.7, 1, MARK.shape)
    page = np.uint8(np.clip(255 * light * pencil + random.normal(0, 4, MARK.shape), 0, 255))
    assert distance(find_ink(page, kind="drawing"), MARK) < 0.03
    assert distance(find_ink(page, kind="grey"), MARK) > 0.1  # what a threshold of the border makes of it


def test_solid_areas_stay_solid():
    seal = np.zeros((200, 200))
    seal[50:150, 60:140] = 1
    ink = find_ink(np.uint8(230 - 200 * seal), kind="drawing")
    assert_array_equal(ink > 0.5, seal > 0)


def test_specks_are_removed_unless_asked_for():
    salted = datasets.salt(MARK[None], rng=0, dots=(10, 10))[0]
    page = np.uint8(255 - 255 * salted)
    clean = find_ink(np.uint8(255 - 255 * MARK), kind="drawing")
    apart = datasets.salt(0 * MARK[None], rng=0, dots=(10, 10))[0] * (MARK == 0) > 0.5
    assert (find_ink(page, kind="drawing")[apart] > 0).mean() < 0.3  # those that touch the mark stay
    assert (find_ink(page, kind="drawing", specks=0)[apart] > 0).mean() > 0.9
    assert distance(find_ink(page, kind="drawing"), clean) < 0.02


def test_thresholds_are_options():
    wedge = np.uint8(255 - 200 * np.pad(np.linspace(0, 1, 100)[:, None] * np.ones(20), 40))
    areas = [find_ink(wedge, kind="drawing", threshold=t).sum() for t in (0.2, 0.5, 0.8)]
    assert areas[0] > areas[1] > areas[2] > 0


def test_large_images_are_reduced():
    big = np.uint8(255 - 255 * np.kron(MARK, np.ones((8, 8))))
    ink = find_ink(big, kind="drawing")
    assert ink.shape == (1024, 1024)
    assert distance(ink, MARK) < 0.01
    assert find_ink(big, kind="drawing", max_side=300).shape == (293, 293)
    assert find_ink(big).shape == big.shape


# ---------------------------------------------------------------- photographs


def test_the_lines_of_a_mark_are_found_in_photographs():
    """Most of the mark's lines are there, and little else."""
    from scipy.ndimage import binary_dilation

    marks = datasets.watermarks(12, seed=5)
    drawings = marks.queries(6, kind="drawing", rng=3).images
    photographs = marks.queries(6, kind="photograph", rng=3).images
    for drawing, photograph in zip(drawings, photographs):
        ink = find_ink(np.uint8(255 * photograph), kind="photo") > 0
        near = binary_dilation(drawing > 0.2, iterations=3)
        found = binary_dilation(ink, iterations=3)
        assert (ink & near).sum() > 0.8 * ink.sum()
        assert (found & (drawing > 0.5)).sum() > 0.7 * (drawing > 0.5).sum()


def test_paper_without_a_mark_has_no_ink():
    blank = datasets.watermarks(1).queries(1, kind="photograph", rng=0).images[0] * 0 + 0.5
    with pytest.raises(InkError, match="no line stands out"):
        find_ink(np.uint8(255 * blank), kind="photo")


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


@pytest.mark.parametrize(
    ("region", "message"),
    [
        ({"roi": (0, 0, 100)}, "`roi` must be four whole numbers"),
        ({"roi": (0, 0, 1.5, 3)}, "`roi` must be four whole numbers"),
        ({"roi": (500, 0, 10, 10)}, "has no pixel of its 32 × 32"),
        ({"roi": (0, 0, 0, 10)}, "has no pixel"),
        ({"mask": np.ones((3, 3))}, "the mask must be as large as the image, 32 × 32 pixels, got 3 × 3"),
        ({"mask": np.zeros((32, 32))}, "the mask leaves nothing"),
        ({"mask": "missing.png"}, "there is no such file"),
    ],
)
def test_regions_that_are_none_are_refused(folder, region, message):
    with pytest.raises(ValueError, match=message):
        read_ink("dark.png", **region)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "sketch"}, "`kind` must be one of"),
        ({"kind": "drawing", "threshold": 2}, "`threshold` must be a number between 0 and 1"),
        ({"kind": "photo", "threshold": -1}, "`threshold` must be a positive number"),
        ({"kind": "drawing", "low": 1}, "`low` goes with the kind photo"),
        ({"kind": "photo", "specks": 2}, "`specks` must be a number from 0 to 1"),
        ({"kind": "photo", "max_side": 3}, "`max_side` must be at least 8"),
        ({"threshold": 1}, "`threshold` goes with"),
    ],
)
def test_options_that_are_none_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        InkOptions(**options)


def test_lines_of_pixels_are_no_marks():
    with pytest.raises(InkError, match="needs 8 pixels both ways, got 100000 × 1"):
        find_ink(np.zeros((1, 100_000), np.uint8), kind="drawing")


def test_arrays_that_are_no_pictures_are_refused():
    with pytest.raises(InkError, match="must have the shape"):
        find_ink(np.zeros((3, 4, 5, 6)))
    with pytest.raises(InkError, match="not finite"):
        find_ink(np.full((9, 9), np.nan))


def test_all_steps_are_shown(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind, names in (("grey", 2), ("drawing", 4), ("photo", 6)):
            save("big.png", 255 - 255 * MARK)
            steps = ink_steps("big.png", kind=kind, **({"ink": "dark"} if kind == "photo" else {}))
            assert len(steps) == names
            assert steps[0].name == "grey"
            assert steps[-1].name == "ink"
            assert_array_equal(
                steps[-1].image, read_ink("big.png", kind=kind, **({"ink": "dark"} if kind == "photo" else {}))
            )
