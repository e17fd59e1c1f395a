"""The report of a classification."""

import base64
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from marks import MARKS, save
from PIL import Image

from radoncdt import AffineNeighborsClassifier
from radoncdt.folders import classify_folders, report

EVIL = "<script>alert(1)</script>&\"'\x1b[31m\n\u202e"


class Page(HTMLParser):
    """Elements of a page by tag, with their attributes; elements must be closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(text)
        self.close()
        self.text = " ".join(self.words)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data.split()

    def find(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def found(images):
    return classify_folders(images / "train", images / "test")


def pixels_of(uri):
    data = uri.removeprefix("data:image/png;base64,")
    return np.asarray(Image.open(BytesIO(base64.b64decode(data))).convert("RGB"), float) / 255


def test_every_image_is_shown_with_its_overlay_and_example(found):
    calls = []
    page = Page(report.html(found, on_progress=lambda *call: calls.append(call)))
    pictures = [picture["src"] for picture in page.find("img")]
    assert len(pictures) == 3 * 12
    assert calls[-1] == (12, 12, "writing the report")
    assert "12 images in 3 classes" in page.text
    assert "12 of 12 images whose class is known are right: 1.000" in page.text
    for row in found.rows:
        assert f"image {row.file} example {row.example}, share {row.share:.2f}" in page.text
        assert f"{row.predicted} p {row.p:.3f} " in page.text
        assert row.registration.words in page.text
    assert f"prior {found.settings['prior']} mirror images" in page.text
    assert "<script" not in report.html(found)


def test_the_least_certain_image_comes_first(found):
    text = report.html(found)
    places = [text.index(f"<dd>{row.file}</dd>") for row in found.sort_by_certainty()]
    assert places == sorted(places)


def test_lines_of_the_overlay_agree(found):
    """Mostly dark pixels, and few that are orange or blue."""
    row = max(found.rows, key=lambda row: row.p)
    single = found._replace(rows=(row,))
    picture = pixels_of(Page(report.html(single)).find("img")[1]["src"])
    assert picture.shape[2] == 3
    dark, coloured = picture.max(axis=2) < 0.35, np.ptp(picture, axis=2) > 0.5
    assert dark.sum() > coloured.sum()
    wrong = row._replace(registration=found.rows[0].registration, example=found.rows[0].example)
    assert wrong.example != row.example
    picture = pixels_of(Page(report.html(single._replace(rows=(wrong,)))).find("img")[1]["src"])
    assert (np.ptp(picture, axis=2) > 0.5).sum() > coloured.sum()


def test_wrong_predictions_are_counted_and_marked(found):
    rows = [found.rows[0]._replace(label="class 4"), *found.rows[1:], found.rows[0]._replace(label="other")]
    page = Page(report.html(found._replace(rows=tuple(rows))))
    assert "11 of 12 images" in page.text  # the thirteenth has no known class
    assert "wrong, it is class 4" in page.text
    assert len([each for each in page.find("span") if each["class"] == "badge right"]) == 11
    cells = [each.get("class") for each in page.find("td")]
    assert (cells.count("hit"), cells.count("miss")) == (3, 1)


def test_many_classes_have_a_list_of_confusions_instead_of_a_matrix(found):
    names = tuple(sorted({*found.classes, *(f"more {k}" for k in range(30))}))
    rows = (found.rows[0]._replace(label="class 4"), *found.rows[1:])
    many = found._replace(rows=rows, classes=names, n_examples=dict.fromkeys(names, 1))
    page = Page(report.html(many))
    assert "taken for" in page.text
    assert "Classes with wrong predictions All images of the other 2 known classes are right." in page.text
    assert "taken for class 4 1 4 of 5 0.800 class 1 (1) Images" in page.text
    assert not [each for each in page.find("td") if each.get("class") == "hit"]
    assert "All images of 3 known classes are right. Images" in Page(report.html(many._replace(rows=found.rows))).text


def test_images_without_known_classes_have_no_accuracy(found):
    page = Page(report.html(found._replace(rows=tuple(row._replace(label=None) for row in found.rows))))
    assert "known" not in page.text
    assert page.find("table") == []


def test_images_without_a_class_are_shown(folder):
    tall = np.zeros((240, 60))
    tall[10:230, 10:50] = 1
    save("odd/class 1/tall.png", tall)
    model = AffineNeighborsClassifier(moments="robust", trim=1 / 16, max_aspect=1.0)
    page = Page(report.html(classify_folders("train", "odd", classifier=model)))
    assert "no plausible map reaches any" in page.text
    assert "0 of 1 image whose class is known is right: 0.000" in page.text
    assert "limits max_aspect=1" in page.text
    assert len(page.find("img")) == 1


@pytest.mark.parametrize("n_neighbors", [1, 3])
def test_neighbours_have_margins(folder, n_neighbors):
    found = classify_folders("train", "test", classifier=AffineNeighborsClassifier(n_neighbors))
    page = Page(report.html(found))
    assert f"margin {found.rows[0].margin:.3g}" in page.text
    assert (" p 1.000" in page.text) == (n_neighbors > 1)
    assert "distance to the nearest example of another class" in page.text


def test_a_lost_image_does_not_change_the_explanation(folder):
    found = classify_folders("train", "test", classifier=AffineNeighborsClassifier())
    lost = found.rows[0]._replace(predicted=None, margin=None, example=None, registration=None, second=None)
    page = Page(report.html(found._replace(rows=(lost, *found.rows[1:]))))
    assert "distance to the nearest example of another class" in page.text
    assert "no class" in page.text


def test_names_are_neither_html_nor_control_characters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [EVIL.replace("/", "∕"), "b\udcffad"]
    for k, name in enumerate(names):
        save(f"train/{name}/{name}.png", MARKS[k].image())
    Path(f"train/{names[0]}/<b>.png").write_text("no image", encoding="utf-8")
    text = report.html(classify_folders("train", "train"))
    assert "<script" not in text
    assert "<b>.png" not in text
    for character in "\x1b\u202e\udcff":
        assert character not in text
    page = Page(text)
    assert "<script>alert(1)<∕script>&\"'\\x1b[31m\\n\\u202e" in page.text
    assert r"b\xffad" in page.text
    assert "1 image could not be read" in page.text
    text.encode()


def test_a_page_of_hundreds_of_images_is_small(found):
    """At most 6 MB for 500 images."""
    assert len(report.html(found)) * 500 / 12 < 6e6


def test_a_page_shows_at_most_a_thousand_images(found, monkeypatch):
    monkeypatch.setattr(report, "_MAX_ROWS", 5)
    page = Page(report.html(found))
    assert "The 5 least certain of 12 images." in page.text
    assert len(page.find("section")) == 5


def test_degenerate_maps_are_drawn(tmp_path, monkeypatch):
    """Dots and lines are registered by maps of any aspect."""
    monkeypatch.chdir(tmp_path)
    line, dot, cross = np.zeros((3, 200, 200))
    line[100, 10:190] = dot[100:104, 100:104] = cross[100, 50:150] = cross[50:150, 100] = 1
    for name, image in {"line": line, "dot": dot, "cross": cross}.items():
        save(f"train/{name}/a.png", image)
        save(f"test/{name}/a.png", image.T)
    page = Page(report.html(classify_folders("train", "test")))
    assert len(page.find("img")) == 9
