"""Refinement: the last step of a registration, from a map that is nearly right to the one that fits best.

Registration reads its map off moments and projections, and these depend on where the mass is: an image that is sampled
again, or lines that are drawn again, have their mass in slightly different places. Therefore two images are compared
pixel by pixel in the end, and two PointClouds by the transport of their projections, both with Gauss–Newton steps.
"""

from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt.measures import Measure, PointCloud, rescaled

Floats = NDArray[np.float64]

SIDE = 16
"""The coarsest picture of an image has at least this many pixels along its shorter side."""
POINTS = 4000
"""At most this many pixels of the fixed image are compared."""
MOST_OCTAVES = 10
"""Images whose sizes differ by more than this power of two are not compared pixel by pixel."""
ROUNDS = 6
"""Gauss–Newton steps, at most: at each resolution of images, and for PointClouds."""
STILL = 1e-3
"""Steps end when they move the corners of the shape by less than this many pixels of the picture."""
ASTRAY = 0.15
"""A map is given up if it moves a corner of the shape by more than this share of the size of the fixed shape."""


def refine(
    moving: Measure,
    fixed: Measure,
    matrix: Floats,
    shift: Floats,
    *,
    directions: Floats,
    levels: Floats,
    similarity: bool,
) -> tuple[Floats, Floats]:
    """A map near x ↦ Ax + y that fits better, from an image to an image or from a PointCloud to a PointCloud.

    The map stays as it is where no better one is near, and between an image and a PointCloud.

    Parameters
    ----------
    moving, fixed : image (H, W) or PointCloud
    matrix, shift : arrays (2, 2) and (2,)
    directions, levels : arrays (d, 2) and (l,)
        Where the quantiles of the projections of PointClouds are compared.
    similarity : bool
        Whether the map is a similarity, and has to stay one.
    """
    start = np.column_stack([matrix, shift])
    basis = np.eye(6)  # the changes of the map that are allowed, one per column
    if similarity:
        sign = np.sign(np.linalg.det(matrix))
        basis = np.array([[1, 0, 0, 0, sign, 0], [0, -sign, 0, 1, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1.0]]).T
    if isinstance(moving, PointCloud) and isinstance(fixed, PointCloud):
        found = _by_transport(moving, fixed, start, basis, directions, levels)
    elif isinstance(moving, PointCloud) or isinstance(fixed, PointCloud):
        return matrix, shift
    else:
        found = _by_pixels(moving, fixed, start, basis)
    kept = np.isfinite(found).all() and np.sign(np.linalg.det(found[:, :2])) == np.sign(np.linalg.det(matrix))
    return (found[:, :2].copy(), found[:, 2].copy()) if kept else (matrix, shift)


def _change(slopes: Floats, residuals: Floats, basis: Floats) -> Floats:
    """The change (2, 3) of a map that removes residuals (n,) best.

    The rows of `slopes` are the derivatives of what is compared, by the six values of the map and, after them, by
    other unknowns.
    """
    more = len(slopes) - 6
    whole = np.block([[basis, np.zeros((6, more))], [np.zeros((more, basis.shape[1])), np.eye(more)]])
    products, right = whole.T @ (slopes @ slopes.T) @ whole, whole.T @ (slopes @ residuals)
    sizes = np.sqrt(products.diagonal())
    sizes[sizes == 0] = 1
    found = np.linalg.lstsq(products / np.outer(sizes, sizes), right / sizes, rcond=1e-10)[0] / sizes
    change: Floats = (whole @ found)[:6].reshape(2, 3)
    return change


def _with_ones(points: Floats) -> Floats:
    """Points (2, n) as columns (x, y, 1), which maps (2, 3) are applied to."""
    return np.vstack([points, np.ones(points.shape[1])])


# ---------------------------------------------------------------- images


