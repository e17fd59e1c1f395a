"""Ink of the kind "watermark": the lines of a mark in transmitted light, among uneven light, mould lines and noise."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from radoncdt._extras import require
from radoncdt.ink.image import STD_PER_MAD, Grey, InkError, Mask
from radoncdt.ink.options import WATERMARK_THRESHOLD, InkOptions, Step

__all__ = ["find_watermark"]

Spectrum = NDArray[np.complex64]

_LIGHT_SCALE = 1 / 16  # standard deviation of the blur that estimates the light, as a share of the longer side
_MOULD_LENGTH = 1 / 6  # standard deviation of the blur along mould lines, as a share of the longer side
_MOULD_STRENGTH = 8.0  # power in the direction of mould lines, in units of the median over all directions
_ORIENTATIONS = 24  # orientations of the ridge filters
_WIDTHS = (1.0, 1.6, 2.5)  # standard deviations of the ridge filters across the ridge, in pixels
_ELONGATION = 4.0  # standard deviation of a ridge filter along the ridge, in units of that across it
_SMOOTHING = 1.2  # standard deviation of the blur in which the width of lines is measured, in pixels
_NEAR = 3.0  # distance from a ridge, in pixels, within which the threshold of its line is determined
_MAX_REACH = 0.04  # maximum distance of ink from a ridge, as a share of the longer side
_PURPOSE = "finding watermarks"


def find_watermark(grey: Grey, keep: Mask, options: InkOptions) -> list[Step]:
    """Return every step to the lines of a mark, the last of which is the mass before specks are removed."""
    from scipy.ndimage import gaussian_filter

    high = WATERMARK_THRESHOLD if options.threshold is None else options.threshold
    low = high / 2 if options.low is None else options.low
    flat = _even_light(grey if options.ink != "dark" else 1 - grey, keep)
    calm = _suppress_mould(flat, keep)
    ridges = _detect_ridges(calm, keep)
    usual = np.median(ridges[keep])
    noise = STD_PER_MAD * np.median(np.abs(ridges[keep] - usual))
    threshold = require("skimage.filters", _PURPOSE).apply_hysteresis_threshold
    strong = threshold(ridges, usual + low * noise, usual + high * noise)
    lines = _widen(strong, gaussian_filter(calm, _SMOOTHING), keep)
    if not lines.any():
        raise InkError(f"no line rises above the noise; try a threshold below {high:g}")
    return [
        Step("light evened out", flat),
        Step("mould lines suppressed", calm),
        Step("ridges", np.maximum(ridges, 0)),
        Step("lines", lines),
    ]


def _widen(strong: Mask, smooth: Grey, keep: Mask) -> Grey:
    """Extend strong ridges to the bright pixels that are connected to them."""
    from scipy.ndimage import label

    dilate = require("skimage.morphology", _PURPOSE).isotropic_dilation
    near = dilate(strong, _NEAR) & keep
    if not near.any() or np.ptp(smooth[near]) == 0:
        return np.zeros(smooth.shape, np.float32)
    level = float(require("skimage.filters", _PURPOSE).threshold_otsu(smooth[near]))
    full = float(np.median(smooth[near & (smooth > level)]))
    mass = np.clip((smooth - level) / (full - level) + 0.5, 0, 1)
    mass[~(dilate(strong, _MAX_REACH * max(smooth.shape)) & keep)] = 0
    numbers, _ = label(mass > 0.5, np.ones((3, 3), int))
    connected = np.isin(numbers, np.unique(numbers[strong & (numbers > 0)])) & (numbers > 0)
    return np.where(dilate(connected, 1), mass, 0).astype(np.float32)


def _even_light(grey: Grey, keep: Mask) -> Grey:
    """Subtract the local mean and divide by the local standard deviation."""
    from scipy.ndimage import gaussian_filter

    sigma = max(grey.shape) * _LIGHT_SCALE

    def average(values: Grey, weights: Grey) -> Grey:
        return gaussian_filter(values * weights, sigma) / np.maximum(gaussian_filter(weights, sigma), 1e-6)

    weights = keep.astype(np.float32)
    difference = (grey - average(grey, weights)) * weights
    spread = np.sqrt(average(difference**2, weights))
    return (difference / np.maximum(spread, 1e-3)).astype(np.float32)


class _Plane:
    """Fourier transforms of an image with padding, so that opposite sides do not interact."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.image = shape
        self.shape = tuple(fft.next_fast_len(side + side // 2, real=True) for side in shape)
        self.y, self.x = np.meshgrid(fft.fftfreq(self.shape[0]), fft.rfftfreq(self.shape[1]), indexing="ij")

    def transform(self, image: Grey) -> Spectrum:
        return fft.rfft2(image.astype(np.float32), self.shape)

    def filter(self, spectrum: Spectrum, factor: NDArray[np.floating]) -> Grey:
        """Multiply a spectrum by a factor and transform it back."""
        rows, columns = self.image
        return fft.irfft2(spectrum * factor.astype(np.float32), self.shape)[:rows, :columns]


def _suppress_mould(flat: Grey, keep: Mask) -> Grey:
    """Subtract means along the laid lines, and then along the chain lines, which are perpendicular to them."""
    plane = _Plane(flat.shape)
    calm, weights = np.clip(flat, -3, 3), keep.astype(np.float32)
    mask = plane.transform(weights)
    length = _MOULD_LENGTH * max(flat.shape)
    for angle in _mould_directions(calm):
        along = plane.x * np.cos(angle) + plane.y * np.sin(angle)
        factor = np.exp(-2 * (np.pi * along * length) ** 2)
        mean = plane.filter(plane.transform(calm * weights), factor) / np.maximum(plane.filter(mask, factor), 1e-2)
        calm = (calm - mean * weights).astype(np.float32)
    return calm


def _mould_directions(flat: Grey) -> Iterator[float]:
    """Yield the angles of laid lines and of chain lines, relative to the rows, if the image shows laid lines."""
    from scipy.ndimage import map_coordinates

    window = np.outer(*(np.hanning(side) for side in flat.shape)).astype(np.float32)
    power = np.abs(fft.fftshift(fft.fft2(flat * window))) ** 2
    centre = np.array(flat.shape) // 2
    angles = np.deg2rad(np.arange(0, 180, 0.25))
    radii = np.arange(0.06, 0.5, 0.5 / max(flat.shape))
    across = np.array([np.cos(angles) * flat.shape[0], -np.sin(angles) * flat.shape[1]])
    places = centre[:, None, None] + across[:, :, None] * radii  # the waves across lines of each direction
    energies = map_coordinates(power, places, order=1).max(axis=1)
    best = int(energies.argmax())
    if energies[best] < _MOULD_STRENGTH * np.median(energies):
        return
    yield float(angles[best])
    yield float(angles[best] + np.pi / 2)


def _detect_ridges(calm: Grey, keep: Mask) -> Grey:
    """Return the largest response to bright lines over all widths and orientations, in units of white noise."""
    plane = _Plane(calm.shape)
    spectrum = plane.transform(calm * keep)
    best = np.full(calm.shape, -np.inf, np.float32)
    for sigma in _WIDTHS:
        for k in range(_ORIENTATIONS):
            angle = np.pi * k / _ORIENTATIONS
            along = plane.x * np.cos(angle) + plane.y * np.sin(angle)
            across = plane.y * np.cos(angle) - plane.x * np.sin(angle)
            wave = (2 * np.pi * across * sigma) ** 2
            factor = wave * np.exp(-wave / 2 - 2 * (np.pi * along * _ELONGATION * sigma) ** 2)
            # the response to white noise has the mean square of the factor as its variance
            factor = factor / np.sqrt(np.mean(factor**2))
            np.maximum(best, plane.filter(spectrum, factor), out=best)
    return np.where(keep, best, 0).astype(np.float32)
