"""Comparing registered images although one of them is slightly bent: the image distortion model.

Keysers, Deselaers, Gollan and Ney, Deformation models for image recognition, IEEE PAMI 29 (2007).
"""

import numpy as np
from numpy.typing import NDArray

from radoncdt._interface import Bending, Images
from radoncdt._typing import Floats

__all__ = ["distortions", "find_gradients", "sample_frame"]

_BLANK = 18.0  # distance of an image without gradients, about that of images without a common patch
_MIN_WEIGHT = 1e-7  # squared gradients below this do not take part in the polish


def distortions(
    moving: Images,
    fixed: Images,
    pairs: NDArray[np.intp],
    moving_maps: Floats,
    fixed_maps: Floats,
    *,
    side: int,
    reach: float,
    bending: Bending,
) -> tuple[Floats, Floats]:
    """Compute distortion distances (n,) of pairs of images, and the maps (n, 2, 3) that attain them."""
    distances, maps = np.empty(len(pairs)), np.array(moving_maps, np.float64)
    for k, (i, j) in enumerate(pairs):
        target = find_gradients(sample_frame(fixed[j], fixed_maps[j], side, reach))
        gradients = find_gradients(sample_frame(moving[i], maps[k], side, reach))
        if not (gradients.any() and target.any()):
            distances[k] = _BLANK
            continue
        distances[k], displacements = _match(gradients, target, bending)
        if not bending.polish:
            continue
        polished = _compose(maps[k], _fit_displacements(gradients, displacements, reach, bending.ridge))
        gradients = find_gradients(sample_frame(moving[i], polished, side, reach))
        better = _match(gradients, target, bending)[0] if gradients.any() else np.inf
        if better < distances[k]:
            distances[k], maps[k] = better, polished
    return distances, maps


def sample_frame(image: NDArray[np.floating], frame_map: Floats, side: int, reach: float) -> Floats:
    """Interpolate an image bilinearly at side × side points of [−reach, reach]²; it is 0 beyond its edges."""
    places = reach * ((2 * np.arange(side) + 1) / side - 1)
    x, y = np.meshgrid(places, -places)
    at_x, at_y = np.tensordot(frame_map, np.stack([x, y, np.ones_like(x)]), axes=1)
    height, width = image.shape
    columns = np.clip((width - 1) / 2 + at_x, -1, width)
    rows = np.clip((height - 1) / 2 - at_y, -1, height)
    left, top = np.floor(columns).astype(int), np.floor(rows).astype(int)
    padded = np.pad(np.asarray(image, np.float64), ((1, 2), (1, 2)))
    values = np.zeros((side, side))
    for down in (0, 1):
        for right in (0, 1):
            part = np.abs(1 - down - (rows - top)) * np.abs(1 - right - (columns - left))
            values += part * padded[top + down + 1, left + right + 1]
    return values


def find_gradients(image: Floats) -> Floats:
    """Blur an image (S, S) and return its Sobel gradients (2, S, S), divided by their joint norm, 0 on the border."""
    padded = np.pad(image, 1)
    blurred = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    blurred = (blurred[:, :-2] + 2 * blurred[:, 1:-1] + blurred[:, 2:]) / 4
    gradients = np.zeros((2, *image.shape))
    across, down = blurred[:, 2:] - blurred[:, :-2], blurred[2:] - blurred[:-2]
    gradients[0, 1:-1, 1:-1] = across[:-2] + 2 * across[1:-1] + across[2:]
    gradients[1, 1:-1, 1:-1] = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    norm = np.linalg.norm(gradients)
    return gradients / norm if norm > 0 else gradients


def _match(gradients: Floats, target: Floats, bending: Bending) -> tuple[float, NDArray[np.intp]]:
    """Return the sum over the best matches of all 3 × 3 patches, and their displacements (2, S, S): right and down."""
    side, window = gradients.shape[-1], bending.window
    margin = window + 1
    moving, fixed = (np.pad(each, ((0, 0), (margin, margin), (margin, margin))) for each in (gradients, target))
    steps = np.arange(-window, window + 1)
    costs = np.empty((steps.size, steps.size, side, side))
    inner = slice(window, window + side + 2)  # the frame and one point around it
    for a, dy in enumerate(steps):
        for b, dx in enumerate(steps):
            displaced = fixed[:, window + dy : window + dy + side + 2, window + dx : window + dx + side + 2]
            squares = ((moving[:, inner, inner] - displaced) ** 2).sum(axis=0)
            rows = squares[:-2] + squares[1:-1] + squares[2:]
            costs[a, b] = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:] + bending.penalty * (dx * dx + dy * dy)
    flat = costs.reshape(-1, side, side)
    best = flat.argmin(axis=0)
    return float(flat.min(axis=0).sum()), np.stack([best % steps.size - window, best // steps.size - window])


def _fit_displacements(gradients: Floats, displacements: NDArray[np.intp], reach: float, ridge: float) -> Floats:
    """Return the affine map (2, 3) of the frame that the displacements suggest for the moving image."""
    side = gradients.shape[-1]
    step = 2 * reach / side
    places = reach * ((2 * np.arange(side) + 1) / side - 1)
    x, y = np.meshgrid(2 / reach * places, -2 / reach * places)
    weights = (gradients**2).sum(axis=0)
    used = weights >= _MIN_WEIGHT
    identity = np.eye(2, 3)
    if not used.any():
        return identity
    weight = weights[used]
    terms = np.stack([np.ones(weight.size), x[used], y[used]])
    matrix = (weight * terms) @ terms.T + ridge * weight.sum() * np.eye(3)
    moves = step * np.stack([displacements[0][used], -displacements[1][used]])
    constant, along, up = np.linalg.solve(matrix, (weight * terms) @ moves.T)
    return identity - np.stack([2 / reach * along, 2 / reach * up, constant], axis=1)


def _compose(second: Floats, first: Floats) -> Floats:
    """Return the affine map (2, 3) that applies `first` and then `second`."""
    return np.concatenate([second[:, :2] @ first[:, :2], (second[:, :2] @ first[:, 2] + second[:, 2])[:, None]], axis=1)
