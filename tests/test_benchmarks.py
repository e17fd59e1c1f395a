"""The benchmarks beside other libraries: that these are used rightly, and that the documents are what was measured."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import radoncdt
from radoncdt import datasets, plot
from radoncdt.reproduction.protocol import Cell, Draw, draw_images

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import catalogue_page  # noqa: E402
import compare  # noqa: E402
import comparison.invariance  # noqa: E402
import page  # noqa: E402
import pixels  # noqa: E402
import plots  # noqa: E402
from closed_forms import CLOSED_FORMS, sampled  # noqa: E402
from comparison import speed, stages  # noqa: E402
from images import dense, drawing, lines_and_runs  # noqa: E402
from peers import LIBRARIES, Form, Peer, peers  # noqa: E402
from reporting import interleaved  # noqa: E402

INSTALLED = [peer for peer in peers() if not peer.missing]
FORMS = [pytest.param(f, n, id=f"{p.name}, {n}") for p in INSTALLED for n, f in p.forms.items()]
LEVELS = np.array([0.02, 0.2, 0.5, 0.8, 0.98])
TWO_DISCS = CLOSED_FORMS[-1]
RESULTS = json.loads(comparison.RESULTS.read_text(encoding="utf-8"))


# ---------------------------------------------------------------- what is compared


def test_those_that_the_tests_install_are_there():
    assert {"radoncdt", "scikit-image", "POT"} <= {peer.name for peer in INSTALLED}


@pytest.mark.parametrize("closed", CLOSED_FORMS, ids=lambda closed: closed.name)
def test_closed_forms_are_quantile_functions_of_the_images(closed):
    """Against sums over pixels, cut into strips, of a fine image."""
    image = sampled(closed.density, 400, factor=2)
    i, j = np.nonzero(image)
    points = np.stack([j - 199.5, 199.5 - i])
    weights = image[i, j] / image.sum()
    for angle in (0.0, 0.7, 2.5):
        places = np.cos(angle) * points[0] + np.sin(angle) * points[1]
        order = np.argsort(places)
        mean = weights @ places
        std = np.sqrt(weights @ (places - mean) ** 2)
        quantiles = np.interp(LEVELS, np.cumsum(weights[order]), places[order])
        angles = np.array([angle])
        assert_allclose(closed.nrcdt(angles, LEVELS)[0], (quantiles - mean) / std, atol=0.02)
        assert_allclose(closed.rcdt(angles, LEVELS, 400)[0], quantiles, atol=0.02 * std)


@pytest.mark.parametrize(("form", "name"), FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_libraries_are_used_rightly(form, name, dtype):
    """Two discs off the centre: with an angle, a sign or a centre wrong, the transforms are others.

    What is computed as shipped may be half a pixel off, and torchcdt's ends of the projection count.
    """
    rough = name == "as shipped" and form is not INSTALLED[0].forms[name]
    images = sampled(TWO_DISCS.density, 64)[None].astype(dtype)
    values, angles, levels = form.rcdt(images, 8)
    assert values.shape == (1, 8, len(levels))
    inside = (levels > 0.05) & (levels < 0.95)
    truth = TWO_DISCS.rcdt(angles, levels[inside], 64)
    assert np.abs(values[0][:, inside] - truth).mean() < (1.0 if rough else 0.2)

    values, angles, levels = form.nrcdt(images, 8)
    truth = TWO_DISCS.nrcdt(angles, levels[inside])
    assert np.abs(values[0][:, inside] - truth).mean() < (0.25 if rough else 0.02)

    features = form.features(images, 8)
    assert features.dtype == np.float64
    assert np.isfinite(features).all()
    if not rough and name != "whitened directions":  # which are others
        full_circle = np.maximum(truth.max(axis=0), -truth.min(axis=0)[::-1])
        assert np.abs(features[0, inside] - full_circle).mean() < 0.03

    if form.project is not None:
        masses, middles, angles = form.project(images[0], 8)
        assert_allclose(masses.sum(axis=1), images.sum(), rtol=2e-3)
        means = (masses * middles).sum(axis=1) / masses.sum(axis=1)
        assert_allclose(means, 64 * TWO_DISCS.moments(angles)[0], atol=0.05)


# ---------------------------------------------------------------- how it is measured


@pytest.mark.parametrize("draw", [dense, drawing])
def test_the_bound_streams_the_rows_of_our_projection(draw):
    """A direction along the rows: the sums of the plain loop are the masses of our strips."""
    image, angle = draw(32).astype(np.float64), 0.3
    stream, sums = stages.streamed(image, stages.Directions([angle]))
    stream()
    masses, _ = radoncdt.radon(image, angles=[angle])
    some, other = (np.trim_zeros(x[0]) for x in (sums, masses))
    assert_allclose(some, other, atol=1e-12)


@pytest.mark.parametrize("draw", [dense, drawing])
def test_stages_end_in_our_rcdt(draw):
    image = draw(48)
    levels = radoncdt.quantile_levels(16)
    directions = stages.Directions.choose(12, None)
    out = np.empty((12, 16))
    stages.up_to(2, image, directions, levels, out)()
    features = radoncdt.rcdt(image, n_angles=12, n_levels=16)
    widths = directions.widths[:, None]
    assert_allclose(np.diff(out * widths), np.diff(features), atol=1e-9)  # up to where the strips begin


def test_turns_of_slow_functions_are_few():
    calls = []
    times = interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=5, slow=-1.0)
    assert {name: len(seconds) for name, seconds in times.items()} == {"a": 3, "b": 3}
    assert all(len(seconds) == 3 for seconds in interleaved({1: lambda: None, 2: lambda: None}, rounds=3).values())


def test_lines_and_runs():
    image = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]])
    assert lines_and_runs(image) == 3 + (2 + 0 + 1) + 4 + (2 + 1 + 2 + 2)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_a_library():
    command = [sys.executable, str(BENCHMARKS / "memory_of_peer.py"), "POT", "tuned", "dense", "128", "32"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 8 * 128**2 * 32 / 1e6 < float(done.stdout) < 100  # at least the places of all pixels in all directions


@pytest.mark.parametrize("part", ["speed", "memory", "accuracy", "invariance", "recognition"])
def test_parts_measure_every_form(monkeypatch, part):
    few = [speed.Case("drawing", 32, 4), speed.Case("dense", 32, 4, what="projections")]
    monkeypatch.setattr(speed, "cases", lambda quick: few)
    monkeypatch.setattr(comparison.invariance, "SIDE", 64)
    monkeypatch.setattr(comparison.invariance, "N_ANGLES", 4)
    pot = next(peer for peer in INSTALLED if peer.name == "POT")
    broken = Peer("broken", "broken", {"tuned": Form(*(lambda *_: 1 / 0,) * 4)}, None)
    records = list(compare.PARTS[part]([pot, broken], True))
    for record in records:
        figures = [value for value in record.values() if isinstance(value, float)]
        if record["peer"] == "POT" and record.get("what") != "projections":
            assert figures
            assert np.isfinite(figures).all()
        else:
            assert not figures
            assert record["left_out"]
    both = {("POT", "as shipped"), ("POT", "tuned"), ("broken", "tuned")}
    assert {(record["peer"], record["form"]) for record in records} == both


def test_a_library_that_cannot_be_imported_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "peers.pot", None)
    pot = next(peer for peer in peers() if peer.name == "POT")
    assert pot.package == "POT"
    assert not pot.forms
    assert pot.missing.startswith("ModuleNotFoundError: ")


def test_parts_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["compare.py", "sped"])
    with pytest.raises(SystemExit) as exit_:
        compare.main()
    assert exit_.value.code == 2
    assert "unknown part 'sped'; choose from speed, angles, stages" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text"),
    [("folder/new.json", None), ("a.json", "no json"), ("a.json", "[1]"), ("a.json", '{"records": []}')],
)
def test_where_to_write_is_looked_at_first(monkeypatch, capsys, tmp_path, name, text):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    monkeypatch.setattr(sys, "argv", ["compare.py", "accuracy", "--out", str(path)])
    with pytest.raises(SystemExit) as exit_:
        compare.main()
    assert exit_.value.code == 2
    assert "--out must be" in capsys.readouterr().err
    assert text is None or path.read_text() == text


# ---------------------------------------------------------------- what is written


def test_all_is_measured():
    records = RESULTS["records"]
    assert {record["part"] for record in records} == set(compare.PARTS)
    missing = {name for setup in RESULTS["setups"].values() for name in setup["missing"]}
    assert {record["peer"] for record in records} | missing == {name for name, _ in LIBRARIES.values()}
    measured = {record["case"] for record in page.where(records, part="speed")}
    assert measured == {str(case) for case in speed.cases(quick=False)}


@pytest.mark.parametrize("name", catalogue_page.TABLES)
def test_the_tables_of_catalogues_are_what_was_measured(name):
    figures = catalogue_page.measured_figures()
    text = (catalogue_page.DOCS / name).read_text(encoding="utf-8")
    assert catalogue_page.with_tables(text, name, figures) == text
    with pytest.raises(ValueError, match="there must be one place between"):
        catalogue_page.with_tables(text.replace(catalogue_page.END, ""), name, figures)


def test_the_page_is_what_was_measured():
    assert page.page(RESULTS) == page.PAGE.read_text(encoding="utf-8")


def test_the_readme_is_what_was_measured():
    text = page.README.read_text(encoding="utf-8")
    assert page.with_figures(text, RESULTS) == text
    with pytest.raises(ValueError, match="must be one place between"):
        page.with_figures(text.replace(page.MARKS[1], ""), RESULTS)


def test_who_is_better_is_named():
    def record(case, peer, error):
        return {"part": "accuracy", "case": case, "peer": peer, "form": "as shipped", "error": error}

    records = [record("disc", "radoncdt", 0.2), record("disc", "other", 0.1), record("square", "radoncdt", 0.1)]
    said = page.winners([*records, record("square", "other", 0.3)], "accuracy", {"error": "largest"})
    assert said == (
        "in 1 of 2 cases none is less than ours, up to rounding. In the others it is less: largest, disc "
        "(other, as shipped: 0.1, ours 0.2)."
    )


def test_what_was_left_out_is_said():
    keys = ("part", "case", "peer", "form", "kind", "side", "n_angles", "dtype", "batch", "what")
    records = [
        {key: r[key] for key in keys if key in r} | {"left_out": "it fails"} if r["peer"] == "POT" else r
        for r in RESULTS["records"]
    ]
    text = page.page({**RESULTS, "records": records})
    assert "- POT, tuned, dense, 64 × 64, 128 angles, float32: it fails\n" in text
    assert "- POT, tuned, rotation: it fails\n" in text
    setups = {part: {**setup, "missing": {"adrt": "no"}} for part, setup in RESULTS["setups"].items()}
    assert "- adrt could not be imported: no\n" in page.page({**RESULTS, "setups": setups})
    setups["speed"] = {**setups["speed"], "python": "4.0"}
    assert "For speed: Python 4.0" in page.page({**RESULTS, "setups": setups})


@pytest.mark.parametrize("make", plots.PICTURES)
def test_pictures_are_drawn(make):
    _, figure = make(RESULTS["records"])
    assert all(ax.lines for ax in figure().axes)


@pytest.mark.parametrize("make", plots.PICTURES)
def test_the_pictures_show_what_was_measured(make):
    facts, _ = make(RESULTS["records"])
    shown = plot.read_facts(page.PAGE.with_name(f"benchmarks_{make.__name__}.png"))
    assert json.dumps(shown) == json.dumps(facts)


# ---------------------------------------------------------------- the pixels of Table 4


def test_the_pixels_are_those_of_the_protocol():
    mnist = datasets.load_mnist()
    cell = Cell("table4", "published", "linmnist", "euclidean", None, "svm", None, max(pixels.SIZES))
    images = draw_images(cell, Draw(0, 3, mnist))[0]
    assert_allclose(pixels.once(pixels.digits(mnist), 3), images, atol=1e-5)
    nearest = pixels.nearest(pixels.digits(mnist), 3)
    assert np.corrcoef(nearest.ravel(), images.ravel())[0, 1] > 0.9
    in_steps = pixels.in_steps(pixels.digits(mnist), 3)
    assert np.corrcoef(in_steps.ravel(), images.ravel())[0, 1] > 0.95


def test_the_numbers_of_julia_are_those_it_documents():
    assert pixels.julia_numbers(1234, 2) == [0.32597672886359486, 0.5490511363155669]


@pytest.mark.slow
def test_the_table_of_the_pixels_is_what_the_script_prints():
    """Up to a few predictions: LIBLINEAR stops early, and rounding differs between processors."""
    number = re.compile(r"[-+]?\d+\.\d+")
    printed = pixels.table(datasets.load_mnist())
    lines = (BENCHMARKS.parent / "docs" / "reproduction.md").read_text().splitlines()
    first = lines.index(printed[0])
    for line, documented in zip(printed, lines[first : first + len(printed)], strict=True):
        assert number.sub("", line) == number.sub("", documented)
        for figure, expected in zip(number.findall(line), number.findall(documented), strict=True):
            assert abs(float(figure) - float(expected)) <= (0.3 if expected[0] in "+-" else 0.0021)
