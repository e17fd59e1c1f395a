"""The pictures of the documentation show what the code computes."""

import json
import re
from pathlib import Path

import pictures
import pytest
import recognise_shapes

from radoncdt import plot

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
FACTS = {name: lambda make=make: make()[0] for name, make in pictures.PICTURES.items()}
FACTS["recognise_shapes"] = lambda: recognise_shapes.compute_facts(*recognise_shapes.make_copies(50, 0))
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def agree(shown, now):
    """Check whether facts agree, up to one unit in the last digit of a decimal fraction, because of rounding."""
    texts = json.dumps(shown), json.dumps(now)
    return NUMBER.sub("", texts[0]) == NUMBER.sub("", texts[1]) and all(
        abs(float(a) - float(b)) <= 1.01 * 10.0 ** -len(a.partition(".")[2]) if "." in a else a == b
        for a, b in zip(*map(NUMBER.findall, texts), strict=True)
    )


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.png")), ids=lambda path: path.stem)
def test_every_picture_has_facts_and_a_test(path):
    assert plot.read_facts(path)
    elsewhere = ("benchmarks_", "recognition_")  # see benchmarks/test_comparison_plots.py and test_recognition_page.py
    assert path.stem in FACTS or path.stem.startswith(elsewhere)
    assert path.stat().st_size < 250_000


@pytest.mark.parametrize("name", FACTS)
def test_pictures_show_what_the_code_computes(name):
    shown, now = plot.read_facts(PICTURES / f"{name}.png"), FACTS[name]()
    assert agree(shown, now), (shown, now)


def test_the_documents_agree_with_their_pictures():
    library, watermarks = (
        " ".join((PICTURES.parent / "start" / name).read_text(encoding="utf-8").split())
        for name in ("index.md", "watermarks.md")
    )
    curves, search = (plot.read_facts(PICTURES / f"{name}.png") for name in ("recognise_shapes", "search"))
    assert f"of its copies differ by at most {curves['largest difference of a copy']}," in library
    assert f"most similar templates differ by up to {curves['smallest difference of two templates']}." in library
    assert f"a catalogue of {search['entries']} synthetic marks. Rank 1 is the right mark" in watermarks
    assert search["found"][0]["file"] == search["right"]


def test_facts_agree_up_to_the_last_digit():
    facts = {"entry": "012.png", "score": "0.060", "rank": 1}
    assert agree(facts, facts | {"score": "0.061"})
    for other in ({"score": "0.062"}, {"score": "-0.060"}, {"entry": "013.png"}, {"rank": 2}, {"more": 1}):
        assert not agree(facts, facts | other)
