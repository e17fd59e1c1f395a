"""Searching a catalogue: exactness, plausible maps, sizes."""

import shutil
import warnings

import numpy as np
import pytest
from files import run
from marks import MARKS, save, save_marks

import radoncdt
from radoncdt._geometry import rotation
from radoncdt.catalogue import DEFAULT_LIMITS, Catalogue
from radoncdt.catalogue.line_fit import find_thumbnail_points, fit_lines
from radoncdt.ink import InkError
from radoncdt.matching.alignment import find_registration
from radoncdt.matching.prior import PRIORS
from radoncdt.matching.turns import penalise_map


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A catalogue of 24 marks, and a folder with queries."""
    folder = tmp_path_factory.mktemp("search")
    save_marks(folder / "marks", 24)
    with Catalogue(folder / "marks.db", create=True) as catalogue:
        catalogue.add(folder / "marks", metadata=folder / "marks.csv")
    queries = MARKS.queries(6, rng=4)
    for k, image in enumerate(queries.images):
        save(folder / "queries" / f"q{k}.png", image)
    return folder, queries


@pytest.fixture
def folder(made, monkeypatch):
    monkeypatch.chdir(made[0])
    return made[0]


def test_queries_find_their_marks(folder, made):
    with Catalogue("marks.db") as catalogue:
        for k, mark in enumerate(made[1].marks):
            best = catalogue.search(f"queries/q{k}.png").matches[0]
            assert best.entry == mark + 1
            assert best.metadata["motif"] == MARKS[mark].motif


def test_the_map_leads_from_the_query_to_the_entry(folder, made):
    with Catalogue("marks.db") as catalogue:
        for k, (matrix, shift) in enumerate(zip(*made[1].maps)):
            found = catalogue.search(f"queries/q{k}.png").matches[0].registration
            best = min((found, *found.alternatives), key=lambda r: np.linalg.norm(r.matrix @ matrix - np.eye(2)))
            assert np.linalg.norm(best.matrix @ matrix - np.eye(2)) < 0.15  # lines are bent, and the pen is another
            assert np.linalg.norm(best.matrix @ shift + best.shift) < 15


@pytest.mark.parametrize(
    "ink",
    [
        np.hypot(*np.meshgrid(np.arange(-32, 33), np.arange(-32, 33))) < 20,
        np.arange(65 * 65).reshape(65, 65) == 32 * 65 + 32,
        np.broadcast_to(np.arange(65) == 32, (65, 65)),
        np.ones((65, 65)) > 0,
        np.arange(64).reshape(8, 8) % 9 == 0,
    ],
)
def test_degenerate_ink_is_searched_for_or_refused(folder, ink):
    with Catalogue("marks.db") as catalogue, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            image, free = np.where(ink, 0, 255).astype(np.uint8), {"limits": radoncdt.Plausible()}
            found = catalogue.search(image, kind="grey", ink="dark", **free).matches
        except InkError:
            return
        assert len(found) == 10
        assert all(np.isfinite([match.misfit, match.distance]).all() for match in found)


def test_changes_by_others_are_seen(folder, tmp_path):
    shutil.copy("marks.db", tmp_path / "m.db")
    with Catalogue(tmp_path / "m.db") as reader, Catalogue(tmp_path / "m.db", write=True) as writer:
        best = reader.search("queries/q0.png").matches[0].entry
        writer.remove([best])
        assert best not in [match.entry for match in reader.search("queries/q0.png", top=24).matches]


def test_results_do_not_depend_on_how_many_are_shown(folder):
    with Catalogue("marks.db") as catalogue:
        few, many = (catalogue.search("queries/q1.png", top=top).matches for top in (1, 3))
        assert (few[0].entry, few[0].p_value) == (many[0].entry, many[0].p_value)


def test_ink_that_is_hardly_likely_is_remarked(folder):
    page = np.full((400, 400), 255, np.uint8)
    page[200:208, 200:208] = 0
    with Catalogue("marks.db") as catalogue, pytest.warns(UserWarning, match="0.04% of the image is ink; is"):
        catalogue.search(page)


def test_mirror_images_can_be_told_apart(folder):
    mirrored = save(folder / "mirrored.png", MARKS[1].image()[:, ::-1])
    with Catalogue("marks.db") as catalogue:
        best = catalogue.search(mirrored).matches[0]
        assert (best.entry, best.registration.mirrored) == (2, True)
        other = [
            match
            for match in catalogue.search(mirrored, top=24, limits=radoncdt.Plausible(reflections=False)).matches
            if match.entry == 2
        ]
        assert other[0].distance > 3 * best.distance
        assert not other[0].registration.mirrored


def test_maps_that_are_not_plausible_are_left_out(folder):
    wide = save(folder / "wide.png", np.repeat(MARKS[1].image(), 3, axis=1))
    with Catalogue("marks.db") as catalogue:
        best = catalogue.search(wide).matches[0]
        assert best.entry == 2
        assert best.registration.aspect == pytest.approx(3, rel=0.02)
        for match in catalogue.search(wide, top=24, limits=radoncdt.Plausible(max_aspect=1.5, max_shear=10)).matches:
            assert match.registration.aspect <= 1.5 * 1.001
            assert abs(match.registration.shear) <= 10.01


def describe_match(match):
    found = match.registration
    figures = match.score, match.distance, match.misfit, *found.matrix.ravel(), *found.shift
    return (match.rank, match.entry, match.p_value, match.metadata, found.mirrored, *figures)


def test_a_prior_without_penalties_changes_no_bit(folder):
    """Priors that penalise no map, or only the distortion distance, which searches do not use."""
    with Catalogue("marks.db") as catalogue:
        for k in range(6):
            plain = catalogue.search(f"queries/q{k}.png", top=24)
            for prior in ("any", (0, 0), radoncdt.MapPrior(bent_rotation=3)):
                found = catalogue.search(f"queries/q{k}.png", top=24, prior=prior)
                assert list(map(describe_match, found.matches)) == list(map(describe_match, plain.matches))
                assert found.compared == plain.compared


def test_scores_without_a_prior_are_those_of_plain_distances_and_line_fits(folder):
    """The search adds no penalties, not even tiny ones."""
    with Catalogue("marks.db") as catalogue, catalogue._open_index() as (snapshot, _):
        for k in range(3):
            result = catalogue.search(f"queries/q{k}.png", top=24)
            moving, points = result.query.shape.descriptor.astype(np.float32), result.query.shape.points
            for match in result.matches:
                entry = snapshot.descriptors([match.entry])
                targets = find_thumbnail_points(result.thumbnails[match.entry], tuple(entry.frames[0].tolist()))
                found = find_registration(moving, entry, DEFAULT_LIMITS)
                fit = fit_lines(found, points, targets, float(entry.sizes[0]), DEFAULT_LIMITS)
                distance = radoncdt.affine_distances(moving, entry, limits=DEFAULT_LIMITS)[0, 0]
                assert (match.misfit, match.distance) == (fit.misfit, distance)
                assert match.score == fit.misfit + distance / 4
                np.testing.assert_array_equal(match.registration.matrix, fit.registration.matrix)


def test_a_prior_ranks_upright_marks_first(folder, tmp_path):
    """One mark twice, upright and turned: each query prefers the entry that it is turned like."""
    image = MARKS[1].image()
    shutil.copytree(folder / "marks", tmp_path / "marks")
    save(tmp_path / "marks" / "turned.png", np.rot90(image))
    stretched = np.pad(np.repeat(image, 2, axis=1), 8)
    save(tmp_path / "marks" / "wide.png", stretched)
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        catalogue.add(tmp_path / "marks")

        def search(ink, prior):
            return catalogue.search(np.uint8(255 - 255 * ink), prior=prior, top=26).matches

        def rank(ink, prior):
            return [match.file.rsplit("/", 1)[-1] for match in search(ink, prior)[:3]]

        assert set(rank(image, "any")) == {"001.png", "turned.png", "wide.png"}
        assert rank(image, "upright")[0] == "001.png"
        assert rank(np.rot90(image), "upright")[0] == "turned.png"
        assert rank(stretched, "upright")[0] == "wide.png"
        assert set(rank(np.rot90(image, 2), "photograph")[:2]) == {"001.png", "turned.png"}
        copies = [match for match in search(image, "upright") if match.file.endswith(("001.png", "d.png", "wide.png"))]
        assert len(copies) == 3
        for match in copies:
            penalty = penalise_map(match.registration.matrix, PRIORS["upright"])
            assert match.distance == pytest.approx(np.hypot(match.registration.distance, np.sqrt(penalty)), abs=0.01)
            assert match.score == match.misfit + match.distance / 4


def test_a_prior_decides_between_the_maps_of_a_symmetric_mark(folder, tmp_path):
    """A triangle fits itself at three turns, and mirrored at three more. With a prior, the smallest is chosen."""
    angles = np.deg2rad([90, 210, 330])
    rows, columns = np.mgrid[60:-61:-1, -60:61]
    edge = np.max([columns * np.cos(a + np.pi) + rows * np.sin(a + np.pi) for a in angles], axis=0)
    triangle = ((edge < 25) & (edge > 20)).astype(np.float32)
    save(tmp_path / "marks" / "triangle.png", triangle)
    turned = radoncdt.push_forward(triangle, rotation(np.deg2rad(130)), shape=(141, 141))
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        catalogue.add(tmp_path / "marks")
        query = np.uint8(np.rint(255 - 255 * np.clip(turned / turned.max(), 0, 1)))
        found = catalogue.search(query, prior="upright").matches[0].registration
        assert abs(found.rotation) == pytest.approx(10, abs=1.5)
        found = catalogue.search(query, prior=radoncdt.MapPrior(rotation=0.03, mirror=0.01)).matches[0].registration
        assert not found.mirrored
        assert found.rotation == pytest.approx(-10, abs=1.5)


def test_a_search_with_a_prior_has_no_p_values(folder, tmp_path):
    shutil.copytree(folder / "marks", tmp_path / "marks")
    save_marks(tmp_path / "marks" / "more", 12)
    for path in (tmp_path / "marks" / "more").glob("*.png"):
        save(path, MARKS[int(path.stem)].image()[:, ::-1])
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        catalogue.add(tmp_path / "marks")
        catalogue.calibrate(n_marks=20)
        for prior, calibrated in (("any", True), ((0, 0), True), ("upright", False), ((0.1, 0), False)):
            found = catalogue.search("queries/q0.png", prior=prior)
            assert found.calibrated == calibrated
            assert all((match.p_value is not None) == calibrated for match in found.matches)
        with pytest.raises(ValueError, match="`prior` must be one of"):
            catalogue.search("queries/q0.png", prior="sideways")
        with pytest.raises(TypeError, match="`prior` must be one of 'any', 'upright', 'photograph', a MapPrior or two"):
            catalogue.search("queries/q0.png", prior=3)


def test_sizes_in_millimetres_choose_entries(folder, tmp_path):
    """The same mark twice, as large again on paper."""
    shutil.copytree(folder / "marks", tmp_path / "marks")
    image = MARKS[1].image()
    save(tmp_path / "marks" / "zoomed.png", np.pad(image, 10))
    columns, rows = (np.flatnonzero(image.any(axis=axis)) for axis in (0, 1))
    width, height = 0.2 * np.ptp(columns), 0.2 * np.ptp(rows)
    (tmp_path / "sizes.csv").write_text(
        f"file,width_mm,height_mm\n001.png,{width},{height}\nzoomed.png,{2 * width},\n", encoding="utf-8"
    )
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        catalogue.add(tmp_path / "marks", metadata=tmp_path / "sizes.csv")
        turned = np.rot90(image)

        def found(factor):
            query = np.uint8(255 - 255 * turned)
            matches = catalogue.search(query, size_mm=(factor * height, factor * width), top=25).matches
            return {match.file.rsplit("/", 1)[-1] for match in matches} & {"001.png", "zoomed.png"}

        assert found(1) == {"001.png"}
        assert found(2) == {"zoomed.png"}
        assert found(5) == set()
        with pytest.raises(ValueError, match="`size_mm` must be"):
            catalogue.search("queries/q0.png", size_mm=(0, 1))


def test_a_search_is_printed(folder, made, capsys):
    assert run("search", "marks.db", "queries/q0.png", "--top", 3) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert lines[0].split()[:3] == ["1", "entry", str(made[1].marks[0] + 1)]
    assert "rotated by" in lines[1]


def test_bad_queries_are_refused(folder, tmp_path, capsys):
    (tmp_path / "text.png").write_text("no image", encoding="utf-8")
    assert run("search", "marks.db", tmp_path / "text.png") == 1
    assert "unrecognised image format" in capsys.readouterr().err
    save(tmp_path / "good.png", MARKS[0].image())
    assert run("search", "marks.db", tmp_path, "--csv", tmp_path / "t.csv", "--report", tmp_path / "r.html") == 1
    assert "These images could not be searched for" in (tmp_path / "r.html").read_text(encoding="utf-8")
    for wrong in (
        ("--top", 0),
        ("--roi", "1,2,3"),
        ("--size-mm", "3"),
        ("--size-mm", "3x-1"),
        ("--max-aspect", "0.5"),
        ("--threshold", "3"),
        ("--report", "nowhere/r.html"),
        ("--kind", "sketch"),
        ("--report", "marks.db"),
        ("--csv", "queries/q0.png"),
        ("--quiet",),
        ("--where", "nonsense ="),
    ):
        assert run("search", "marks.db", "queries/q0.png", *wrong) == 2, wrong
    assert run("search", "missing.db", "queries/q0.png") == 2
    assert "there is no such catalogue" in capsys.readouterr().err
