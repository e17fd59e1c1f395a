"""A warning about dark ink on bright paper, where most of the mass is paper and features describe the sheet.

An image is considered to be ink on paper if all of these hold:

- It is at least 16 pixels high and wide.
- The paper is positive. Its brightness is the median of the medians of the four sides of the border. On each side, all
  pixels except the darkest and the brightest 5 % are within a quarter of that brightness.
- Pixels within a quarter of the brightness of the paper are at least half of all pixels and hold most of the mass.
- At least 16 pixels are darker, and they are connected as lines are: there are at least three pairs of neighbours per
  four dark pixels.

An image that is surrounded by zeros is therefore never considered to be paper, and neither is an image that is full
everywhere. The dark pixels of noise either are as frequent on the border as inside, or they are few and isolated.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt.measures import Batch, PointCloud

__all__ = ["is_ink_on_paper", "read_measures", "warn_about_paper"]

_MIN_SIDE = 16  # pixels along each side of a sheet of paper
_MIN_DARK = 16  # dark pixels on a sheet of paper
_TOLERANCE = 0.25  # largest relative difference in brightness between paper and one of its pixels
_CLEAN_SHARE = 0.95  # share of each side of the border that is not darker than paper, and share that is not brighter
_MIN_NEIGHBOURS = 0.75  # pairs of neighbours among the dark pixels, per dark pixel


def read_measures(images: object, name: str = "images") -> Batch:
    """Read measures like `Batch.read`, and warn about ink on paper. All public functions read their images with it."""
    batch = Batch.read(images, name)
    warn_about_paper(batch)
    return batch


def warn_about_paper(batch: Batch) -> None:
    """Warn once about all images of a batch that look like dark ink on bright paper."""
    found = [i for i, item in enumerate(batch.items) if not isinstance(item, PointCloud) and is_ink_on_paper(item)]
    if found:
        others = f" and {len(found) - 1} more of {len(batch)} images look" if len(found) > 1 else " looks"
        warnings.warn(
            f"`{batch.label(found[0])}`{others} like dark ink on bright paper, where most of the mass is paper; "
            "`radoncdt.ink.find_ink` turns ink into mass and paper into zeros",
            stacklevel=_validation.find_stacklevel(),
        )


def is_ink_on_paper(image: NDArray[Any]) -> bool:
    """Whether an image (H, W) looks like dark ink on bright paper. The answer is fast for drawings and for noise."""
    if min(image.shape) < _MIN_SIDE or np.count_nonzero(image[0]) < _CLEAN_SHARE * image.shape[1]:
        return False
    sides = []
    for side in (image[0], image[-1], image[:, 0], image[:, -1]):
        ordered, outer = np.sort(side), int((1 - _CLEAN_SHARE) * side.size)
        darkest, middle, brightest = (float(ordered[k]) for k in (outer, side.size // 2, side.size - 1 - outer))
        if not 0 < darkest <= brightest <= darkest * (1 + _TOLERANCE) / (1 - _TOLERANCE):
            return False
        sides.append((darkest, middle, brightest))
    paper = float(np.median([middle for _, middle, _ in sides]))
    low, high = (1 - _TOLERANCE) * paper, (1 + _TOLERANCE) * paper
    if not all(low <= darkest and brightest <= high for darkest, _, brightest in sides) or image.min() >= low:
        return False
    dark = image < low
    near = ~dark & (image <= high)
    n_dark, n_near = np.count_nonzero(dark), np.count_nonzero(near)
    with np.errstate(all="ignore"):  # numbers that are not finite are refused elsewhere
        mass_of_paper, whole_mass = image[near].sum(dtype=np.float64), image.sum(dtype=np.float64)
    mostly_paper = 2 * n_near >= image.size and 2 * mass_of_paper > whole_mass
    return bool(n_dark >= _MIN_DARK and mostly_paper and _count_neighbours(dark) >= _MIN_NEIGHBOURS * n_dark)


def _count_neighbours(dark: NDArray[np.bool_]) -> int:
    """Count the pairs of dark pixels that touch along rows, columns and diagonals."""
    pairs = (
        (dark[:, 1:], dark[:, :-1]),
        (dark[1:], dark[:-1]),
        (dark[1:, 1:], dark[:-1, :-1]),
        (dark[1:, :-1], dark[:-1, 1:]),
    )
    return sum(int(np.count_nonzero(one & other)) for one, other in pairs)
