"""Warn of dark ink on bright paper: there most of the mass is paper, and features describe the sheet, not the ink.

An image is taken for ink on paper where all of these hold:

- It is at least 16 pixels high and wide.
- The paper is positive: the median of the medians of the four sides of the border. On each side all pixels, except
  for the darkest and the brightest 5 %, are within a quarter of it.
- Pixels within a quarter of the paper are at least half of all pixels and hold most of the mass.
- At least 16 pixels are darker than that, and they are connected as lines are: they have at least three quarters as
  many pairs of neighbours as there are dark pixels.

So an image with zeros around it is never taken for paper, nor is one that is full everywhere. The dark pixels of noise
are either as frequent on the border as inside it, or they are few and lie apart.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt.measures import Batch, PointCloud

LEAST = 16
"""Pixels along a side of a sheet of paper, and dark pixels on it."""

NEAR = 0.25
"""How far from the paper, relative to its brightness, a pixel may be and still be paper."""

CLEAN = 0.95
"""Share of each side of the border that is at least as bright as paper, and share that is at most as bright."""

CONNECTED = 0.75
"""Pairs of neighbours among the dark pixels, for each dark pixel."""


def read_measures(images: object, name: str = "images") -> Batch:
    """Understand measures as `Batch.read` does, and warn of ink on paper, for calls that users make."""
    batch = Batch.read(images, name)
    warn_of_paper(batch)
    return batch


def warn_of_paper(batch: Batch) -> None:
    """Warn once for all images of a batch that look like dark ink on bright paper."""
    found = [i for i, item in enumerate(batch.items) if not isinstance(item, PointCloud) and on_paper(item)]
    if found:
        others = f" and {len(found) - 1} more of {len(batch)} images look" if len(found) > 1 else " looks"
        warnings.warn(
            f"`{batch.label(found[0])}`{others} like dark ink on bright paper, where most of the mass is paper; "
            "`radoncdt.ink.find_ink` turns ink into mass and paper into zeros",
            stacklevel=_validation.levels_to_the_caller(),
        )


def on_paper(image: NDArray[Any]) -> bool:
    """Whether an image (H, W) looks like dark ink on bright paper. Drawings on zeros and noise are told in no time."""
    if min(image.shape) < LEAST or np.count_nonzero(image[0]) < CLEAN * image.shape[1]:
        return False
    sides = []
    for side in (image[0], image[-1], image[:, 0], image[:, -1]):
        ordered, outer = np.sort(side), int((1 - CLEAN) * side.size)
        darkest, middle, brightest = (float(ordered[k]) for k in (outer, side.size // 2, side.size - 1 - outer))
        if not 0 < darkest <= brightest <= darkest * (1 + NEAR) / (1 - NEAR):
            return False
        sides.append((darkest, middle, brightest))
    paper = float(np.median([middle for _, middle, _ in sides]))
    low, high = (1 - NEAR) * paper, (1 + NEAR) * paper
    if not all(low <= darkest and brightest <= high for darkest, _, brightest in sides) or image.min() >= low:
        return False
    dark = image < low
    near = ~dark & (image <= high)
    n_dark, n_near = np.count_nonzero(dark), np.count_nonzero(near)
    with np.errstate(all="ignore"):  # numbers that are not finite are refused elsewhere
        shares = image[near].sum(dtype=np.float64), image.sum(dtype=np.float64)
    most = 2 * n_near >= image.size and 2 * shares[0] > shares[1]
    return bool(n_dark >= LEAST and most and _neighbours(dark) >= CONNECTED * n_dark)


def _neighbours(dark: NDArray[np.bool_]) -> int:
    """Pairs of dark pixels that touch, along rows, columns and diagonals."""
    pairs = (
        (dark[:, 1:], dark[:, :-1]),
        (dark[1:], dark[:-1]),
        (dark[1:, 1:], dark[:-1, :-1]),
        (dark[1:, :-1], dark[:-1, 1:]),
    )
    return sum(int(np.count_nonzero(one & other)) for one, other in pairs)
