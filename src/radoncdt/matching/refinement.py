"""Refinement: the last step of a registration, from a map that is nearly right to the one that fits best.

Registration computes its map from moments and projections, which depend on where the mass is. An image that is
resampled, or lines that are redrawn, have their mass in slightly different places. The last step therefore compares
two images pixel by pixel, and two PointClouds by the transport of their projections, both with Gauss–Newton steps.

Pixels are means over squares, or values between such means, and a map stretches the squares of the moving image. So one
image is slightly more blurred than the other, and lines drawn with the same pen differ in width. Such a difference must
not be mistaken for a part of the map. Both images are blurred by the same Gaussian, and the remaining difference is
estimated together with the map: a blur with covariance C adds ½ tr(C ∇²f) to an image f, up to higher orders. There is
one exception: a copy that was interpolated from the pixels of the moving image is reproduced by interpolation without
any blur, and then nothing is more exact.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt._geometry import ink_box
from radoncdt._typing import Floats
from radoncdt.measures import Measure, PointCloud, rescale

__all__ = ["refine"]

MIN_SIDE = 16
"""Smallest number of pixels along the shorter side of the coarsest image."""
MAX_POINTS = 4000
"""Largest number of pixels of the fixed image that are compared."""
BLUR = 1.0
"""Standard deviation of the Gaussian that blurs both images, in pixels of the fixed image at that resolution."""
REPRODUCED = 1e-4
"""Share of the sum of squares below which the residual of an interpolated copy lies. Other copies leave more."""
MAX_OCTAVES = 10
"""Largest power of two between the sizes of two images that are compared pixel by pixel."""
MAX_ASPECT = 10.0
"""Largest aspect of a map that is refined by pixels. Beyond it, one direction is nearly lost."""
MAX_STEPS = 6
"""Largest number of Gauss–Newton steps, at each resolution of images and for PointClouds."""
CONVERGED = 1e-3
"""Steps end when they move the corners of the shape by less than this many pixels at that resolution."""
MAX_MOVE = 0.15
"""A refined map is discarded if it moves a corner by more than this share of the size of the fixed shape."""


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
    """Find a map near x ↦ Ax + y that fits better, from an image to an image or from a PointCloud to a PointCloud.

    The map is returned unchanged if no better one is near, and between an image and a PointCloud.

    Parameters
    ----------
    moving, fixed : image (H, W) or PointCloud
    matrix, shift : arrays (2, 2) and (2,)
    directions, levels : arrays (d, 2) and (l,)
        The directions and levels at which the projections of PointClouds are compared.
    similarity : bool
        Whether the map is a similarity and must remain one.
    """
    start = np.column_stack([matrix, shift])
    try:
        if isinstance(moving, PointCloud) and isinstance(fixed, PointCloud):
            found = _refine_by_transport(moving, fixed, start, similarity, directions, levels)
        elif isinstance(moving, PointCloud) or isinstance(fixed, PointCloud):
            return matrix, shift
        else:
            found = _refine_by_pixels(moving, fixed, start, _allowed_changes(start, similarity))
    except np.linalg.LinAlgError:
        return matrix, shift
    kept = np.isfinite(found).all() and _handedness(found) == _handedness(start)
    return (found[:, :2].copy(), found[:, 2].copy()) if kept else (matrix, shift)


def _handedness(map_: Floats) -> float:
    """The sign of the determinant of a map (2, 3), scaled so that it does not vanish by rounding."""
    matrix = map_[:, :2]
    return float(np.sign(np.linalg.det(matrix / np.abs(matrix).max())))


def _allowed_changes(map_: Floats, similarity: bool) -> Floats:
    """The allowed changes of a map (2, 3), as columns (6, n): all of them, or those that preserve a similarity."""
    if not similarity:
        return np.eye(6)
    sign = _handedness(map_)
    return np.array([[1, 0, 0, 0, sign, 0], [0, -sign, 0, 1, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1.0]]).T


def _solve_for_change(slopes: Floats, residuals: Floats, basis: Floats) -> Floats:
    """The change (2, 3) of a map that reduces residuals (n,) most.

    The rows of `slopes` are the derivatives of the compared values by the six entries of the map, followed by those by
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


