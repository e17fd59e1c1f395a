"""A catalogue of made-up watermarks, and what historians would search it with: tracings, soiled ones, photographs.

Marks are lines, so a query is the mark itself drawn again, moved, bent and with another pen, not a picture resampled.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt.datasets.affine import AffineDistribution, AffineMaps, Seed, generator
from radoncdt.datasets.drawing import Image, Line, draw
from radoncdt.datasets.motifs import Part, compose
from radoncdt.datasets.noise import salt

CANVAS = 256
"""Side of the drawing of a mark, in pixels; lines are PEN wide."""
PEN = 4.0
QUERY_CANVAS = 320
"""Side of a query, in pixels of the same size: room for the largest mark, moved the farthest."""

MAPS = AffineDistribution(scale=(0.6, 1.0), isotropic=False, rotation=180, shear=20, shift=20)
WIDTHS = (0.5, 2.0)
"""By which the pen of a query is wider, evenly on a logarithmic scale."""
AMPLITUDE, WAVES = 4.0, (0.5, 2.0)
"""Of bending: pixels, at most, and waves along 256 pixels."""
SPECKS, SPECK = 10, 3.0
"""Discs, and their diameter in pixels."""
CONTRAST = 0.08
"""Of the mark, and of laid and chain lines, in a photograph, of the range from black to white."""
NOISE = CONTRAST / 2
LAID, CHAIN = 3.0, 60.0
"""Pixels from one laid line, and from one chain line, to the next."""
TWINS = 10
"""Every so many marks the last is a near-twin of the one before."""
MOVED = (0.03, 0.06)
"""How far the one part of a near-twin is moved, as a share of the size of the mark."""

KINDS = ("drawing", "specks", "photograph")
"""Of queries."""


class Queries(NamedTuple):
    """Queries made from marks."""

    images: Image
    """(n, 320, 320): drawings white on black, photographs in grey with a bright mark; values from 0 to 1."""
    marks: NDArray[np.intp]
    """The numbers of the marks."""
    maps: AffineMaps
    """From the drawing of the mark to the query, in pixels from the centres."""


@dataclass(frozen=True)
class Mark:
    """The lines of a watermark in the frame [−1, 1]², part by part."""

    motif: str
    parts: tuple[Part, ...]

    @property
    def lines(self) -> list[Line]:
        return [line for part in self.parts for line in part]

    def image(self) -> Image:
        """White on black, float32 (256, 256)."""
        return draw(self.lines, size=CANVAS, line_width=PEN)


@dataclass(frozen=True)
class Watermarks(Sequence[Mark]):
    """Marks, and queries made from them. See `watermarks`."""

    marks: tuple[Mark, ...]
    twins: NDArray[np.intp]
    """Of each mark the number of its near-twin, −1 if it has none."""

    def __repr__(self) -> str:
        return f"Watermarks({len(self)} marks)"

    def __len__(self) -> int:
        return len(self.marks)

    def __getitem__(self, which: Any) -> Any:
        return self.marks[which]

    def __iter__(self) -> Iterator[Mark]:
        return iter(self.marks)

    def queries(self, n: int, *, kind: str = "drawing", rng: Seed) -> Queries:
        """Draw n marks again, each another as far as there are others.

        Lines are bent by waves of at most 4 pixels, then moved (rotation ±180°, scales of x and y .6 to 1, shear ±20°
        of both, shift ±20 pixels) and drawn with a pen half to twice as wide. "specks" scatters ten discs of 3
        pixels. A "photograph" has the mark 8 % brighter than the paper, laid lines every 3 and chain lines every 60
        pixels that are as bright, uneven light, and noise whose standard deviation is half of that.

        Parameters
        ----------
        n : int
        kind : {"drawing", "specks", "photograph"}
        rng : numpy Generator, or int
            The same gives the same marks, maps and lines, whatever the kind.
        """
        n, random = _validation.check_count(n, "n", 1, _validation.MAX_IMAGES), generator(rng)
        _validation.check_choice(kind, "kind", KINDS)
        chosen = np.concatenate([random.permutation(len(self)) for _ in range(-(-n // len(self)))])[:n]
        maps = MAPS.maps(n, random)
        images = np.zeros((n, QUERY_CANVAS, QUERY_CANVAS), np.float32)
        for i, mark in enumerate(chosen):
            bend = _bend(random)
            lines = [_moved(line, *bend, maps.matrices[i], maps.shifts[i]) for line in self.marks[mark].lines]
            width = PEN * WIDTHS[0] * (WIDTHS[1] / WIDTHS[0]) ** random.uniform()
            images[i] = draw(lines, size=QUERY_CANVAS, line_width=width)
        if kind == "specks":
            images = salt(images, random, dots=(SPECKS, SPECKS), diameter=(SPECK, SPECK))
        elif kind == "photograph":
            images = np.stack([_photograph(image, random) for image in images])
        return Queries(images, chosen, maps)


def watermarks(n: int, seed: int = 0) -> Watermarks:
    """Marks that are all different, as a catalogue would have them: crowns, letters, beasts, anchors, in frames or not.

    Every tenth is a near-twin of the one before: the same lines, but one part moved by 3 to 6 % of the size of the
    mark, as moulds were made in pairs. So a fifth of all marks has one that is hard to tell from it.

    Parameters
    ----------
    n : int
    seed : int
        The first k marks are the same for every n ≥ k.

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
            marks.append(_twin(marks[-1], random))
            twins[i - 1 : i + 1] = i, i - 1
        else:
            marks.append(Mark(*compose(random)))
    return Watermarks(tuple(marks), twins)


def _twin(mark: Mark, random: np.random.Generator) -> Mark:
    """The same mark with one part, of those that have less than half of the ink, elsewhere."""
    lengths = np.array([sum(np.linalg.norm(np.diff(line, axis=0), axis=1).sum() for line in p) for p in mark.parts])
    small = np.flatnonzero(lengths <= lengths.sum() / 2)
    chosen = int(random.choice(small)) if small.size else int(lengths.argmin())
    corners = np.concatenate(mark.lines)
    size, angle = np.ptp(corners, axis=0).max(), random.uniform(0, 2 * np.pi)
    move = size * random.uniform(*MOVED) * np.array([np.cos(angle), np.sin(angle)])
    parts = [tuple(line + move for line in part) if k == chosen else part for k, part in enumerate(mark.parts)]
    return Mark(mark.motif, tuple(parts))


def _bend(random: np.random.Generator) -> tuple[Line, Line, Line]:
    """Amplitudes, waves a pixel and phases of x and y."""
    return (
        random.uniform(-AMPLITUDE, AMPLITUDE, 2),
        random.uniform(*WAVES, 2) / CANVAS,
        random.uniform(0, 2 * np.pi, 2),
    )


def _moved(line: Line, amplitude: Line, waves: Line, phase: Line, matrix: Line, shift: Line) -> Line:
    """A line in the frame of a mark, bent and moved, in the frame of a query."""
    pixels = line * (CANVAS / 2)
    bent = pixels + amplitude * np.sin(2 * np.pi * waves * pixels[:, ::-1] + phase)
    return (bent @ matrix.T + shift) / (QUERY_CANVAS / 2)


def _photograph(mark: Image, random: np.random.Generator) -> Image:
    """Transmitted light: thin places, which are the mark and the lines of the mould, are brighter."""
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
