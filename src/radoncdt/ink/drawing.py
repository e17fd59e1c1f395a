"""Ink of the kind "drawing": pixels that differ from the paper by more than a threshold, in uneven light."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt._extras import require
from radoncdt.ink.image import STD_PER_MAD, Grey, Mask, raise_no_contrast, reduce_image
from radoncdt.ink.options import InkOptions, Step

__all__ = ["find_drawing"]

_PAPER_SIDE = 64  # pixels along the longer side of the reduced image in which the paper is estimated
_BORDER = 0.88  # where the border begins, from 0 at the centre to 1 at the edge
_MIN_PAPER = 0.1  # minimum brightness of paper, on a scale from 0 to 1
_MIN_CONTRAST = 0.02  # minimum contrast; below it the page is considered blank
_MAX_RATIO = 0.75  # of the means of faint and full ink; above it, both are the same ink
_PURPOSE = "finding the ink of drawings"


def find_drawing(grey: Grey, keep: Mask, options: InkOptions) -> list[Step]:
    """Return the contrast with the paper and, as the last step, the mass before specks are removed."""
    contrast, dark = _contrast_with_paper(grey, keep, options.ink)
    noise = _estimate_noise(contrast, keep)
    np.maximum(contrast, 0, out=contrast)
    above = contrast[contrast > 3 * noise]
    if not above.size or above.max() < _MIN_CONTRAST:
        raise_no_contrast(dark=dark)
    full = float(np.quantile(above, 0.95))
    given = options.threshold
    level = max(_separate(above, full), 5 * noise) if given is None else given * full
    edge = max(min(level - 3 * noise, full - level), 0.1 * level)  # soft edges stay soft, and noise stays paper
    mass = np.clip(contrast * np.float32(0.5 / edge) + np.float32(0.5 - 0.5 * level / edge), 0, 1)
    if not mass.any():
        raise_no_contrast(dark=dark)
    return [Step("light evened out", contrast), Step("above the threshold", mass)]


def _separate(above: Grey, full: float) -> float:
    """Return the level between faint values, such as edges, and full ink; half of the contrast if there is only ink."""
    if np.ptp(above) == 0:
        return full / 2
    level = float(_find_threshold(above))
    faint, ink = (float(above[some].mean()) for some in (above <= level, above > level))
    return level if faint < _MAX_RATIO * ink else full / 2


def _find_threshold(values: Grey) -> Any:
    return require("skimage.filters", _PURPOSE).threshold_otsu(values)


def _contrast_with_paper(grey: Grey, keep: Mask, ink: str) -> tuple[Grey, bool]:
    """Return the contrast, which is positive for ink and zero where pixels do not count, and whether ink is dark."""
    filled = grey if keep.all() else np.where(keep, grey, np.median(grey[keep])).astype(np.float32)
    small, small_keep = reduce_image(filled, keep, _PAPER_SIDE)
    light = _fit_light(small, small_keep)
    dark = ink == "dark" or (ink == "auto" and _is_dark((small - light)[small_keep]))
    paper = _estimate_paper(small, light, dark, grey.shape)
    contrast: Any = 1 - grey / np.maximum(paper, _MIN_PAPER) if dark else grey - paper  # ink absorbs light
    contrast[~keep] = 0
    return contrast, dark


def _estimate_noise(contrast: Grey, keep: Mask) -> float:
    """Estimate the standard deviation of the paper from a sample of the pixels."""
    some = slice(None, None, 1 + min(contrast.shape) // 128)
    values = contrast[some, some][keep[some, some]]
    return STD_PER_MAD * float(np.median(np.abs(values if values.size else contrast[keep])))


def _is_dark(differences: NDArray[np.floating]) -> bool:
    """Whether the differences from even light that exceed the noise are mostly negative."""
    noise = 3 * STD_PER_MAD * float(np.median(np.abs(differences)))
    darker, brighter = (float(np.maximum(sign * differences - noise, 0).sum()) for sign in (-1, 1))
    return darker >= brighter


def _fit_light(small: Grey, keep: Mask) -> Grey:
    """Fit a quadratic polynomial of the position, first to the border and then to all pixels, with Tukey's weights."""
    v, u = np.meshgrid(*(np.linspace(-1, 1, side) for side in small.shape), indexing="ij")
    everywhere = np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=-1)
    step = 1 + max(small.shape) // 48
    few = keep[::step, ::step]
    terms, values = everywhere[::step, ::step][few], small[::step, ::step][few].astype(np.float64)
    border = np.maximum(np.abs(u), np.abs(v))[::step, ::step][few] > _BORDER
    weights = border.astype(np.float64) if border.sum() > len(values) / 20 else np.ones(len(values))
    counted = weights > 0
    for iteration in range(12):
        if iteration == 6:
            counted = np.ones(len(values), bool)
        weighted = terms * (weights * counted)[:, None]
        fitted = np.linalg.solve(weighted.T @ terms + 1e-9 * len(values) * np.eye(6), weighted.T @ values)
        residuals = np.abs(values - terms @ fitted)
        scale = max(4.685 * STD_PER_MAD * float(np.median(residuals[counted])), 1e-3)
        weights = np.maximum(1 - (residuals / scale) ** 2, 0) ** 2
        if not (weights * counted).any():
            break
    return (everywhere @ fitted).astype(np.float32)


def _estimate_paper(small: Grey, light: Grey, dark: bool, shape: tuple[int, ...]) -> Grey:
    """Smooth the pixels that are close to the even light, and interpolate them below the ink."""
    from scipy.ndimage import gaussian_filter

    pillow = require("PIL.Image", _PURPOSE)
    difference = small - light
    ink = np.maximum(-difference if dark else difference, 0)
    level = _find_threshold(ink) / 2 if np.ptp(ink) > 0 else 0.0
    weights = (ink <= level).astype(np.float32)
    sigma = max(small.shape) / 12
    total = gaussian_filter(weights, sigma, mode="nearest")
    around = gaussian_filter(difference * weights, sigma, mode="nearest") / (total + np.float32(1e-3)) + light
    return np.array(pillow.fromarray(around).resize((shape[1], shape[0]), pillow.Resampling.BILINEAR))
