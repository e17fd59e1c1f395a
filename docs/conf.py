"""Configuration of the documentation. `make docs` builds it into docs/_build/html, without the network."""

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

from sphinx.application import Sphinx  # noqa: E402

import radoncdt  # noqa: E402

project = "radoncdt"
author = "The radoncdt developers"
copyright = author  # noqa: A001 - the name is Sphinx's
version = release = radoncdt.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "api_links",
    "command_line",
]
exclude_patterns = ["_build", "extensions", "pictures", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.zip"]
nitpicky = True
default_role = "autolink"
smartquotes = False  # "auto" and --option are to be copied as they are
templates_path = ["templates"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
myst_fence_as_directive = ["math"]

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("radoncdt",),
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "capture_repr": (),  # pages show what scripts print, not values of last lines
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "copyfile_regex": r".*\.rst",
    "min_reported_time": 10,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "radoncdt"
html_static_path = ["static"]
html_css_files = ["radoncdt.css"]
html_show_sourcelink = False
html_search_scorer = str(HERE / "extensions" / "search_scorer.js")
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "header_links_before_dropdown": 8,
}


def setup(app: Sphinx) -> None:
    """Leave out methods that classes inherit from other packages."""
    app.connect("autodoc-skip-member", _is_from_outside)


def _is_from_outside(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: object) -> bool | None:
    home = getattr(member, "__module__", None) or getattr(getattr(member, "__objclass__", None), "__module__", None)
    if what == "class" and home is not None and not home.startswith("radoncdt"):
        return True
    return None
