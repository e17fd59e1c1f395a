"""Images on frames of the whitened plane, where affine copies differ by a rotation or a reflection only.

The frame of a measure with mean m and covariance Σ consists of side × side points u of [−reach, reach]². Its image has
the value of the measure at m + Σ^{1/2}u. A frame is coarser than a large image, so images are reduced before they are
sampled: first by means of blocks of pixels, then by a Gaussian blur of half a step of the frame.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radoncdt import _threads
from radoncdt._geometry import ink_box, square_root
from radoncdt._typing import Floats
from radoncdt.matching.descriptors import Descriptors
from radoncdt.measures import Batch, Measure, PointCloud

__all__ = ["REACH", "Canvas", "Canvases", "make_canvases"]

REACH = 2.6  # half the side of a frame, in standard deviations of the measure

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

    def __init__(self, canvases: Sequence[Canvas], means: Floats, roots: Floats) -> None:
        self.canvases, self.means, self.roots = list(canvases), means, roots

    def __len__(self) -> int:
        return len(self.canvases)

    def __getitem__(self, chosen: NDArray[np.intp]) -> "Canvases":
        return Canvases([self.canvases[i] for i in chosen.tolist()], self.means[chosen], self.roots[chosen])

    @property
    def pixels(self) -> list[NDArray[np.float32]]:
        """The pictures."""
        return [canvas.pixels for canvas in self.canvases]

    def maps(self, chosen: NDArray[np.intp], turns: Floats | None = None) -> Floats:
        """Maps (n, 2, 3) from frames to the pixels of the chosen canvases, after turns (n, 2, 2) of the frames."""
        roots = self.roots[chosen] if turns is None else self.roots[chosen] @ turns
        to_pixels = np.array([canvas.to_pixels for canvas in self.canvases])[chosen]
        whole = np.concatenate([roots, self.means[chosen, :, None]], axis=-1)
        maps = to_pixels[..., :2] @ whole
        maps[..., 2] += to_pixels[..., 2]
        return maps


def make_canvases(batch: Batch, descriptors: Descriptors, side: int, n_jobs: int | None) -> Canvases:
    """Return canvases for frames of side × side points."""
    roots = np.array([square_root(covariance) for covariance in descriptors.covariances])
    steps = 2 * REACH / side * np.sqrt(np.abs(np.linalg.det(roots)))  # in pixels
    canvases: list[Canvas] = [None] * len(batch)  # type: ignore[list-item]

    def make(i: int) -> None:
        item: Measure = batch.items[i]
        if isinstance(item, PointCloud):
            canvases[i] = _draw_points(item, descriptors.means[i], roots[i], side)
        else:
            canvases[i] = _reduce_image(item, float(steps[i]))

    _threads.for_each(make, range(len(batch)), _threads.count_workers(n_jobs, _WORK * batch.work()))
    return Canvases(canvases, descriptors.means, roots)


def _reduce_image(image: NDArray[np.generic], step: float) -> Canvas:
    """Crop an image to its ink, and reduce it to about the resolution of frames with the given step in pixels."""
    from scipy.ndimage import gaussian_filter

    rows, columns = ink_box(image)
    factor = max(1, int(step / _MIN_BLURRED_STEP))
    blur = 0.5 * step / factor if step > _MIN_BLURRED_STEP else 0.0
    margin = int(np.ceil(3 * blur)) * factor
    height, width = image.shape
    shape = [-(-(span.stop - span.start + 2 * margin) // factor) * factor for span in (rows, columns)]
    cropped = np.zeros(shape, np.float32)
    top, left = rows.start - margin, columns.start - margin
    ink = image[rows, columns]
    cropped[margin : margin + ink.shape[0], margin : margin + ink.shape[1]] = ink
    if factor > 1:
        cropped = cropped.reshape(shape[0] // factor, factor, shape[1] // factor, factor).mean(axis=(1, 3))
    if blur:
        cropped = gaussian_filter(cropped, blur, mode="constant", truncate=3.0)
    centre = left + (shape[1] - 1) / 2 - (width - 1) / 2, (height - 1) / 2 - top - (shape[0] - 1) / 2
    scale = 1 / factor
    to_pixels = np.array([[scale, 0, -scale * centre[0]], [0, scale, -scale * centre[1]]])
    return Canvas(np.ascontiguousarray(cropped, np.float32), to_pixels)


def _draw_points(cloud: PointCloud, mean: Floats, root: Floats, side: int) -> Canvas:
    """Draw the points of a cloud on its own frame, each spread over four pixels, and blurred as images are."""
    from scipy.ndimage import gaussian_filter

    n = _POINTS_PER_STEP * side
    scale = n / (2 * REACH)
    whitened = (cloud.points - mean) @ np.linalg.inv(root).T
    places = np.stack([(n - 1) / 2 - scale * whitened[:, 1], (n - 1) / 2 + scale * whitened[:, 0]])
    picture = np.zeros((n + 2, n + 2))
    places = np.clip(places, -1, n) + 1
    corner = np.minimum(np.floor(places).astype(int), n)
    part = places - corner
    for down in (0, 1):
        for right in (0, 1):
            share = np.abs(1 - down - part[0]) * np.abs(1 - right - part[1])
            np.add.at(picture, (corner[0] + down, corner[1] + right), share * cloud.weights)
    blurred = gaussian_filter(picture[1:-1, 1:-1], 0.5 * _POINTS_PER_STEP, mode="constant")
    inverse = scale * np.linalg.inv(root)
    return Canvas(blurred.astype(np.float32), np.concatenate([inverse, -(inverse @ mean)[:, None]], axis=1))
