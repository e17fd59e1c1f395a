"""The checker of the built documentation finds every kind of mistake in small made-up sites."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parent.parent / "tools" / "check_site.py"
SITE = {
    "index.html": '<h1 id="top">Start</h1><a href="sub/page.html#here">a</a> <a href="https://example.org">outside</a>',
    "sub/page.html": '<p id="here">Text</p><a href="../index.html#top">back</a><img src="../dot.png" alt="a dot">',
    "style.css": "/* @import url(https://example.org/old.css) */ a { background: url('dot.png') }",
    "dot.png": "",
    "_static/part.html": '<a href="nowhere.html">part of a theme</a>',
}
"""A site without mistakes."""


@pytest.fixture(scope="module")
def checker():
    spec = importlib.util.spec_from_file_location("check_site", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def check(checker, tmp_path):
    def check(**changes):
        """Check the site with other texts for some of its files, added to what they have."""
        for name, text in SITE.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text + changes.pop(path.stem, ""), "utf-8")
        assert not changes
        return checker.check_site(tmp_path)

    return check


def test_a_site_in_order_has_no_problems(check):
    assert check() == []


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("missing.html", "links to missing.html, which does not exist"),
        ("../../index.html#nothing", "links to ../../index.html#nothing, which has no such anchor"),
        ("#nothing", "links to #nothing, which has no such anchor"),
        ("/sub/", "links to /sub/, which does not exist"),
    ],
)
def test_links_inside_the_site_must_exist(check, link, problem):
    assert check(page=f'<a href="{link}">a link</a>') == [f"sub/page.html: {problem}"]


@pytest.mark.parametrize("link", ["../", "page.html?highlight=a#here", "../dot.png", "mailto:a@example.org", "#h%65re"])
def test_links_may_have_other_forms(check, link):
    assert check(page=f'<a href="{link}">a link</a>') == []


@pytest.mark.parametrize(
    "element",
    [
        '<link rel="stylesheet" href="{}">',
        '<link rel="next" href="{}.html">',
        '<script src="{}"></script>',
        '<img src="{}" alt="a picture">',
        '<img src="../dot.png" srcset="{} 2x" alt="a picture">',
        '<iframe src="{}"></iframe>',
        '<video src="{}"></video>',
        '<object data="{}"></object>',
        '<p style="background: url({})">Text</p>',
        '<style>@import "{}";</style>',
    ],
)
@pytest.mark.parametrize("address", ["https://example.org/a", "//example.org/a"])
def test_pages_load_nothing_from_outside(check, element, address):
    (problem,) = check(page=element.format(address))
    assert problem.startswith(f"sub/page.html: loads {address}")
    assert problem.endswith("from outside")


def test_style_sheets_load_nothing_from_outside(check):
    problems = check(style='@import "https://example.org/a.css"; a { src: url(data:font/woff2;base64,AA) }')
    assert problems == ["style.css: loads https://example.org/a.css from outside"]


def test_loaded_files_must_exist(check):
    assert check(page='<script src="a.js?v=1"></script>') == ["sub/page.html: loads a.js?v=1, which does not exist"]


@pytest.mark.parametrize("alt", ["", 'alt="dot.png"', 'alt="../dot.png"'])
def test_images_need_a_text(check, alt):
    assert check(page=f'<img src="../dot.png" {alt}>') == ["sub/page.html: ../dot.png has no alternative text"]


def test_decoration_has_an_empty_text(check):
    assert check(page='<img src="../dot.png" alt="">') == []


def test_every_page_must_be_reachable(check, tmp_path):
    for name, other in (("one.html", "two.html"), ("two.html", "one.html")):
        (tmp_path / name).write_text(f'<a href="{other}">the other one</a>', "utf-8")
    assert check() == [f"{name}: not reachable from index.html" for name in ("one.html", "two.html")]
    assert check(page='<a href="../two.html">two</a>') == []


def test_a_folder_without_a_start_page_is_reported(checker, tmp_path):
    assert checker.check_site(tmp_path) == ["index.html: there is no such page"]


def test_the_exit_status_says_whether_the_site_is_in_order(checker, check, tmp_path, monkeypatch, capsys):
    check()
    monkeypatch.setattr(sys, "argv", ["check_site.py", str(tmp_path)])
    assert checker.main() == 0
    (tmp_path / "dot.png").unlink()
    assert checker.main() == 1
    assert "sub/page.html: loads ../dot.png, which does not exist" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["check_site.py"])
    assert checker.main() == 2
