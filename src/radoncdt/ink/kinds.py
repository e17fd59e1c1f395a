"""How ink is found in each kind of image."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._validation import ArgumentValueError
from radoncdt.ink.files import Grey, InkError, Mask, Picture
from radoncdt.ink.watermark import lines_of_photo

KINDS = ("drawing", "watermark", "grey")
INKS = ("auto", "dark", "bright")

LIKELY = (0.0005, 0.5)
"""Shares of an image that are ink."""

SPECKS = {"drawing": 0.03, "watermark": 0.06}
"""Connected ink that is shorter than this share of the extent of all ink is removed by default, for each kind."""

LEAST_SIDE = 8
"""Pixels that the image of a mark must have both ways."""


class Step(NamedTuple):
    """A step on the way to the ink."""

    name: str
    image: NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class InkOptions:
    """How ink is found.

    Parameters
    ----------
    kind : {"grey", "drawing", "watermark"}
        See `radoncdt.ink`.
    ink : {"auto", "dark", "bright"}
        Whether ink is darker or brighter than paper. "auto": in a drawing, whichever there is more of, compared with
        paper as the border shows it; in a photograph bright, for paper is thin at the mark; in grey, dark if the paper,
        as the border shows it, is brighter than the middle between darkest and brightest, or, on transparent ground,
        if any pixel is darker than middle grey.
    threshold : float, optional
        Drawing: where paper ends and ink begins, from 0, the paper, to 1, the darkest ink; by default it is found
        (Otsu's). Photograph: how strong a ridge must be, in standard deviations of the noise; 5 by default.
    low : float, optional
        Photograph: ridges as strong as this continue stronger ones; half of the threshold by default.
    specks : float, optional
        Connected ink that is shorter than this share of the extent of all ink is removed; 0.03 by default for drawings,
        0.06 for photographs. 0 removes nothing.
    max_side : int, optional
        Larger images are reduced by a whole factor until no side is longer; 1024 by default, no limit for grey.
    """

    kind: str = "grey"
    ink: str = "auto"
    threshold: float | None = None
    low: float | None = None
    specks: float | None = None
    max_side: int | None = None

    def __post_init__(self) -> None:
        _check_kind(self.kind)
        _validation.choice(self.ink, "ink", INKS)
        if self.threshold is not None:
            most, what = (1, "a number between 0 and 1") if self.kind == "drawing" else (np.inf, "a positive number")
            _validation.number(self.threshold, "threshold", what, lambda x: 0 < x < most)
        if self.low is not None:
            _validation.number(self.low, "low", "a number that is not negative", lambda x: x >= 0)
        if self.specks is not None:
            _validation.number(self.specks, "specks", "a number from 0 to 1", lambda x: 0 <= x <= 1)
        if self.max_side is not None:
            _validation.count(self.max_side, "max_side", LEAST_SIDE)
        for name, kinds in (
            ("threshold", ("drawing", "watermark")),
            ("low", ("watermark",)),
            ("specks", ("drawing", "watermark")),
        ):
            if getattr(self, name) is not None and self.kind not in kinds:
                raise ArgumentValueError(name, f"goes with the kind {' or '.join(kinds)}, got it with {self.kind}")


def _check_kind(kind: object) -> None:
    try:
        _validation.choice(kind, "kind", KINDS)
    except ArgumentValueError as error:
        if kind != "photo":
            raise
        raise ArgumentValueError("kind", f"{error.problem}; 'photo' is now called 'watermark'") from None


def doubt(ink: NDArray[np.float32], options: InkOptions) -> str:
    """A remark on ink that is hardly any, or nearly everything, as happens where the kind is wrong."""
    share = float(np.mean(ink > 0))
    if options.kind != "grey" and not LIKELY[0] < share < LIKELY[1]:
        return f"{share:.2%} of the image is ink; is it of the kind {options.kind}?"
    return ""


def steps_of(picture: Picture, keep: Mask, options: InkOptions, name: str) -> list[Step]:
    """All steps from a picture to its ink, of the pixels to keep."""
    if picture.opacity.strides != (0, 0) and not ((picture.opacity > 0) & keep).any():
        raise InkError(f"{name}: the image is all transparent")
    if options.kind == "grey":
        grey, keep = _reduced(_on_paper(picture, options.ink), keep, options.max_side or max(keep.shape))
        return [Step("grey", grey), Step("ink", _grey(grey, keep, options, name))]
    if min(keep.shape) < LEAST_SIDE:
        raise InkError(f"{name}: a mark needs {LEAST_SIDE} pixels both ways, got {keep.shape[1]} × {keep.shape[0]}")
    grey, keep = _reduced(_on_paper(picture, options.ink), keep, options.max_side or 1024)
    return (_drawing if options.kind == "drawing" else _photo)(grey, keep, options, name)


def _on_paper(picture: Picture, ink: str) -> Grey:
    """Grey, with paper where the picture is transparent."""
    grey, opacity = picture.grey, picture.opacity
    if opacity.strides == (0, 0) or opacity.min() == 1:
        return grey
    ground = 1.0 if ink == "dark" or (ink == "auto" and grey[opacity > 0].min() < 0.5) else 0.0
    return grey * opacity + np.float32(ground) * (1 - opacity)


def _reduced(grey: Grey, keep: Mask, most: int) -> tuple[Grey, Mask]:
    """Means of blocks, until no side is longer than the most."""
    factor = -(-max(grey.shape) // most)
    if factor == 1:
        return grey, keep
    from PIL import Image

    height, width = (min(factor, side) for side in grey.shape)
    means = np.asarray(Image.fromarray(grey).reduce((width, height)))
    if keep.all():
        return means, np.ones(means.shape, bool)
    shares = np.asarray(Image.fromarray(keep.astype(np.float32)).reduce((width, height)))
    return means, shares > 0.5 if (shares > 0.5).any() else shares > 0


# ---------------------------------------------------------------- grey


def _grey(grey: Grey, keep: Mask, options: InkOptions, name: str) -> Grey:
    """Paper is what the border shows: its median becomes 0, and so does whatever noise and slope of light it has."""
    border = np.concatenate([grey[0], grey[-1], grey[1:-1, 0], grey[1:-1, -1]])
    paper = float(np.median(border))
    dark = options.ink == "dark" or (options.ink == "auto" and paper >= (float(grey.min()) + float(grey.max())) / 2)
    sign = np.float32(-1 if dark else 1)
    contrast, noise = sign * (grey - paper), 2.5 * np.quantile(sign * (border - paper), 0.95)
    floor = min(max(float(noise), 0.0), float(contrast.max()) / 2)  # ink that runs off the image is no noise
    mass = np.where(keep, np.maximum(contrast - np.float32(floor), 0), 0)
    if not mass.any():
        raise _nothing(name, dark)
    result: Grey = mass / mass.max()
    return result


def _nothing(name: str, dark: bool) -> InkError:
    kind = "; a photograph in transmitted light is of the kind 'watermark'" if dark else ""
    return InkError(f"{name}: no pixel is {'darker' if dark else 'brighter'} than the paper{kind}")


# ---------------------------------------------------------------- drawing


def _drawing(grey: Grey, keep: Mask, options: InkOptions, name: str) -> list[Step]:
    from skimage.filters import threshold_otsu

    filled = grey if keep.all() else np.where(keep, grey, np.median(grey[keep])).astype(np.float32)
    small, kept = _reduced(filled, keep, SMALL)
    even = _even_light(small, kept)
    dark = options.ink == "dark" or (options.ink == "auto" and _is_dark((small - even)[kept]))
    flat = _paper(small, even, dark, grey.shape)
    if dark:  # ink takes away a share of the light
        np.maximum(flat, LEAST_LIGHT, out=flat)
        np.divide(grey, flat, out=flat)
        np.subtract(1, flat, out=flat)
    else:
        np.subtract(grey, flat, out=flat)
    if not keep.all():
        flat[~keep] = 0
    noise = _noise(flat, keep)
    np.maximum(flat, 0, out=flat)
    above = flat[flat > 3 * noise]
    if not above.size or above.max() < MOST_EVEN:
        raise _nothing(name, dark)
    full = float(np.quantile(above, 0.95))
    if options.threshold is not None:
        level = options.threshold * full
    else:
        level = float(threshold_otsu(above)) if np.ptp(above) > 0 else full / 2
        level = max(level, 5 * noise)
    edge = max(min(level - 3 * noise, full - level), 0.1 * level)  # soft edges stay soft, noise stays paper
    mass = flat * np.float32(0.5 / edge)
    mass += np.float32(0.5 - 0.5 * level / edge)
    np.clip(mass, 0, 1, out=mass)
    clean = _without_specks(mass, SPECKS["drawing"] if options.specks is None else options.specks)
    if not clean.any():
        raise _nothing(name, dark)
    return [Step("grey", grey), Step("light evened out", flat), Step("above the threshold", mass), Step("ink", clean)]


SMALL = 64
"""Pixels along a side of the image that shows the paper."""

BORDER = 0.88
"""Where it begins, from the middle, 0, to the edge, 1."""

LEAST_LIGHT = 0.1
"""Of paper; what is darker is no paper."""

MOST_EVEN = 0.02
"""Minimum contrast; below it the page is considered blank."""

HIGH = 5.0
"""Of ridges in photographs, in standard deviations of the noise."""


def _noise(contrast: Grey, keep: Mask) -> float:
    """Standard deviation of what is not ink, from some of the pixels."""
    some = slice(None, None, 1 + min(contrast.shape) // 128)
    values = contrast[some, some][keep[some, some]]
    return 1.4826 * float(np.median(np.abs(values if values.size else contrast[keep])))


def _is_dark(differences: NDArray[np.floating]) -> bool:
    """Whether there is more that is darker than even light than there is that is brighter."""
    noise = 3 * 1.4826 * float(np.median(np.abs(differences)))
    darker, brighter = (float(np.maximum(sign * differences - noise, 0).sum()) for sign in (-1, 1))
    return darker >= brighter


def _even_light(small: Grey, keep: Mask) -> Grey:
    """A quadratic function of the place, fitted to the border, then to all that is near it (Tukey's weights)."""
    v, u = np.meshgrid(*(np.linspace(-1, 1, side) for side in small.shape), indexing="ij")
    everywhere = np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=-1)
    step = 1 + max(small.shape) // 48
    few = keep[::step, ::step]
    terms, values = everywhere[::step, ::step][few], small[::step, ::step][few].astype(np.float64)
    border = np.maximum(np.abs(u), np.abs(v))[::step, ::step][few] > BORDER
    weights = border.astype(np.float64) if border.sum() > len(values) / 20 else np.ones(len(values))
    counted = weights > 0
    for turn in range(12):
        if turn == 6:
            counted = np.ones(len(values), bool)
        weighted = terms * (weights * counted)[:, None]
        fitted = np.linalg.solve(weighted.T @ terms + 1e-9 * len(values) * np.eye(6), weighted.T @ values)
        away = np.abs(values - terms @ fitted)
        scale = max(4.685 * 1.4826 * float(np.median(away[counted])), 1e-3)
        weights = np.maximum(1 - (away / scale) ** 2, 0) ** 2
        if not (weights * counted).any():
            break
    light: Grey = (everywhere @ fitted).astype(np.float32)
    return light


def _paper(small: Grey, even: Grey, dark: bool, shape: tuple[int, ...]) -> Grey:
    """The paper below the ink: smooth, through what differs little from even light."""
    from PIL import Image
    from scipy.ndimage import gaussian_filter
    from skimage.filters import threshold_otsu

    difference = small - even
    ink = np.maximum(-difference if dark else difference, 0)
    level = threshold_otsu(ink) / 2 if np.ptp(ink) > 0 else 0.0
    weights = (ink <= level).astype(np.float32)
    sigma = max(small.shape) / 12
    total = gaussian_filter(weights, sigma, mode="nearest")
    around = gaussian_filter(difference * weights, sigma, mode="nearest") / (total + np.float32(1e-3)) + even
    return np.array(Image.fromarray(around).resize((shape[1], shape[0]), Image.Resampling.BILINEAR))


def _without_specks(mass: Grey, share: float) -> Grey:
    """Without what is connected and shorter than a share of the extent of all ink."""
    from scipy.ndimage import find_objects, label

    numbers, count = label(mass > 0, np.ones((3, 3), int))
    boxes = find_objects(numbers)
    sides = np.array([max(rows.stop - rows.start, columns.stop - columns.start) for rows, columns in boxes])
    rows, columns = (np.flatnonzero((mass > 0).any(axis=axis)) for axis in (1, 0))
    extent = max(rows[-1] - rows[0], columns[-1] - columns[0]) + 1 if count else 0
    stays = np.concatenate([[False], sides >= min(share * extent, sides.max(initial=0))])
    if stays[1:].all():
        return mass
    return np.where(stays[numbers], mass, 0).astype(np.float32)


# ---------------------------------------------------------------- photo


def _photo(grey: Grey, keep: Mask, options: InkOptions, name: str) -> list[Step]:
    high = HIGH if options.threshold is None else options.threshold
    low = high / 2 if options.low is None else options.low
    if low > high:
        raise ArgumentValueError("low", f"must not be above the threshold {high:g}, got {low:g}")
    steps = lines_of_photo(grey if options.ink != "dark" else 1 - grey, keep, low, high)
    lines = steps["lines"]
    clean = _without_specks(lines, SPECKS["watermark"] if options.specks is None else options.specks)
    if not clean.any():
        raise InkError(f"{name}: no line stands out of the noise; try a lower threshold than {high:g}")
    return [Step("grey", grey), *(Step(*step) for step in steps.items()), Step("ink", clean)]