def _append_ones(points: Floats) -> Floats:
    """Extend points (2, n) to columns (x, y, 1), to which maps (2, 3) are applied."""
    return np.vstack([points, np.ones(points.shape[1])])


# ---------------------------------------------------------------- images


class _Raster:
    """The ink of an image at one resolution.

    `origin` is the position (x, y) of the centre of the upper left pixel, and `side` is the side of a pixel. Both are
    in pixels of the full image.
    """

    def __init__(self, values: Floats, origin: Floats, side: float) -> None:
        self.values, self.origin, self.side = values, origin, side

    @classmethod
    def of(cls, image: NDArray[Any]) -> "_Raster":
        """The full image, cropped to its ink, with a margin of paper."""
        rows, columns = ink_box(image)
        ink = image[rows, columns].astype(np.float64)
        origin = np.array([columns.start - 2 - (image.shape[1] - 1) / 2, (image.shape[0] - 1) / 2 - rows.start + 2])
        return cls(np.pad(ink / ink.max(), 2), origin, 1.0)

    def halve(self) -> "_Raster":
        """The ink at half the resolution: means of 2 × 2 pixels."""
        values = np.pad(self.values, [(2, 2 + n % 2) for n in self.values.shape])
        means = (values[::2, ::2] + values[1::2, ::2] + values[::2, 1::2] + values[1::2, 1::2]) / 4
        return _Raster(means, self.origin + self.side * np.array([-1.5, 1.5]), 2 * self.side)

    @property
    def box(self) -> Floats:
        """The positions of the first and the last pixel (2, 2), as columns."""
        height, width = self.values.shape
        return np.column_stack([self.origin, self.origin + self.side * np.array([width - 1, 1 - height])])

    def blur(self, covariance: Floats) -> "_Raster":
        """The ink blurred by a Gaussian whose covariance (2, 2) is given in pixels of the full image."""
        from scipy import fft

        (xx, xy), (_, yy) = covariance / self.side**2
        margin = int(np.ceil(4 * np.sqrt(max(xx, yy))))
        values = np.pad(self.values.astype(np.float32), margin)  # float32 takes half the time
        shape = [fft.next_fast_len(n, real=True) for n in values.shape]
        up, right = -2 * np.pi * fft.fftfreq(shape[0])[:, None], 2 * np.pi * fft.rfftfreq(shape[1])
        damping = np.exp(-(xx * right**2 + 2 * xy * right * up + yy * up**2) / 2).astype(np.float32)
        soft = fft.irfft2(fft.rfft2(values, shape) * damping, shape)[: values.shape[0], : values.shape[1]]
        return _Raster(soft, self.origin + self.side * margin * np.array([-1, 1]), self.side)

    @cached_property
    def around_ink(self) -> Floats:
        """The positions (2, n) of pixels at most two pixels away from ink, evenly sampled if there are many."""
        near = self.values > 0
        for side in (near, near.T) * 2:
            before, behind = side[:-1].copy(), side[1:].copy()
            side[1:] |= before
            side[:-1] |= behind
        where = np.flatnonzero(near)
        rows, columns = np.divmod(where[:: -(-len(where) // MAX_POINTS)], self.values.shape[1])
        places: Floats = self.origin[:, None] + self.side * np.stack([columns, -rows])
        return places

    def derivative(self, axis: int, plane: Floats) -> Floats:
        """The derivative of an array of the same shape by x (axis 1) or y (axis 0)."""
        slope: Floats = np.gradient(plane, self.side if axis else -self.side, axis=axis)  # rows run downwards
        return slope

    def sample(self, planes: tuple[Floats, ...], points: Floats) -> list[Floats]:
        """The values of arrays of the same shape at points (2, n), by bilinear interpolation."""
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


def _build_pyramid(image: NDArray[Any], skipped: int) -> list[_Raster]:
    """The ink of an image at decreasing resolutions, each half the one before. The first `skipped` ones are omitted."""
    levels = [_Raster.of(image)]
    while len(levels) <= skipped or min(levels[-1].values.shape) >= 2 * MIN_SIDE:
        levels.append(levels[-1].halve())
    return levels[skipped:]


class _Pair:
    """A source, a target, and the pixels of the target at which they are compared.

    If a map `near` from the target to the source is given, both are blurred equally for maps near it, and a small
    difference in blur is estimated.
    """

    def __init__(self, source: _Raster, target: _Raster, near: Floats | None = None) -> None:
        self.points = target.around_ink
        self.places = _append_ones(self.points)
        if near is not None:
            square = (BLUR * target.side) ** 2
            source = source.blur(square * near[:, :2] @ near[:, :2].T)
            target = target.blur(square * np.eye(2))
        self.source = source
        (self.ink,) = target.sample((target.values,), self.points)
        x, y = (source.derivative(axis, source.values) for axis in (1, 0))
        bends = () if near is None else (source.derivative(1, x), source.derivative(0, x), source.derivative(0, y))
        self.planes = source.values, x, y, *bends

    def compare(self, map_: Floats) -> tuple[Floats, Floats]:
        """The residuals (n,) of a map, and the slopes for `_solve_for_change`.

        The factor of the grey values and the difference in blur are those with the smallest residuals.
        """
        seen, x, y, *bends = self.source.sample(self.planes, map_ @ self.places)
        others = np.stack([seen, *bends])
        sizes = np.linalg.norm(others, axis=1)
        sizes[sizes == 0] = 1  # the shapes do not meet
        others /= sizes[:, None]
        shares = np.linalg.lstsq(others @ others.T, others @ self.ink, rcond=1e-10)[0]
        factor = shares[0] / sizes[0]
        return self.ink - shares @ others, np.vstack([factor * x * self.places, factor * y * self.places, others])


def _refine_by_pixels(moving: NDArray[Any], fixed: NDArray[Any], start: Floats, basis: Floats) -> Floats:
    """Refine a map by comparing pixels, from coarse resolutions to fine ones.

    The moving image is interpolated at the positions to which the inverse map takes the pixels of the fixed image. If
    one image is more than twice as large as the other, its finest resolutions are omitted.
    """
    large, small = np.linalg.svd(start[:, :2], compute_uv=False)
    octaves = int(np.log2(large * small) / 2)
    if abs(octaves) > MAX_OCTAVES or large > MAX_ASPECT * small:
        return start
    pairs = list(zip(_build_pyramid(moving, max(-octaves, 0)), _build_pyramid(fixed, max(octaves, 0))))
    back = first = _invert(start)
    for source, target in reversed(pairs):
        starts = [back] if back is first else [back, first]  # coarse resolutions may mislead
        if source is pairs[0][0]:
            back, share = _refine_at_one_resolution(_Pair(source, target), starts, basis)
            if share < REPRODUCED:
                break
        back, _ = _refine_at_one_resolution(_Pair(source, target, first), starts, basis)
    found, source, target = _invert(back), *pairs[0]
    moved = np.abs((found - start) @ _corners(source.box)).max()
    return found if moved <= MAX_MOVE * target.side * max(target.values.shape) else start


def _invert(map_: Floats) -> Floats:
    """The inverse of a map (2, 3)."""
    matrix = np.linalg.inv(map_[:, :2])
    return np.column_stack([matrix, -matrix @ map_[:, 2]])


def _corners(points: Floats) -> Floats:
    """The corners (3, 4), as columns (x, y, 1), of the box around points (2, n)."""
    (left, low), (right, high) = points.min(axis=1), points.max(axis=1)
    return _append_ones(np.array([(left, left, right, right), (low, high, low, high)]))


def _refine_at_one_resolution(pair: _Pair, starts: list[Floats], basis: Floats) -> tuple[Floats, float]:
    """The map from the target to the source with the smallest residual, after steps from the best of `starts`.

    The second value is the share of the sum of squares that remains.
    """
    corners = _corners(pair.points)
    tried = [(map_, *pair.compare(map_)) for map_ in starts]
    best, residuals, slopes = min(tried, key=lambda some: some[1] @ some[1])
    for _ in range(MAX_STEPS):
        change = _solve_for_change(slopes, residuals, basis)
        if np.abs(change @ corners).max() < CONVERGED * pair.source.side:
            break
        rest, slopes = pair.compare(best + change)
        if not rest @ rest < residuals @ residuals:
            break
        best, residuals = best + change, rest
    return best, float(residuals @ residuals) / max(float(pair.ink @ pair.ink), 1e-300)


# ---------------------------------------------------------------- clouds


def _refine_by_transport(
    moving: PointCloud, fixed: PointCloud, start: Floats, similarity: bool, directions: Floats, levels: Floats
) -> Floats:
    """Refine a map so that the quantiles of the projections of both clouds are as close as possible.

    Both clouds are centred and scaled to size 1, so that no unit of length is too small or too large. These operations
    are similarities, so a similarity remains one.
    """
    (moving, centre, size), (fixed, fixed_centre, fixed_size) = _standardise(moving), _standardise(fixed)
    ratio = size / fixed_size
    matrix, goal = start[:, :2], (start[:, :2] @ centre + start[:, 2] - fixed_centre) / fixed_size
    inner = np.column_stack([matrix * ratio, goal])
    found = _fit_quantiles(moving, fixed, inner, _allowed_changes(inner, similarity), directions * fixed_size, levels)
    matrix = found[:, :2] / ratio
    return np.column_stack([matrix, fixed_size * found[:, 2] + fixed_centre - matrix @ centre])


def _standardise(cloud: PointCloud) -> tuple[PointCloud, Floats, float]:
    """Move a cloud to the origin and scale its coordinates to at most 1. Also return its centre and size."""
    low, high = cloud.points.min(axis=0), cloud.points.max(axis=0)
    centre, size = low / 2 + high / 2, float((high / 2 - low / 2).max())
    return PointCloud((cloud.points - centre) / size, cloud.weights), centre, size


def _fit_quantiles(
    moving: PointCloud, fixed: PointCloud, start: Floats, basis: Floats, directions: Floats, levels: Floats
) -> Floats:
    """The map with the closest quantiles, after steps from a first map.

    The quantile of a cloud projected on v is ⟨x, v⟩ of one of its points x. So the quantiles of the moved cloud are
    linear in the map, as long as the order of its projected points stays the same.
    """
    along = np.repeat(directions, len(levels), axis=0).T
    goals = (along * _find_points_at_levels(fixed, directions, levels)).sum(axis=0)
    best, least, found = start, np.inf, start
    for _ in range(MAX_STEPS + 1):
        places = _append_ones(_find_points_at_levels(moving, directions @ found[:, :2], levels))
        slopes = np.vstack([along[0] * places, along[1] * places])
        residuals = goals - found.ravel() @ slopes
        misfit = float(residuals @ residuals)
        if misfit >= least:
            break
        best, least = found, misfit
        found = found + _solve_for_change(slopes, residuals, basis)
    return best


def _find_points_at_levels(cloud: PointCloud, directions: Floats, levels: Floats) -> Floats:
    """The points (2, d·l) of a cloud at which its projections on d directions reach l levels."""
    shares = rescale(cloud.weights)
    shares = shares / shares.sum()
    chosen = []
    for direction in directions:
        order = np.argsort(cloud.points @ direction, kind="stable")
        reached = np.searchsorted(np.cumsum(shares[order]), levels)
        chosen.append(order[np.minimum(reached, len(cloud) - 1)])
    return cloud.points[np.concatenate(chosen)].T
