"""Plots: they show the transforms, do not change global state, and refuse invalid input."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from PIL import Image

import radoncdt
from radoncdt import PointCloud, plot

IMAGE = np.pad(np.tri(12), 4)
CLOUD = PointCloud([(0, 0), (3, 1), (-2, 5)], [1, 2, 3])
SINGLE = [plot.measure, plot.sinogram, plot.rcdt, plot.nrcdt]


@pytest.mark.parametrize("draw", SINGLE)
@pytest.mark.parametrize("measure", [IMAGE, CLOUD], ids=["image", "cloud"])
def test_plots_use_the_given_axes_or_new_ones(draw, measure):
    ax = Figure().subplots()
    assert draw(measure, ax=ax) is ax
    assert draw(measure) is not ax
    assert ax.has_data()
    ax.figure.canvas.draw()


def test_global_state_is_not_changed():
    """Plotting in a new process does not import pyplot."""
    code = (
        "import sys, numpy, radoncdt; radoncdt.plot.pipeline(numpy.tri(9)); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == "False"


def test_without_matplotlib_the_error_names_the_extra():
    code = "import sys; sys.modules['matplotlib'] = None; import radoncdt; radoncdt.plot"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert "pip install 'radoncdt[plot]'" in done.stderr


def test_the_measure_is_shown_upright():
    image = np.zeros((5, 9))
    image[0, 8] = 1  # top right
    picture = plot.measure(image).images[0]
    assert list(picture.get_extent()) == [-4.5, 4.5, -2.5, 2.5]
    assert picture.origin == "upper"
    assert_allclose(picture.get_array(), image)


def test_the_sinogram_shows_the_positions_of_projections():
    """A pixel at (10, 0) is projected to 10 cos θ."""
    image = np.zeros((21, 41))
    image[10, 30] = 1
    picture = plot.sinogram(image, n_angles=60).images[0]
    _, _, low, high = picture.get_extent()
    rows = picture.get_array().argmax(axis=0)
    heights = low + (rows + 0.5) / picture.get_array().shape[0] * (high - low)
    assert_allclose(heights, 10 * np.cos(radoncdt.equispaced_angles(60)), atol=0.75)


@pytest.mark.parametrize(("draw", "transform"), [(plot.rcdt, radoncdt.rcdt), (plot.nrcdt, radoncdt.nrcdt)])
def test_images_and_curves_show_the_transform(draw, transform):
    values = transform(IMAGE, n_angles=6, n_levels=8)
    picture = draw(IMAGE, n_angles=6, n_levels=8).images[0]
    assert picture.origin == "lower"
    assert list(picture.get_extent()) == [-15, 165, 0, 1]  # the columns are centred at 0°, 30°, …, 150°
    assert_allclose(picture.get_array(), values.T)
    curves = [line.get_ydata() for line in draw(IMAGE, kind="curves", n_angles=6, n_levels=8).lines]
    assert_allclose(curves, np.concatenate([values, -values[:, ::-1]]))


def test_pooled_curves_are_coloured_by_class_with_templates_bold():
    features = radoncdt.max_nrcdt(np.random.default_rng(0).random((6, 9, 9)), n_angles=4, n_levels=8)
    ax = plot.pooled(features[:4], ["b", "a", "b", "a"], templates=features[4:], template_labels=["a", "b"])
    thin = [line for line in ax.lines if line.get_linewidth() < 1]
    bold = [line for line in ax.lines if line.get_linewidth() > 2 and len(line.get_xdata())]
    assert [len(thin), len(bold)] == [4, 2]
    for line, row in zip(bold, features[4:]):
        assert_allclose(line.get_ydata(), row)
    a, b = (line.get_color() for line in bold)
    assert {line.get_color() for line in thin} == {a, b}
    assert [line.get_color() for line in thin if np.array_equal(line.get_ydata(), features[1])] == [a]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert plot.pooled(features).get_legend() is None


def test_the_pipeline_has_six_panels_and_can_be_saved(tmp_path):
    axes = plot.pipeline(IMAGE, n_angles=16, n_levels=16)
    assert axes.shape == (2, 3)
    assert all(ax.has_data() for ax in axes.flat)
    axes[0, 0].figure.savefig(tmp_path / "pipeline.png")
    given = Figure().subplots(1, 6)
    assert plot.pipeline(CLOUD, axes=given).shape == (6,)


def test_pictures_contain_their_facts_and_no_version(tmp_path):
    figure, facts = plot.measure(IMAGE).figure, {"title": "μ, 24.5°", "ranks": [1, 2], "angles": {"n": 0.125}}
    for name in ("a.png", "b.png"):
        plot.save(figure, tmp_path / name, facts)
        assert plot.read_facts(tmp_path / name) == facts
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    with Image.open(tmp_path / "a.png") as picture:
        assert list(picture.text) == [plot.FACTS]


def test_a_picture_without_facts_is_refused(tmp_path):
    plot.measure(IMAGE).figure.savefig(tmp_path / "plain.png")
    with pytest.raises(ValueError, match=r"`path` must be a PNG file with facts in its metadata, got .*plain\.png"):
        plot.read_facts(tmp_path / "plain.png")
    with pytest.raises(ValueError, match="not JSON compliant"):
        plot.save(plot.measure(IMAGE).figure, tmp_path / "nan.png", {"misfit": np.nan})
    assert not (tmp_path / "nan.png").exists()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: plot.sinogram(np.ones((2, 3, 3))), ValueError, "`image` must be one image .* got 2 measures"),
        (lambda: plot.rcdt(np.zeros((3, 3))), ValueError, "`image` must have mass"),
        (lambda: plot.nrcdt(-IMAGE), ValueError, "`image` must not have negative mass"),
        (lambda: plot.measure(IMAGE * np.nan), ValueError, "`image` must be finite"),
        (lambda: plot.rcdt(IMAGE, kind="movie"), ValueError, "`kind` must be one of 'image', 'curves', got 'movie'"),
        (lambda: plot.measure(IMAGE, ax=3), TypeError, "`ax` must be matplotlib Axes, got int"),
        (lambda: plot.pipeline(IMAGE, axes=Figure().subplots(1, 5)), ValueError, "`axes` must hold six Axes, got 5"),
        (lambda: plot.pooled(np.ones(4)), ValueError, r"`features` must have shape \(n, n_levels\).* got \(4,\)"),
        (lambda: plot.pooled(np.ones((3, 4)), [1, 2]), ValueError, r"`labels` must have shape \(3,\)"),
        (lambda: plot.pooled(np.ones((3, 4)), templates=np.ones((1, 5))), ValueError, "`templates` must have 4 levels"),
        (
            lambda: plot.pooled(np.ones((3, 4)), [1, 1, 2], templates=np.ones((3, 4))),
            ValueError,
            "`template_labels` must be given for 3 templates of 2 classes",
        ),
    ],
)
def test_invalid_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---------------------------------------------------------------- overlays

FLAG = np.zeros((40, 50))
FLAG[5:35, 10:13] = FLAG[5:15, 13:30] = 1


def test_an_overlay_is_dark_where_both_images_are():
    moved = np.rot90(FLAG)
    ax = plot.overlay(FLAG, moved, radoncdt.register(FLAG, moved))
    picture = ax.images[0].get_array()
    left, right, bottom, top = ax.images[0].get_extent()
    assert picture.shape == (round(top - bottom), round(right - left), 3)
    dark, coloured = picture.max(axis=2) < 0.2, np.ptp(picture, axis=2) > 0.2
    assert dark.sum() == pytest.approx(FLAG.sum(), rel=0.15)
    assert coloured.sum() < 0.1 * dark.sum()
    assert "rotated by 90.0°" in ax.get_title().replace("\n", " ")
    ax.figure.canvas.draw()


def test_an_overlay_that_does_not_fit_shows_both_colours():
    wrong = radoncdt.Registration(np.diag([2.0, 0.5]), np.array([30.0, 0.0]), 0.5, False)
    picture = plot.overlay(FLAG, FLAG, wrong).images[0].get_array()
    red, _, blue = np.moveaxis(picture, -1, 0)
    assert ((red - blue) > 0.5).sum() > 50  # orange
    assert ((blue - red) > 0.5).sum() > 50  # blue


def test_overlays_of_clouds_and_of_enlarging_maps_are_drawn():
    cloud = PointCloud(np.random.default_rng(0).normal(size=(20, 2)))
    moved = radoncdt.push_forward(cloud, [[1, 0.5], [0, 2]], [3, 1])
    ax = plot.overlay(cloud, moved, radoncdt.register(cloud, moved))
    first, second = (points.get_offsets() for points in ax.collections)
    assert_allclose(first, second, atol=0.2)
    far = radoncdt.Registration(1e6 * np.eye(2), np.zeros(2), 0.5, False)
    assert max(plot.overlay(FLAG, FLAG, far).images[0].get_array().shape) <= plot.MAX_OVERLAY_SIDE
    plot.overlay(FLAG, cloud, far).figure.canvas.draw()


def test_overlays_refuse_objects_that_are_not_registrations():
    with pytest.raises(TypeError, match="`registration` must be of the type Registration, got None"):
        plot.overlay(FLAG, FLAG, None)
    with pytest.raises(ValueError, match="`fixed` must have mass"):
        plot.overlay(FLAG, 0 * FLAG, radoncdt.register(FLAG, FLAG))


def test_a_confusion_matrix_shows_names_as_they_are():
    """Neither formulas of TeX nor control characters, and no bytes that are not UTF-8."""
    ax = plot.confusion(np.eye(4), ["$x$", "$_", "a\x1b\n", "\udcff"])
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["$x$", "$_", r"a\x1b\n", r"\xff"]
