"""Characters of one font found among those of another, one template each, however they are moved.

The templates are all characters that both fonts have, or a random choice of them, as the first font draws them. Each
query is a random one of these characters as the second font draws it, moved by a random affine map. Characters whose
templates are affine copies of each other count as one, because nothing can tell them apart.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._pooling import max_nrcdt
from radoncdt._push_forward import push_forward
from radoncdt._threads import count_threads
from radoncdt._typing import Floats, OnProgress
from radoncdt._validation import ArgumentValueError
from radoncdt.datasets.affine import AffineDistribution
from radoncdt.datasets.fonts import Font, glyphs, shared_characters
from radoncdt.estimators import AffineNeighbors
from radoncdt.matching import DescriptorSettings, Plausible, affine_distances
from radoncdt.matching.even import even_ink
from radoncdt.reproduction.recognition.stopwatch import Stopwatch

__all__ = [
    "GLYPH_METHODS",
    "REQUIREMENTS",
    "GlyphFigures",
    "GlyphStudy",
    "Glyphs",
    "draw_glyphs",
    "list_letters",
    "measure_glyphs",
]

MAPS = AffineDistribution(scale=(0.5, 1.0), isotropic=False, rotation=180, shear=25)
"""The distribution of the maps of queries."""

GLYPH_METHODS = ("mnrcdt", "registered", "refined", "even", "even refined")
"""The nearest feature of the paper; the nearest registered template; the same, after the pixels of the first hundred
have been compared; and the last two for drawings with even ink."""

REQUIREMENTS = ("glyph sources", "glyph study", "glyph fonts")
"""The entries of a set-up that the figures of glyphs depend on."""

N_SHOWN = 10  # templates that are found for each query
FRAME = 56  # points along each side of the frame on which pixels are compared

_LAST_CHARACTER = 0x3FFFF  # beyond it there are no letters
_COPIES = 0.006  # distance of affine copies; in most fonts those of different characters are at least 0.0075
_COPY_ANGLES = 256  # directions of descriptors for that distance, whose steps alone can cause half of it
_CHUNK = 50  # queries between two reports of progress


@dataclass(frozen=True)
class GlyphStudy:
    """The settings of the glyph study, which finds characters of one font among those of another.

    The templates are characters that both fonts have, as the first font draws them. Each query is one of these
    characters as the second font draws it, moved by a random affine map.

    Parameters
    ----------
    font : Font
        The font of the templates.
    query_font : Font
        The font of the queries.
    n_characters : int, default 20000
        The largest number of characters.
    n_queries : int, default 500
        The number of queries. There are at most as many queries as characters.
    refined : int, default 100
        The number of templates whose pixels are compared with each query by the methods "refined" and "even refined".
    size : int, default 96
        Size of the fonts, in pixels.
    seed : int, default 0
        Seed of the characters and of the maps.

    Raises
    ------
    TypeError, ValueError
        If a parameter has the wrong type or is out of its range.

    See Also
    --------
    Choice : What to reproduce, which contains such settings.
    radoncdt.datasets.list_fonts : List the fonts at hand.

    Examples
    --------
    >>> fonts = datasets.list_fonts(system=False)
    >>> study = reproduction.GlyphStudy(fonts[0], fonts[1], n_characters=100)
    >>> reproduction.Choice(parts="glyphs", glyphs=study).glyphs.n_queries
    500
    """

    font: Font
    query_font: Font
    n_characters: int = 20_000
    n_queries: int = 500
    refined: int = 100
    size: int = 96
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("font", "query_font"):
            _validation.check_instance(getattr(self, name), name, Font)
        for name, least in (("n_characters", N_SHOWN), ("n_queries", 1), ("refined", N_SHOWN), ("size", 16)):
            _validation.check_count(getattr(self, name), name, least)
        _validation.check_count(self.seed, "seed", 0)


@dataclass(frozen=True)
class Glyphs:
    """Templates and queries."""

    characters: list[str]
    templates: list[NDArray[np.float32]]
    queries: list[NDArray[np.float32]]
    right: NDArray[np.intp]
    """The index of the template of each query."""


@dataclass(frozen=True)
class GlyphFigures:
    """How often a method finds the right character, and how long it takes."""

    font: str
    query_font: str
    characters: int
    queries: int
    method: str
    refined: int | None  # templates whose pixels are compared with a query; None for methods that compare none
    first: float  # share of queries whose first template is right
    first_error: float  # standard error
    ten: float  # share of queries with a right template among the first ten
    ten_error: float
    seconds: float  # time per query, with descriptors, without those of the templates
    cpu_seconds: float  # the same in processor time, summed over the threads; other programs hardly matter
    threads: int


def list_letters() -> Iterator[str]:
    """Yield all letters of Unicode: characters of alphabets, syllables and ideographs, of all scripts."""
    for code in range(_LAST_CHARACTER + 1):
        character = chr(code)
        if unicodedata.category(character) in ("Lu", "Ll", "Lt", "Lo"):
            yield character


def is_ideograph(character: str) -> bool:
    """Return whether a character is one of the unified Chinese, Japanese and Korean ideographs."""
    return unicodedata.name(character, "").startswith("CJK UNIFIED IDEOGRAPH")


def draw_glyphs(study: GlyphStudy) -> Glyphs:
    """Draw the templates and the queries.

    If most letters that the fonts share are Chinese characters, all characters are Chinese.
    """
    fonts = study.font, study.query_font
    there = shared_characters(fonts, list_letters())
    ideographs = [character for character in there if is_ideograph(character)]
    if 2 * len(ideographs) > len(there):
        there = ideographs
    if len(there) < N_SHOWN:
        names = " and ".join(font.name for font in fonts)
        raise ArgumentValueError("query_font", f"must share at least {N_SHOWN} letters with the font, got {names}")
    rng = np.random.default_rng([study.seed, 0])
    n = min(study.n_characters, len(there))
    characters = [there[i] for i in np.sort(rng.permutation(len(there))[:n])]
    right = rng.permutation(n)[: study.n_queries]
    drawn = glyphs(study.query_font, [characters[i] for i in right], size=study.size)
    matrices = MAPS.maps(len(right), rng).matrices
    queries = [_move(image, matrix) for image, matrix in zip(drawn, matrices)]
    return Glyphs(characters, glyphs(study.font, characters, size=study.size), queries, right)


def _move(image: NDArray[np.float32], matrix: Floats) -> NDArray[np.float32]:
    """Move an image on a canvas that holds all of it. Grey values stay between 0 and 1."""
    height, width = np.ceil(np.abs(matrix[::-1, ::-1]) @ image.shape).astype(int).tolist()
    moved: NDArray[Any] = push_forward(image, matrix, shape=(height + 2, width + 2))
    return np.minimum(moved * abs(np.linalg.det(matrix)), 1).astype(np.float32)


# ---------------------------------------------------------------- methods


class _Search(Protocol):
    """A search among templates."""

    def __call__(self, queries: list[NDArray[np.float32]]) -> NDArray[np.intp]: ...


def _search_features(templates: list[NDArray[np.float32]], n_jobs: int | None) -> _Search:
    """Search for the nearest features of the paper."""
    features = max_nrcdt(templates, directions="equispaced", n_jobs=n_jobs)
    squares = (features**2).sum(axis=1)

    def search(queries: list[NDArray[np.float32]]) -> NDArray[np.intp]:
        distances = squares - 2 * max_nrcdt(queries, directions="equispaced", n_jobs=n_jobs) @ features.T
        nearest: NDArray[np.intp] = np.argsort(distances, axis=1, kind="stable")[:, :N_SHOWN]
        return nearest

    return search


def _make_search(study: GlyphStudy, method: str, templates: list[NDArray[np.float32]], n_jobs: int | None) -> _Search:
    if method == "mnrcdt":
        return _search_features(templates, n_jobs)
    even = method.startswith("even")
    refine = min(study.refined, len(templates)) if method.endswith("refined") else None
    model = AffineNeighbors(N_SHOWN, reflections=False, refine=refine, frame_size=FRAME, n_jobs=n_jobs)
    model.fit(even_ink(templates, n_jobs=n_jobs) if even else templates)

    def search(queries: list[NDArray[np.float32]]) -> NDArray[np.intp]:
        found: NDArray[np.intp] = model.kneighbors(
            even_ink(queries, n_jobs=n_jobs) if even else queries, return_distance=False
        )
        return found

    return search


def measure_glyphs(
    study: GlyphStudy,
    drawn: Glyphs,
    method: str,
    *,
    n_jobs: int | None = -1,
    on_progress: OnProgress | None = None,
) -> GlyphFigures:
    """Measure how often a method finds the right character, and how long it takes.

    Parameters
    ----------
    study : GlyphStudy
    drawn : Glyphs
        The result of `draw_glyphs`.
    method : str
        One of `GLYPH_METHODS`.
    n_jobs : int or None
        Threads, as in scikit-learn. All figures except the time are the same for any number.
    on_progress : callable, optional
        Called as ``on_progress(done, total, task)``.

    Returns
    -------
    GlyphFigures
    """
    _validation.check_choice(method, "method", GLYPH_METHODS)
    search = _make_search(study, method, drawn.templates, n_jobs)
    n, found, watch = len(drawn.queries), [], Stopwatch()
    for start in range(0, n, _CHUNK):
        if on_progress:
            on_progress(start, n, method)
        with watch:
            found.append(search(drawn.queries[start : start + _CHUNK]))
    if on_progress:
        on_progress(n, n, method)
    is_right = compare_found(drawn, np.concatenate(found))
    first, ten = is_right[:, 0], np.any(is_right, axis=1)
    return GlyphFigures(
        study.font.name,
        study.query_font.name,
        len(drawn.templates),
        n,
        method,
        study.refined if method.endswith("refined") else None,
        *_share(first),
        *_share(ten),
        watch.seconds / n,
        watch.cpu_seconds / n,
        count_threads(n_jobs),
    )


def _share(is_right: NDArray[Any]) -> tuple[float, float]:
    """Return the share of successes and its standard error."""
    share = float(is_right.mean())
    return share, float(np.sqrt(share * (1 - share) / len(is_right)))


def compare_found(drawn: Glyphs, found: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which templates found (n, N_SHOWN) are the right one, or affine copies of it."""
    is_right = found == drawn.right[:, None]
    missed = np.flatnonzero(~is_right[:, 0])  # the others are right without a look at copies
    for query in missed.tolist():
        others = [drawn.templates[i] for i in found[query]]
        is_right[query] |= find_copies(drawn.templates[drawn.right[query]], others)
    return is_right


def find_copies(image: NDArray[Any], others: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
    """Return which images are affine copies of an image, without mirroring."""
    settings, limits = DescriptorSettings(n_angles=_COPY_ANGLES), Plausible(reflections=False)
    near: NDArray[np.bool_] = affine_distances([image], list(others), settings=settings, limits=limits)[0] <= _COPIES
    return near
