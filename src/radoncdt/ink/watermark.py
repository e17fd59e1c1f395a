"""Lines of a mark in a photograph: uneven light, the lines of the mould and noise are in the way."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from radoncdt.ink.files import Grey, Mask

Floats = NDArray[np.float32]
Spectrum = NDArray[np.complex64]

LIGHT = 1 / 16
"""Of the longer side: what is wider than this is light, not a line."""
STRAIGHT = 1 / 6
"""Of the longer side: what is straight over such a length, and parallel to the lines of the mould, is one of these."""
ORIENTATIONS = 24
WIDTHS = (1.0, 1.6, 2.5)
"""Standard deviations, in pixels, across the ridges that are looked for."""
LENGTHS = 4.0
"""The same along them, by those across."""
REACH, FAR = 3.0, 0.04
"""Pixels around a ridge in which its line is; share of the longer side to which an area may reach."""
SMOOTH = 1.2
"""Standard deviation, in pixels, of the blur that shows how wide lines are."""
OUTSTANDING = 8.0
"""How much stronger than the usual direction that of the mould's lines is, to be suppressed."""


def lines_of_photo(grey: Grey, keep: Mask, low: float, high: float) -> dict[str, Floats]:
    """Every step to the lines of a mark that is brighter than the paper."""
    from scipy.ndimage import gaussian_filter
    from skimage.filters import apply_hysteresis_threshold

    flat = _flattened(grey, keep)
    calm = _without_mould(flat, keep)
    ridges = _ridges(calm, keep)
    usual = np.median(ridges[keep])
    noise = 1.4826 * np.median(np.abs(ridges[keep] - usual))
    strong = apply_hysteresis_threshold(ridges, usual + low * noise, usual + high * noise)
    return {
        "light evened out": flat,
        "mould lines suppressed": calm,
        "ridges": np.maximum(ridges, 0),
        "lines": _widened(strong, gaussian_filter(calm, SMOOTH), keep),
    }


def _widened(strong: Mask, smooth: Floats, keep: Mask) -> Floats:
    """As wide as the mark is: what is brighter than a threshold, around the strong ridges and connected to them."""
    from scipy.ndimage import label
    from skimage.filters import threshold_otsu
    from skimage.morphology import isotropic_dilation

    near = isotropic_dilation(strong, REACH) & keep
    if not near.any() or np.ptp(smooth[near]) == 0:
        return np.zeros(smooth.shape, np.float32)
    level = float(threshold_otsu(smooth[near]))
    full = float(np.median(smooth[near & (smooth > level)]))
    mass = np.clip((smooth - level) / (full - level) + 0.5, 0, 1)
    mass[~(isotropic_dilation(strong, FAR * max(smooth.shape)) & keep)] = 0
    numbers, _ = label(mass > 0.5, np.ones((3, 3), int))
    connected = np.isin(numbers, np.unique(numbers[strong & (numbers > 0)])) & (numbers > 0)
    return np.where(isotropic_dilation(connected, 1), mass, 0).astype(np.float32)


def _flattened(grey: Grey, keep: Mask) -> Floats:
    """Differences from the light around a pixel, in units of how much they vary around it."""
    from scipy.ndimage import gaussian_filter

    sigma = max(grey.shape) * LIGHT

    def around(values: Floats, weights: Floats) -> Floats:
        return gaussian_filter(values * weights, sigma) / np.maximum(gaussian_filter(weights, sigma), 1e-6)

    weights = keep.astype(np.float32)
    difference = (grey - around(grey, weights)) * weights
    spread = np.sqrt(around(difference**2, weights))
    return (difference / np.maximum(spread, 1e-3)).astype(np.float32)


class _Plane:
    """Fourier transforms with room around the image, so that its sides do not meet."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.image = shape
        self.shape = tuple(fft.next_fast_len(side + side // 2, real=True) for side in shape)
        self.y, self.x = np.meshgrid(fft.fftfreq(self.shape[0]), fft.rfftfreq(self.shape[1]), indexing="ij")

    def spectrum(self, image: Floats) -> Spectrum:
        return fft.rfft2(image.astype(np.float32), self.shape)

    def filtered(self, spectrum: Spectrum, factor: NDArray[np.floating]) -> Floats:
        rows, columns = self.image
        return fft.irfft2(spectrum * factor.astype(np.float32), self.shape)[:rows, :columns]


def _without_mould(flat: Floats, keep: Mask) -> Floats:
    """Without what hardly changes along the laid lines, and along the chain lines perpendicular to them."""
    plane = _Plane(flat.shape)
    calm, weights = np.clip(flat, -3, 3), keep.astype(np.float32)
    mask = plane.spectrum(weights)
    length = STRAIGHT * max(flat.shape)
    for angle in _mould_directions(calm):
        along = plane.x * np.cos(angle) + plane.y * np.sin(angle)
        factor = np.exp(-2 * (np.pi * along * length) ** 2)
        mean = plane.filtered(plane.spectrum(calm * weights), factor) / np.maximum(plane.filtered(mask, factor), 1e-2)
        calm = (calm - mean * weights).astype(np.float32)
    return calm


def _mould_directions(flat: Floats) -> Iterator[float]:
    """Angles, from the rows, of laid lines, if there are any, and then of chain lines."""
    window = np.outer(*(np.hanning(side) for side in flat.shape)).astype(np.float32)
    power = np.abs(fft.fftshift(fft.fft2(flat * window))) ** 2
    centre = np.array(flat.shape) // 2
    angles = np.deg2rad(np.arange(0, 180, 0.25))
    energies = np.zeros(len(angles))
    from scipy.ndimage import map_coordinates

    radii = np.arange(0.06, 0.5, 0.5 / max(flat.shape))
    for k, angle in enumerate(angles):  # a wave across lines of this direction
        places = centre[:, None] + radii * np.array([[np.cos(angle) * flat.shape[0]], [-np.sin(angle) * flat.shape[1]]])
        energies[k] = map_coordinates(power, places, order=1).max()
    best = int(energies.argmax())
    if energies[best] < OUTSTANDING * np.median(energies):
        return
    yield float(angles[best])
    yield float(angles[best] + np.pi / 2)


def _ridges(calm: Floats, keep: Mask) -> Floats:
    """Largest response to bright lines of several widths and directions, in units of white noise."""
    plane = _Plane(calm.shape)
    spectrum = plane.spectrum(calm * keep)
    best = np.full(calm.shape, -np.inf, np.float32)
    for sigma in WIDTHS:
        for k in range(ORIENTATIONS):
            angle = np.pi * k / ORIENTATIONS
            along = plane.x * np.cos(angle) + plane.y * np.sin(angle)
            across = plane.y * np.cos(angle) - plane.x * np.sin(angle)
            wave = (2 * np.pi * across * sigma) ** 2
            factor = wave * np.exp(-wave / 2 - 2 * (np.pi * along * LENGTHS * sigma) ** 2)
            # of the half plane; white noise keeps the mean square of the factor
            factor = factor / np.sqrt(np.mean(factor**2))
            np.maximum(best, plane.filtered(spectrum, factor), out=best)
    return np.where(keep, best, 0).astype(np.float32)
