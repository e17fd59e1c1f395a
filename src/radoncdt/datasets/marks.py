"""Made-up watermarks, and queries for them: tracings, tracings with specks, and photographs.

A watermark consists of lines. A query is not a resampled picture: its lines are bent, moved and redrawn with
another pen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._typing import Floats, Seed
from radoncdt.datasets.affine import AffineDistribution, AffineMaps, make_generator
from radoncdt.datasets.distortions import salt
from radoncdt.datasets.lines import Image, Line, draw
from radoncdt.datasets.motifs import Part, compose

__all__ = ["CONTRAST", "LAID", "QUERY_KINDS", "Mark", "Queries", "Watermarks", "watermarks"]

CANVAS = 256
"""Side of the drawing of a mark, in pixels."""

PEN = 4.0
"""Width of the lines of a drawing, in pixels."""

QUERY_CANVAS = 320
"""Side of a query, in pixels of the same size. The largest mark fits, wherever it is moved."""

MAPS = AffineDistribution(scale=(0.6, 1.0), isotropic=False, rotation=180, shear=20, shift=20)
"""The maps from drawings to queries."""

WIDTHS = (0.5, 2.0)
"""Bounds of the factor by which the pen of a query is wider; it is uniform on a logarithmic scale."""

AMPLITUDE = 4.0
"""Largest amplitude of the waves that bend a query, in pixels."""

WAVES = (0.5, 2.0)
"""Bounds of the number of waves per CANVAS pixels."""

SPECKS, SPECK = 10, 3.0
"""Number of specks in a query, and their diameter in pixels."""

CONTRAST = 0.08
"""Contrast of the mark, of laid lines and of chain lines in a photograph, as a share of the range of grey values."""

NOISE = CONTRAST / 2
"""Standard deviation of the noise of a photograph."""

LAID, CHAIN = 3.0, 60.0
"""Distances between neighbouring laid lines and between neighbouring chain lines, in pixels."""

TWINS = 10
"""Every mark whose number is a multiple of this, counted from 1, is a near-twin of the mark before it."""

OFFSETS = (0.03, 0.06)
"""Bounds of the distance by which one part of a near-twin is moved, as a share of the size of the mark."""

QUERY_KINDS = ("drawing", "specks", "photograph")
"""The kinds of queries."""


class Queries(NamedTuple):
    """Queries for marks, as `Watermarks.queries` makes them.

    Parameters
    ----------
    images : float32 array (n, 320, 320)
        The images, with values from 0 to 1. Drawings are white on black. Photographs have a bright mark.
    marks : array of int (n,)
        The indices of the marks.
    maps : AffineMaps
        The maps from the drawings of the marks to the queries, in pixels from the centres.

    See Also
    --------
    Watermarks : The marks, which make queries.

    Examples
    --------
    >>> images, marks, maps = datasets.watermarks(3).queries(2, rng=0)
    >>> images.shape, marks.shape, maps.shifts.shape
    ((2, 320, 320), (2,), (2, 2))
    """

    images: Image
    marks: NDArray[np.intp]
    maps: AffineMaps


@dataclass(frozen=True)
class Mark:
    """A watermark: lines in the frame [−1, 1]², part by part.

    Parameters
    ----------
    motif : str
        The name of the motif, such as "crown".
    parts : tuple of tuples of arrays (n, 2)
        The lines of each part, as corners (x, y), y up.

    See Also
    --------
    watermarks : Make up many marks.
    draw : Draw lines.

    Examples
    --------
    >>> cross = datasets.Mark("cross", (([(-0.5, 0), (0.5, 0)],), ([(0, -0.5), (0, 0.5)],)))
    >>> cross.motif, len(cross.parts), cross.image().shape
    ('cross', 2, (256, 256))
    """

    motif: str
    parts: tuple[Part, ...]

    @property
    def lines(self) -> list[Line]:
        """The lines of all parts, each an array (n, 2) of corners.

        Examples
        --------
        >>> mark = datasets.watermarks(1)[0]
        >>> len(mark.lines) == sum(len(part) for part in mark.parts)
        True
        """
        return [line for part in self.parts for line in part]

    def image(self) -> Image:
        """Draw the mark, white on black.

        Returns
        -------
        float32 array (256, 256)
            The drawing, with lines of 4 pixels and values from 0 to 1.

        Examples
        --------
        >>> drawing = datasets.watermarks(1)[0].image()
        >>> drawing.shape, drawing.dtype, drawing.max()
        ((256, 256), dtype('float32'), np.float32(1.0))
        """
        return draw(self.lines, size=CANVAS, line_width=PEN)


@dataclass(frozen=True)
class Watermarks(Sequence[Mark]):
    """A sequence of marks, which makes queries for them.

    Parameters
    ----------
    marks : tuple of Mark
        The marks.
    twins : array of int (n,)
        The index of the near-twin of each mark, or −1 if it has none.

    See Also
    --------
    watermarks : Make up marks.

    Examples
    --------
    >>> marks = datasets.watermarks(10)
    >>> marks, marks[0].motif == marks.marks[0].motif
    (Watermarks(10 marks), True)
    >>> marks.twins.tolist()
    [-1, -1, -1, -1, -1, -1, -1, -1, 9, 8]
    """

    marks: tuple[Mark, ...]
    twins: NDArray[np.intp]

    def __repr__(self) -> str:
        return f"Watermarks({len(self)} marks)"

    def __len__(self) -> int:
        return len(self.marks)

    def __getitem__(self, which: Any) -> Any:
        return self.marks[which]

    def __iter__(self) -> Iterator[Mark]:
        return iter(self.marks)

    def queries(self, n: int, *, kind: str = "drawing", rng: Seed) -> Queries:
        """Make queries for random marks, all different if n is at most the number of marks.

        Lines are bent by waves of at most 4 pixels, then moved (rotation ±180°, scales of x and y 0.6 to 1, shears
        ±20°, shift ±20 pixels), and drawn with a pen of half to twice the width. "specks" adds ten discs of 3 pixels.
        In a "photograph", the mark is 8 % brighter than the paper. So are laid lines every 3 pixels and chain lines
        every 60 pixels. The light is uneven, and there is noise with a standard deviation of 4 %.

        Parameters
        ----------
        n : int
            Number of queries.
        kind : {"drawing", "specks", "photograph"}, default "drawing"
            The kind of image.
        rng : numpy Generator or int
            The random generator, or the seed of a new one. The same seed gives the same marks, maps and lines for every
            kind.

        Returns
        -------
        Queries
            The images, the indices of their marks, and the maps from the drawings of the marks to the queries.

        Raises
        ------
        TypeError, ValueError
            If an argument has the wrong type, the kind is unknown, or n is out of its range.

        Examples
        --------
        >>> marks = datasets.watermarks(3)
        >>> queries = marks.queries(2, kind="photograph", rng=0)
        >>> queries.images.shape, len(set(queries.marks.tolist()))
        ((2, 320, 320), 2)
        """
        n, random = _validation.check_count(n, "n", 1, _validation.MAX_IMAGES), make_generator(rng)
        _validation.check_choice(kind, "kind", QUERY_KINDS)
        chosen = np.concatenate([random.permutation(len(self)) for _ in range(-(-n // len(self)))])[:n]
        maps = MAPS.maps(n, random)
        images = np.zeros((n, QUERY_CANVAS, QUERY_CANVAS), np.float32)
        for i, mark in enumerate(chosen):
            wave = _Wave.draw(random)
            bent = [wave.bend(line * (CANVAS / 2)) for line in self.marks[mark].lines]
            lines = [(line @ maps.matrices[i].T + maps.shifts[i]) / (QUERY_CANVAS / 2) for line in bent]
            width = PEN * WIDTHS[0] * (WIDTHS[1] / WIDTHS[0]) ** random.uniform()
            images[i] = draw(lines, size=QUERY_CANVAS, line_width=width)
        if kind == "specks":
            images = salt(images, random, dots=(SPECKS, SPECKS), diameter=(SPECK, SPECK))
        elif kind == "photograph":
            images = np.stack([_photograph(image, random) for image in images])
        return Queries(images, chosen, maps)


def watermarks(n: int, seed: int = 0) -> Watermarks:
    """Make up watermarks such as a catalogue contains: crowns, letters, beasts, anchors, with or without a frame.

    All marks are different. Every tenth mark is a near-twin of the one before it, because moulds were made in pairs: it
    has the same lines, but one part is moved by 3 to 6 % of the size of the mark. One mark in five therefore has a
    near-twin.

    Parameters
    ----------
    n : int
        Number of marks.
    seed : int, default 0
        The seed of the marks. The first k marks are the same for every n ≥ k.

    Returns
    -------
    Watermarks
        A sequence of n marks, each a `Mark`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an integer or is out of its range.

    See Also
    --------
    Watermarks : The sequence of marks, which makes tracings and photographs of them.
    radoncdt.catalogue.Catalogue : A searchable catalogue of marks.

    Examples
    --------
    >>> marks = datasets.watermarks(10)
    >>> marks[3].motif, marks[3].image().shape, marks.twins.tolist()
    ('heart', (256, 256), [-1, -1, -1, -1, -1, -1, -1, -1, 9, 8])
    >>> images, numbers, maps = marks.queries(4, kind="photograph", rng=0)
    """
    n = _validation.check_count(n, "n", 1, _validation.MAX_IMAGES)
    marks: list[Mark] = []
    twins = np.full(n, -1, np.intp)
    for i in range(n):
        random = np.random.default_rng([_validation.check_count(seed, "seed", 0), i])
        if i % TWINS == TWINS - 1:
            marks.append(_make_twin(marks[-1], random))
            twins[i - 1 : i + 1] = i, i - 1
        else:
            marks.append(Mark(*compose(random)))
    return Watermarks(tuple(marks), twins)


def _make_twin(mark: Mark, random: np.random.Generator) -> Mark:
    """Move one part of a mark. It has at most half of the ink, unless all parts have more."""
    lengths = np.array([sum(np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in p) for p in mark.parts])
    small = np.flatnonzero(lengths <= lengths.sum() / 2)
    chosen = int(random.choice(small)) if small.size else int(lengths.argmin())
    corners = np.concatenate(mark.lines)
    size, angle = np.ptp(corners, axis=0).max(), random.uniform(0, 2 * np.pi)
    offset = size * random.uniform(*OFFSETS) * np.array([np.cos(angle), np.sin(angle)])
    parts = [tuple(line + offset for line in part) if k == chosen else part for k, part in enumerate(mark.parts)]
    return Mark(mark.motif, tuple(parts))


class _Wave(NamedTuple):
    """A wave in x that depends on y, and one in y that depends on x. Each field has one value per wave."""

    amplitudes: Floats
    frequencies: Floats
    phases: Floats

    @classmethod
    def draw(cls, random: np.random.Generator) -> "_Wave":
        return cls(
            random.uniform(-AMPLITUDE, AMPLITUDE, 2),
            random.uniform(*WAVES, 2) / CANVAS,
            random.uniform(0, 2 * np.pi, 2),
        )

    def bend(self, places: Line) -> Line:
        """Displace places (x, y), in pixels."""
        return places + self.amplitudes * np.sin(2 * np.pi * self.frequencies * places[:, ::-1] + self.phases)


def _photograph(mark: Image, random: np.random.Generator) -> Image:
    """Photograph a mark in transmitted light. Paper is thin, and bright, at the mark and at the lines of the mould."""
    y, x = np.mgrid[: mark.shape[0], : mark.shape[1]].astype(np.float64)
    tilt = np.deg2rad(random.uniform(-5, 5))
    along, across = x * np.cos(tilt) + y * np.sin(tilt), y * np.cos(tilt) - x * np.sin(tilt)
    laid = (1 + np.cos(2 * np.pi * (across / LAID + random.uniform()))) / 2
    chain = np.clip(1.5 - np.abs((along + random.uniform(0, CHAIN)) % CHAIN - CHAIN / 2), 0, 1)
    u, v = x / mark.shape[1] - 0.5, y / mark.shape[0] - 0.5
    slope, bulge = random.uniform(-0.2, 0.2, 2), random.uniform(-0.4, 0.4)
    light = 0.5 + slope[0] * u + slope[1] * v + bulge * (u**2 + v**2 - 0.25)
    grey = light + CONTRAST * (mark + laid + chain) + random.normal(0, NOISE, mark.shape)
    return np.clip(grey, 0, 1).astype(np.float32)
