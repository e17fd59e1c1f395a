"""Characters of one font found among those of another."""

import numpy as np
import pytest

import radoncdt
from radoncdt import datasets
from radoncdt.reproduction.recognition import glyph_study
from radoncdt.reproduction.recognition.glyph_study import GLYPH_METHODS, GlyphStudy, draw_glyphs, measure_glyphs

LETTERS = "ABCDEFGHJKLMPQRSTUVWXYZ" + "bdfgkprt"


@pytest.fixture(scope="module")
def fonts():
    return {font.name: font for font in datasets.list_fonts(system=False)}


@pytest.fixture(autouse=True)
def _few_letters(monkeypatch):
    monkeypatch.setattr(glyph_study, "list_letters", lambda: iter(LETTERS))


@pytest.fixture(scope="module")
def study(fonts):
    return GlyphStudy(fonts["DejaVu Sans Book"], fonts["DejaVu Sans Bold"], n_queries=12, refined=10, size=60)


@pytest.fixture
def drawn(study):
    return draw_glyphs(study)


def test_letters_are_those_of_all_scripts(monkeypatch):
    monkeypatch.undo()
    letters = set(glyph_study.list_letters())
    assert {"A", "z", "Ω", "я", "א", "あ", "한", "一", "\U00020000"} <= letters
    assert not letters & {"1", "!", " ", "\n", "\u0301"}
    assert glyph_study.is_ideograph("一")
    assert not glyph_study.is_ideograph("あ")


def test_chinese_characters_are_preferred_where_they_are_most(fonts, monkeypatch):
    monkeypatch.setattr(glyph_study, "is_ideograph", lambda character: character not in "ABC")
    font = fonts["DejaVu Sans Book"]
    study = GlyphStudy(font, font, n_queries=2, size=20)
    assert draw_glyphs(study).characters == [letter for letter in LETTERS if letter not in "ABC"]
    monkeypatch.setattr(glyph_study, "is_ideograph", lambda character: character in "ABC")
    assert draw_glyphs(study).characters == list(LETTERS)


def test_queries_are_moved_characters_of_the_other_font(fonts, study, drawn):
    assert drawn.characters == list(LETTERS)
    assert len(drawn.templates) == len(LETTERS)
    assert len(drawn.queries) == 12
    assert len(set(drawn.right.tolist())) == 12
    for query, right in zip(drawn.queries, drawn.right):
        (own,) = datasets.glyphs(study.query_font, LETTERS[right], size=60)
        assert query.max() <= 1
        assert (query[[0, -1]].sum(), query[:, [0, -1]].sum()) == (0, 0)
        found = radoncdt.register(own, query, limits=radoncdt.Plausible(reflections=False))
        assert found.distance < 0.03
        area = np.linalg.det(found.matrix)
        assert query.sum() == pytest.approx(area * own.sum(), rel=0.05)
    again = draw_glyphs(study)
    assert again.characters == drawn.characters
    np.testing.assert_array_equal(again.queries[3], drawn.queries[3])


def test_some_of_the_characters_are_chosen(fonts):
    font = fonts["DejaVu Sans Book"]
    few = draw_glyphs(GlyphStudy(font, font, n_characters=15, n_queries=40, size=20))
    assert len(few.templates) == len(few.queries) == 15
    assert set(few.characters) < set(LETTERS)
    other = draw_glyphs(GlyphStudy(font, font, n_characters=15, n_queries=40, size=20, seed=1))
    assert other.characters != few.characters


def test_all_registered_methods_find_the_same_typeface(fonts):
    font = fonts["DejaVu Serif Book"]
    study = GlyphStudy(font, font, n_queries=12, refined=10)
    drawn = draw_glyphs(study)
    figures = {method: measure_glyphs(study, drawn, method, n_jobs=1) for method in GLYPH_METHODS}
    for method in ("registered", "refined", "even refined"):
        assert figures[method].first == 1
        assert figures[method].first_error == 0
    assert figures["mnrcdt"].ten >= figures["mnrcdt"].first > 0.5


def test_figures_say_what_was_measured(study, drawn):
    calls = []
    figures = measure_glyphs(study, drawn, "refined", n_jobs=1, on_progress=lambda *call: calls.append(call))
    assert calls == [(0, 12, "refined"), (12, 12, "refined")]
    assert (figures.font, figures.query_font) == ("DejaVu Sans Book", "DejaVu Sans Bold")
    assert (figures.characters, figures.queries, figures.refined, figures.threads) == (len(LETTERS), 12, 10, 1)
    assert 0.5 < figures.first <= figures.ten <= 1
    assert figures.first_error == pytest.approx(np.sqrt(figures.first * (1 - figures.first) / 12))
    assert figures.seconds > 0
    assert figures.cpu_seconds >= 0
    assert figures.seconds > 0
    registered = measure_glyphs(study, drawn, "registered", n_jobs=1)
    assert registered.refined is None
    assert registered.first <= figures.first


def test_affine_copies_count_as_one():
    level, upright, cross = np.zeros((3, 80, 80), np.float32)
    level[30:40, 10:70] = upright[10:70, 30:40] = 1
    cross[30:40, 10:70] = cross[10:70, 30:40] = 1
    np.testing.assert_array_equal(glyph_study.find_copies(level, [upright, cross, level]), [True, False, True])
    drawn = glyph_study.Glyphs(list("abc"), [level, upright, cross], [level, level], np.array([0, 2]))
    found = np.array([[1, 2, 0], [0, 1, 2]])
    expected = [[True, False, True], [False, False, True]]
    np.testing.assert_array_equal(glyph_study.compare_found(drawn, found), expected)


def test_wrong_studies_are_refused(fonts, study, drawn, monkeypatch):
    font = fonts["DejaVu Sans Book"]
    with pytest.raises(TypeError, match="`font` must be of the type Font"):
        GlyphStudy("DejaVu", font)
    with pytest.raises(ValueError, match="`n_characters` must be at least 10, got 9"):
        GlyphStudy(font, font, n_characters=9)
    with pytest.raises(ValueError, match=r"`method` must be one of 'mnrcdt', .* got 'fast'"):
        measure_glyphs(study, drawn, "fast")
    monkeypatch.setattr(glyph_study, "list_letters", lambda: iter("ABC"))
    with pytest.raises(ValueError, match="must share at least 10 letters with the font, got DejaVu Sans Book and"):
        draw_glyphs(study)
