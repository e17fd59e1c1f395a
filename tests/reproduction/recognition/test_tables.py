"""Tables of the studies of recognition."""

from dataclasses import asdict

from radoncdt.reproduction.recognition.glyph_study import GLYPH_METHODS, GlyphFigures
from radoncdt.reproduction.recognition.omniglot import ONE_SHOT_METHODS, OneShotFigures
from radoncdt.reproduction.recognition.tables import (
    GLYPH_LABELS,
    ONE_SHOT_LABELS,
    list_glyphs,
    list_one_shot,
)


def test_all_methods_have_labels():
    assert tuple(GLYPH_LABELS) == GLYPH_METHODS
    assert tuple(ONE_SHOT_LABELS) == ONE_SHOT_METHODS


def test_glyphs():
    figures = [
        GlyphFigures("Sans", "Serif", 20_000, 500, "mnrcdt", None, 0.156, 0.0162, 0.342, 0.0212, 0.1, 0.0062, 2),
        GlyphFigures("Sans", "Serif", 20_000, 500, "refined", 100, 0.98, 0.006, 1.0, 0.0, 0.1, 0.1234, 2),
    ]
    header, rows = list_glyphs([asdict(each) for each in figures])
    assert len(header) == len(rows[0])
    assert rows == [
        ["Sans", "Serif", "20,000", "500", "mNR-CDT (the paper)", "0.156 ± 0.016", "0.342 ± 0.021", "6.2"],
        [
            *("Sans", "Serif", "20,000", "500", "`AffineNeighbors(refine=100, frame_size=56)`"),
            *("0.980 ± 0.006", "1.000 ± 0.000", "123"),
        ],
    ]


def test_one_shot():
    figures = OneShotFigures("background", "upright", 60, 0.8517, 0.0149, 15.0, 12.0, 1)
    header, rows = list_one_shot([asdict(figures)])
    assert header == ["tasks", "number", "method", "accuracy", "seconds per task"]
    assert rows == [["background", "60", ONE_SHOT_LABELS["upright"], "0.852 ± 0.015", "0.20"]]