class _Picture:
    """The ink of an image at one resolution.

    `origin` is the place (x, y) of the middle of the upper left pixel, and `side` the side of a pixel, both in pixels
    of the image.
    """

    def __init__(self, values: Floats, origin: Floats, side: float) -> None:
        self.values, self.origin, self.side = values, origin, side

    @classmethod
    def of(cls, image: NDArray[Any]) -> "_Picture":
        """The image itself, cut to its ink, with paper around it."""
        rows, columns = np.flatnonzero(image.any(axis=1)), np.flatnonzero(image.any(axis=0))
        ink = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.float64)
        origin = np.array([columns[0] - 2 - (image.shape[1] - 1) / 2, (image.shape[0] - 1) / 2 - rows[0] + 2])
        return cls(np.pad(ink / ink.max(), 2), origin, 1.0)

    def halved(self) -> "_Picture":
        """The same with pixels of twice the side: means of 2 × 2 pixels."""
        values = np.pad(self.values, [(2, 2 + n % 2) for n in self.values.shape])
        means = (values[::2, ::2] + values[1::2, ::2] + values[::2, 1::2] + values[1::2, 1::2]) / 4
        return _Picture(means, self.origin + self.side * np.array([-1.5, 1.5]), 2 * self.side)

    @cached_property
    def around_ink(self) -> tuple[Floats, Floats]:
        """Places (2, n) and values (n,) of the pixels with ink or next to it, evenly chosen where there are many."""
        near = self.values > 0
        for side in (near, near.T):
            before, behind = side[:-1].copy(), side[1:].copy()
            side[1:] |= before
            side[:-1] |= behind
        where = np.flatnonzero(near)
        where = where[:: -(-len(where) // POINTS)]
        rows, columns = np.divmod(where, self.values.shape[1])
        return self.origin[:, None] + self.side * np.stack([columns, -rows]), self.values.ravel()[where]

    def slopes(self) -> tuple[Floats, Floats]:
        """The derivatives by x and by y."""
        x, y = np.zeros_like(self.values), np.zeros_like(self.values)
        x[:, 1:-1] = (self.values[:, 2:] - self.values[:, :-2]) / (2 * self.side)
        y[1:-1] = (self.values[:-2] - self.values[2:]) / (2 * self.side)
        return x, y

    def sampled(self, planes: tuple[Floats, ...], points: Floats) -> list[Floats]:
        """The values of planes of the shape of the picture at some places (2, n), by bilinear interpolation."""
        height, width = self.values.shape
        x, y = (points - self.origin[:, None]) / self.side
        columns, rows = np.clip(x, 0, width - 1.001), np.clip(-y, 0, height - 1.001)  # the edges are paper
        left, top = columns.astype(np.intp), rows.astype(np.intp)
        right, below = columns - left, rows - top
        corner = top * width + left
        shares = (1 - below) * (1 - right), (1 - below) * right, below * (1 - right), below * right
        places = corner, corner + 1, corner + width, corner + width + 1
        (a, b, c, d), (p, q, r, t) = places, shares
        return [plane.take(a) * p + plane.take(b) * q + plane.take(c) * r + plane.take(d) * t for plane in planes]


def _pyramid(image: NDArray[Any], skipped: int) -> list[_Picture]:
    """Pictures of an image, each half as fine as the one before; the first `skipped` ones are left out."""
    pictures = [_Picture.of(image)]
    while len(pictures) <= skipped or min(pictures[-1].values.shape) >= 2 * SIDE:
        pictures.append(pictures[-1].halved())
    return pictures[skipped:]


def _by_pixels(moving: NDArray[Any], fixed: NDArray[Any], start: Floats, basis: Floats) -> Floats:
    """The map by which the pixels of the fixed image find their like in the moving one, from coarse pictures to fine.

    The moving image is interpolated at the places that the inverse map leads to from the pixels of the fixed one.
    That is how pictures are moved, so there is no error of interpolation for one that was moved like this. If one
    image is more than twice as large as the other, its finest pictures are left out.
    """
    octaves = int(np.log2(abs(np.linalg.det(start[:, :2]))) / 2)
    if abs(octaves) > MOST_OCTAVES:
        return start
    pairs = list(zip(_pyramid(moving, max(-octaves, 0)), _pyramid(fixed, max(octaves, 0))))
    back = first = _inverse(start)
    for source, target in reversed(pairs):
        better = min((back, first), key=partial(_misfit, source, target))  # coarse pictures may mislead
        back = _by_one_picture(source, target, better, basis)
    found, source, target = _inverse(back), *pairs[0]
    moved = np.abs((found - start) @ _corners(source.around_ink[0])).max()
    return found if moved <= ASTRAY * target.side * max(target.values.shape) else start


def _inverse(map_: Floats) -> Floats:
    """The inverse of a map (2, 3)."""
    matrix = np.linalg.inv(map_[:, :2])
    return np.column_stack([matrix, -matrix @ map_[:, 2]])


def _corners(points: Floats) -> Floats:
    """The corners (3, 4), as columns (x, y, 1), of the box around points (2, n)."""
    (left, low), (right, high) = points.min(axis=1), points.max(axis=1)
    return _with_ones(np.array([(left, left, right, right), (low, high, low, high)]))


def _misfit(source: _Picture, target: _Picture, map_: Floats) -> float:
    """The sum of (ink − factor · source)² around the ink of the target, for the best factor."""
    points, ink = target.around_ink
    (seen,) = source.sampled((source.values,), map_ @ _with_ones(points))
    return float(ink @ ink - (seen @ ink) ** 2 / (seen @ seen)) if seen.any() else np.inf


def _by_one_picture(source: _Picture, target: _Picture, start: Floats, basis: Floats) -> Floats:
    """The map from the target to the source with the smallest misfit, after steps from a first map."""
    points, ink = target.around_ink
    planes = source.values, *source.slopes()
    places, corners = _with_ones(points), _corners(points)
    best, least, found = start, np.inf, start
    for _ in range(ROUNDS + 1):
        seen, x, y = source.sampled(planes, found @ places)
        if not seen.any():  # the shapes do not meet
            break
        factor = (seen @ ink) / (seen @ seen)
        residuals = ink - factor * seen
        misfit = float(residuals @ residuals)
        if misfit >= least:
            break
        best, least = found, misfit
        change = _change(np.vstack([factor * x * places, factor * y * places, seen]), residuals, basis)
        if np.abs(change @ corners).max() < STILL * source.side:
            break
        found = found + change
    return best


# ---------------------------------------------------------------- clouds


def _by_transport(
    moving: PointCloud, fixed: PointCloud, start: Floats, basis: Floats, directions: Floats, levels: Floats
) -> Floats:
    """The map after which the quantiles of the projections of both clouds are as near as possible.

    The quantile of a cloud projected on v is ⟨x, v⟩ of one of its points x. So the quantiles of the moved cloud are
    linear in the map, as long as the order of its projected points stays the same.
    """
    along = np.repeat(directions, len(levels), axis=0).T
    goals = (along * _at_levels(fixed, directions, levels)).sum(axis=0)
    best, least, found = start, np.inf, start
    for _ in range(ROUNDS + 1):
        places = _with_ones(_at_levels(moving, directions @ found[:, :2], levels))
        slopes = np.vstack([along[0] * places, along[1] * places])
        residuals = goals - found.ravel() @ slopes
        misfit = float(residuals @ residuals)
        if misfit >= least:
            break
        best, least = found, misfit
        found = found + _change(slopes, residuals, basis)
    return best


def _at_levels(cloud: PointCloud, directions: Floats, levels: Floats) -> Floats:
    """The points (2, d·l) of a cloud at which its projections on d directions reach l levels."""
    shares = rescaled(cloud.weights)
    shares = shares / shares.sum()
    chosen = []
    for direction in directions:
        order = np.argsort(cloud.points @ direction, kind="stable")
        reached = np.searchsorted(np.cumsum(shares[order]), levels)
        chosen.append(order[np.minimum(reached, len(cloud) - 1)])
    return cloud.points[np.concatenate(chosen)].T
