"""Characters of fonts as images."""

import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest
from processes import run

from radoncdt import affine_distances, datasets
from radoncdt.datasets import fonts as module

CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@pytest.fixture(scope="module")
def fonts():
    return {font.name: font for font in datasets.list_fonts(system=False)}


def test_fonts_of_matplotlib_have_all_capitals(fonts):
    assert list(fonts) == sorted(fonts)
    assert {"DejaVu Sans Book", "DejaVu Serif Bold", "STIXGeneral Regular"} <= set(fonts)
    families = {font.family for font in fonts.values()}
    assert not families & {"cmex10", "cmsy10", "Last Resort High-Efficiency"}
    for font in fonts.values():
        assert datasets.shared_characters([font], CAPITALS) == list(CAPITALS)


def test_listing_fonts_does_not_import_matplotlib():
    code = "from radoncdt import datasets; import sys; datasets.list_fonts(system=False)"
    assert run(f"{code}; print('matplotlib' in sys.modules)") == "False"


def test_fonts_in_folders_are_listed_once(fonts, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert datasets.list_fonts(system=False) == []
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    for name in ("one.TTF", "two.ttf"):
        shutil.copy(fonts["DejaVu Sans Book"].path, deep / name)
    (tmp_path / "notes.txt").write_text("not a font", encoding="utf-8")
    (tmp_path / "broken.ttf").write_text("not a font either", encoding="utf-8")
    assert datasets.list_fonts([tmp_path], system=False) == [replace(fonts["DejaVu Sans Book"], path=deep / "one.TTF")]


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_fonts_of_the_user_are_found(fonts, tmp_path, monkeypatch, platform):
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("HOME", "USERPROFILE", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    folders = list(module._system_folders())
    mine = [folder for folder in folders if folder.is_relative_to(tmp_path)]
    assert mine
    mine[0].mkdir(parents=True)
    shutil.copy(fonts["DejaVu Sans Book"].path, mine[0] / "mine.ttf")
    monkeypatch.setattr(module, "_system_folders", lambda: mine)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert [font.path for font in datasets.list_fonts()] == [mine[0] / "mine.ttf"]


def test_characters_are_white_on_black_with_a_margin(fonts):
    font = fonts["DejaVu Sans Book"]
    one, wide = datasets.glyphs(font, "IW", size=50)
    for image in (one, wide):
        assert image.dtype == np.float32
        assert image.max() == 1
        assert image.min() == 0
        rows, columns = np.nonzero(image)
        assert (rows.min(), columns.min()) >= (5, 5)
        assert rows.max() < image.shape[0] - 5
        assert columns.max() < image.shape[1] - 5
    assert wide.shape[1] > 2 * one.shape[1]
    np.testing.assert_array_equal(datasets.glyphs(font.path, ["W"], size=50)[0], wide)


def test_larger_drawings_are_affine_copies(fonts):
    font = fonts["DejaVu Serif Book"]
    small, large = (datasets.glyphs(font, "FGR", size=size) for size in (60, 150))
    distances = affine_distances(small, large)
    assert distances.diagonal().max() < 0.25 * (distances + np.eye(3)).min()


def test_characters_of_all_fonts_are_shared(fonts):
    sans, stix = fonts["DejaVu Sans Book"], fonts["STIXGeneral Regular"]
    ideograph, space = "\N{CJK UNIFIED IDEOGRAPH-4E00}", " "
    lao = "\N{LAO LETTER KO}"  # in DejaVu only
    wanted = ["B", ideograph, lao, space, "A"]
    assert datasets.shared_characters([sans], wanted) == ["B", lao, "A"]
    assert datasets.shared_characters([sans, stix], wanted) == ["B", "A"]
    assert datasets.shared_characters([], "ab") == ["a", "b"]


def test_wrong_fonts_and_characters_are_refused(fonts, tmp_path):
    font = fonts["DejaVu Sans Book"]
    text = tmp_path / "text.ttf"
    text.write_text("not a font", encoding="utf-8")
    with pytest.raises(ValueError, match=r"`font` must be a font file, got '.*text.ttf' \("):
        datasets.glyphs(text, "A")
    with pytest.raises(ValueError, match=r"`font` must be a font file, got '.*none.ttf', which does not exist"):
        datasets.read_font(tmp_path / "none.ttf")
    with pytest.raises(ValueError, match=r"`font` must be a font file, got '.*', face 7"):
        datasets.read_font(font.path, 7)
    with pytest.raises(TypeError, match="`font` must be a Font or the path of a font file, got list"):
        datasets.glyphs(["A"], "A")
    with pytest.raises(ValueError, match="`index` must be at least 0, got -1"):
        datasets.read_font(font.path, -1)
    with pytest.raises(ValueError, match="`characters` must have ink in the font DejaVu Sans Book, got ' '"):
        datasets.glyphs(font, "A B")
    with pytest.raises(ValueError, match="`size` must be at least 4, got 3"):
        datasets.glyphs(font, "A", size=3)
