"""Ink of the kind "grey": grey values are mass."""

import numpy as np

from radoncdt.ink.image import Grey, Mask, raise_no_contrast

__all__ = ["find_grey_ink"]

_NOISE_FACTOR = 2.5  # contrast of ink, in units of the 95 % quantile of the border's contrast


def find_grey_ink(grey: Grey, keep: Mask, ink: str) -> Grey:
    """Subtract the paper, which is the median of the border, and its noise and uneven light; `ink` is the polarity."""
    border = np.concatenate([grey[0], grey[-1], grey[1:-1, 0], grey[1:-1, -1]])
    paper = float(np.median(border))
    dark = ink == "dark" or (ink == "auto" and paper >= (float(grey.min()) + float(grey.max())) / 2)
    sign = np.float32(-1 if dark else 1)
    contrast, noise = sign * (grey - paper), _NOISE_FACTOR * np.quantile(sign * (border - paper), 0.95)
    floor = min(max(float(noise), 0.0), float(contrast.max()) / 2)  # ink may reach the border; it is not noise
    mass = np.where(keep, np.maximum(contrast - np.float32(floor), 0), 0)
    if not mass.any():
        raise_no_contrast(dark=dark)
    return mass / mass.max()
