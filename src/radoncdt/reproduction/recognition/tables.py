"""Tables of the studies of recognition, made from stored records."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["GLYPH_LABELS", "ONE_SHOT_LABELS", "list_glyphs", "list_one_shot"]

GLYPH_LABELS = {
    "mnrcdt": "mNR-CDT (the paper)",
    "registered": "`AffineNeighbors`",
    "refined": "`AffineNeighbors(refine={refined}, frame_size=56)`",
    "even": "`AffineNeighbors`, even ink",
    "even refined": "`AffineNeighbors(refine={refined}, frame_size=56)`, even ink",
}
"""What the methods of the glyph study are called."""

ONE_SHOT_LABELS = {
    "mnrcdt": "mNR-CDT (the paper)",
    "registered": "`AffineNeighbors`",
    "any": '`FewShotClassifier(prior="any", frame_size=32, window=3, n_candidate_classes=20)`',
    "upright": '`FewShotClassifier(prior="upright", frame_size=32, window=3, n_candidate_classes=20)`',
}
"""What the methods of the one-shot study are called."""


Table = tuple[list[str], list[list[str]]]
"""The header and the rows of a table."""


def list_glyphs(records: Sequence[Mapping[str, Any]]) -> Table:
    """Make the table of the glyph study: one row per pair of fonts and method. The time is processor time.

    Parameters
    ----------
    records : sequence of mappings
        `GlyphFigures` as mappings, of one or several pairs of fonts.

    Returns
    -------
    header, rows
    """
    rows = []
    for record in records:
        milliseconds = 1000 * record["cpu_seconds"]
        rows.append(
            [
                record["font"],
                record["query_font"],
                f"{record['characters']:,}",
                f"{record['queries']:,}",
                GLYPH_LABELS[record["method"]].format(refined=record["refined"]),
                _show(record["first"], record["first_error"]),
                _show(record["ten"], record["ten_error"]),
                f"{milliseconds:.0f}" if milliseconds >= 9.5 else f"{milliseconds:.1f}",
            ]
        )
    return ["templates", "drawn in", "characters", "queries", "method", "first", "among ten", "ms per query"], rows


def list_one_shot(records: Sequence[Mapping[str, Any]]) -> Table:
    """Make the table of the one-shot study: one row per method and source of tasks.

    Parameters
    ----------
    records : sequence of mappings
        `OneShotFigures` as mappings.

    Returns
    -------
    header, rows
    """
    rows = [
        [
            record["source"],
            str(record["tasks"]),
            ONE_SHOT_LABELS[record["method"]],
            _show(record["accuracy"], record["error"]),
            f"{record['cpu_seconds'] / record['tasks']:.2f}",
        ]
        for record in records
    ]
    return ["tasks", "number", "method", "accuracy", "seconds per task"], rows


def _show(share: float, error: float) -> str:
    return f"{share:.3f} ± {error:.3f}"
