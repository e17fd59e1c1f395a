"""Searching a catalogue: exactness, plausible maps, sizes."""

import shutil
import warnings

import numpy as np
import pytest
from files import run
from marks import MARKS, save, save_marks

import radoncdt
from radoncdt.catalogue import Catalogue
from radoncdt.ink import InkError


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


def test_sizes_in_millimetres_choose_entries(folder, tmp_path):
    """The same mark twice, as large again on paper."""
    shutil.copytree(folder / "marks", tmp_path / "marks")
    image = MARKS[1].image()
    save(tmp_path / "marks" / "zoomed.png", np.pad(image, 10))
    columns, rows = (np.flatnonzero(image.any(axis=axis)) for axis in (0, 1))
    width, height = 0.2 * np.ptp(columns), 0.2 * np.ptp(rows)
    (tmp_path / "sizes.csv").write_text(f"file,width_mm,height_mm\n001.png,{width},{height}\nzoomed.png,{2 * width},\n")
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
    (tmp_path / "text.png").write_text("no image")
    assert run("search", "marks.db", tmp_path / "text.png") == 1
    assert "unrecognised image format" in capsys.readouterr().err
    save(tmp_path / "good.png", MARKS[0].image())
    assert run("search", "marks.db", tmp_path, "--csv", tmp_path / "t.csv", "--report", tmp_path / "r.html") == 1
    assert "These images could not be searched for" in (tmp_path / "r.html").read_text()
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
