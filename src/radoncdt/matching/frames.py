"""Images on frames of the whitened plane, where affine copies differ by a rotation or a reflection only.

The frame of a measure with mean m and covariance Σ consists of side × side points u of [−reach, reach]². Its image has
the value of the measure at m + Σ^{1/2}u. A frame is coarser than a large image, so images are reduced before they are
sampled: first by means of blocks of pixels, then by a Gaussian blur of half a step of the frame in each direction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import _threads
from radoncdt._geometry import XY_TO_ROW_COLUMN, ink_box, square_root
from radoncdt._typing import Floats
from radoncdt.matching.descriptors import Descriptors
from radoncdt.measures import Batch, Measure, PointCloud

__all__ = ["REACH", "Canvas", "Canvases", "blur_gaussian", "make_canvases"]

REACH = 2.6  # half the side of a frame, in standard deviations of the measure

_SAMPLED = 1.8  # farthest point of a frame that is turned and polished, in units of its reach
_MIN_BLURRED_STEP = 1.2  # pixels; steps of a frame up to this size need no blur
_POINTS_PER_STEP = 2  # pixels of the picture of a point cloud along a step of its frame
_WORK = 200  # cost of reducing a pixel, in the units of `_threads`


@dataclass(frozen=True)
class Canvas:
    """A measure as a picture of about the resolution of its frame."""

    pixels: NDArray[np.float32]
    to_pixels: Floats
    """The map (2, 3) from the plane of the measure to the pixels, both from the centre, y up."""


class Canvases:
    """Canvases of several measures, and the maps from their whitened frames to the pixels."""

    def __init__(self, pixels: Sequence[NDArray[np.float32]], to_pixels: Floats, means: Floats, roots: Floats) -> None:
        self.pixels, self.to_pixels, self.means, self.roots = list(pixels), to_pixels, means, roots

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, chosen: NDArray[np.intp]) -> "Canvases":
        pixels = [self.pixels[i] for i in chosen.tolist()]
        return Canvases(pixels, self.to_pixels[chosen], self.means[chosen], self.roots[chosen])

    def maps(self, chosen: NDArray[np.intp], turns: Floats | None = None) -> Floats:
        """Return maps (n, 2, 3) from frames to the pixels of chosen canvases, after turns (n, 2, 2) of the frames."""
        roots = self.roots[chosen] if turns is None else self.roots[chosen] @ turns
        to_pixels = self.to_pixels[chosen]
        maps = to_pixels[..., :2] @ np.concatenate([roots, self.means[chosen, :, None]], axis=-1)
        maps[..., 2] += to_pixels[..., 2]
        return maps


def make_canvases(batch: Batch, descriptors: Descriptors, side: int, n_jobs: int | None) -> Canvases:
    """Return canvases for frames of side × side points."""
    roots = square_root(descriptors.covariances)
    canvases: list[Canvas] = [None] * len(batch)  # type: ignore[list-item]

    def make(i: int) -> None:
        item: Measure = batch.items[i]
        mean, root = descriptors.means[i], roots[i]
        if isinstance(item, PointCloud):
            canvases[i] = _draw_points(item, mean, root, side)
        else:
            canvases[i] = _reduce_image(item, mean, root, side)

    _threads.for_each(make, range(len(batch)), _threads.count_workers(n_jobs, _WORK * batch.work()))
    to_pixels = np.array([canvas.to_pixels for canvas in canvases])
    return Canvases([canvas.pixels for canvas in canvases], to_pixels, descriptors.means, roots)


def _reduce_image(image: NDArray[Any], mean: Floats, root: Floats, side: int) -> Canvas:
    """Crop an image to its ink, and reduce it to about the resolution of its frame.

    A step of the frame is an ellipse of pixels. Along its axes that are longer than `_MIN_BLURRED_STEP`, the image is
    blurred by half their length.
    """
    lengths, axes = np.linalg.eigh(root)
    steps = 2 * REACH / side * lengths  # in pixels
    factor = max(1, int(steps[0] / _MIN_BLURRED_STEP))
    deviations = np.where(steps > _MIN_BLURRED_STEP, 0.5 * steps, 0.0) / factor
    blur = (axes * deviations**2) @ axes.T  # covariance of the blur, in pixels of the canvas
    margin = int(np.ceil(3 * deviations.max())) * factor
    rows, columns = _crop_to_frame(image, mean, root, factor)
    ink = np.asarray(image[rows, columns], np.float64)
    ink = ink / max(float(ink.max(initial=0)), np.finfo(float).tiny)  # the values of float32 are few
    shape = [-(-(length + 2 * margin) // factor) * factor for length in ink.shape]
    canvas = np.zeros(shape)
    canvas[margin : margin + ink.shape[0], margin : margin + ink.shape[1]] = ink
    if factor > 1:
        canvas = canvas.reshape(shape[0] // factor, factor, shape[1] // factor, factor).mean(axis=(1, 3))
    if deviations.any():
        canvas = blur_gaussian(canvas, blur)
    height, width = image.shape
    top, left = rows.start - margin, columns.start - margin
    centre = left + (shape[1] - 1) / 2 - (width - 1) / 2, (height - 1) / 2 - top - (shape[0] - 1) / 2
    to_pixels = np.array([[1.0, 0.0, -centre[0]], [0.0, 1.0, -centre[1]]]) / factor
    return Canvas(np.ascontiguousarray(canvas, np.float32), to_pixels)


def _crop_to_frame(image: NDArray[Any], mean: Floats, root: Floats, factor: int) -> tuple[slice, slice]:
    """Return the rows and columns of the ink that a frame can reach, from the first row and column of the ink on.

    They begin a multiple of `factor` after the ink does, so that the blocks of pixels do not depend on the frame.
    """
    reach = _SAMPLED * REACH * np.abs(np.linalg.norm(root, axis=1))[::-1]  # along rows and columns, in pixels
    middle = (np.array(image.shape) - 1) / 2 + XY_TO_ROW_COLUMN @ mean
    spans = []
    for span, low, high in zip(ink_box(image), middle - reach, middle + reach):
        skipped = max(0, int(np.floor(low)) - span.start) // factor * factor
        spans.append(slice(span.start + skipped, max(span.start + skipped, min(span.stop, int(np.ceil(high)) + 1))))
    return spans[0], spans[1]


def blur_gaussian(image: Floats, covariance: Floats) -> Floats:
    """Blur an image by a Gaussian with a covariance (2, 2) of (x, y) in pixels; its margins are wide enough."""
    from scipy.fft import irfft2, next_fast_len, rfft2, rfftfreq

    shape = [next_fast_len(length, real=True) for length in image.shape]
    v, u = 2 * np.pi * np.fft.fftfreq(shape[0])[:, None], 2 * np.pi * rfftfreq(shape[1])
    (xx, xy), (_, yy) = covariance
    factors = np.exp(-0.5 * (xx * u * u - 2 * xy * u * v + yy * v * v))  # rows point down
    blurred: Floats = irfft2(rfft2(image, shape) * factors, shape)[: image.shape[0], : image.shape[1]]
    return blurred


def _draw_points(cloud: PointCloud, mean: Floats, root: Floats, side: int) -> Canvas:
    """Draw the points of a cloud on its own frame, each spread over four pixels, and blurred as images are."""
    n = _POINTS_PER_STEP * side
    scale = n / (2 * REACH)
    whitened = (cloud.points - mean) @ np.linalg.inv(root).T
    places = np.stack([(n - 1) / 2 - scale * whitened[:, 1], (n - 1) / 2 + scale * whitened[:, 0]])
    picture = np.zeros((n + 2, n + 2))
    places = np.clip(places, -1, n) + 1
    corner = np.minimum(np.floor(places).astype(int), n)
    part = places - corner
    weights = cloud.weights / cloud.weights.max()
    for down in (0, 1):
        for right in (0, 1):
            share = np.abs(1 - down - part[0]) * np.abs(1 - right - part[1])
            np.add.at(picture, (corner[0] + down, corner[1] + right), share * weights)
    margin = 2 * _POINTS_PER_STEP
    blurred = blur_gaussian(np.pad(picture[1:-1, 1:-1], margin), (0.5 * _POINTS_PER_STEP) ** 2 * np.eye(2))
    inverse = scale * np.linalg.inv(root)
    return Canvas(blurred.astype(np.float32), np.concatenate([inverse, -(inverse @ mean)[:, None]], axis=1))
