"""Options for finding ink, and the steps that lead to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._validation import ArgumentValueError

__all__ = [
    "DEFAULT_MAX_SIDE",
    "DEFAULT_SPECKS",
    "INK_KINDS",
    "MIN_SIDE",
    "POLARITIES",
    "WATERMARK_THRESHOLD",
    "InkOptions",
    "Step",
]

INK_KINDS = ("drawing", "watermark", "grey")
"""The kinds of images: the values of the option `kind`."""

POLARITIES = ("auto", "dark", "bright")
"""Whether ink is darker or brighter than the paper: the values of the option `ink`."""

DEFAULT_MAX_SIDE = 1024  # pixels along the longer side of a drawing or watermark
DEFAULT_SPECKS = {"drawing": 0.03, "watermark": 0.06}  # length of removed ink, as a share of the extent of all ink
MIN_SIDE = 8  # pixels along the shorter side of a drawing or watermark
WATERMARK_THRESHOLD = 5.0  # default strength of a ridge, in standard deviations of the noise

_KINDS_OF_OPTION = {"threshold": ("drawing", "watermark"), "low": ("watermark",), "specks": ("drawing", "watermark")}


class Step(NamedTuple):
    """A step on the way to the ink."""

    name: str
    image: NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class InkOptions:
    """Options of `read_ink`, `find_ink` and `ink_steps`: how ink is found in an image.

    These functions take the same options as keyword arguments.

    Parameters
    ----------
    kind : {"drawing", "watermark", "grey"}, default "drawing"
        The kind of image. "drawing": tracings, prints and ordinary photographs of them. "watermark": photographs in
        transmitted light, and thermograms. "grey": grey values are mass. `ink_steps` shows the steps of each.
    ink : {"auto", "dark", "bright"}, default "auto"
        Whether ink is darker or brighter than the paper. "auto" decides by the image. In a drawing, the side of the
        paper's brightness with more ink wins. A watermark is bright, because the paper is thinner there. With the kind
        "grey", ink is dark if the border is brighter than the middle between the darkest and the brightest pixel. If
        parts of the image are transparent, ink is dark if any visible pixel is darker than middle grey.
    threshold : float, optional
        For a drawing, the contrast at which ink begins, from 0 (paper) to 1 (the darkest ink); by default it is
        determined by Otsu's method [1]_. For a watermark, the minimum strength of a ridge in standard deviations of the
        noise; 5 by default.
    low : float, optional
        For a watermark, the minimum strength of ridges that continue stronger ones; half the threshold by default.
    specks : float, optional
        Connected ink that is shorter than this share of the extent of all ink is removed; 0.03 by default for drawings,
        0.06 for watermarks. 0 removes nothing.
    max_side : int, optional
        Larger images are reduced by an integer factor until no side is longer; 1024 by default. The kind "grey" has no
        limit by default.
    roi : (x, y, width, height), optional
        The region of interest, in pixels from the upper left. The rest of the image is ignored.
    mask : path, array (H, W), Pillow image or open file, optional
        An image of the same size. Pixels that are dark (0) in it are ignored.

    Raises
    ------
    TypeError, ValueError
        If an option has the wrong type, is out of its range, or does not apply to the kind of image.

    See Also
    --------
    read_ink : Read an image with these options.

    References
    ----------
    .. [1] N. Otsu, "A Threshold Selection Method from Gray-Level Histograms", IEEE Transactions on Systems, Man, and
       Cybernetics 9(1), 1979.

    Examples
    --------
    >>> from radoncdt.ink import InkOptions
    >>> options = InkOptions(kind="watermark", threshold=4)
    >>> options.ink, options.low, options.max_side
    ('auto', None, None)
    """

    kind: str = "drawing"
    ink: str = "auto"
    threshold: float | None = None
    low: float | None = None
    specks: float | None = None
    max_side: int | None = None
    roi: Sequence[int] | None = None
    mask: Any = None

    def __post_init__(self) -> None:
        hint = "; 'photo' is now called 'watermark'" if self.kind == "photo" else ""
        _validation.check_choice(self.kind, "kind", INK_KINDS, hint)
        _validation.check_choice(self.ink, "ink", POLARITIES)
        if self.threshold is not None:
            most, what = (1, "a number between 0 and 1") if self.kind == "drawing" else (np.inf, "a positive number")
            _validation.check_number(self.threshold, "threshold", what, lambda x: 0 < x < most)
        if self.low is not None:
            _validation.check_number(self.low, "low", "a number that is not negative", lambda x: x >= 0)
        if self.specks is not None:
            _validation.check_number(self.specks, "specks", "a number from 0 to 1", lambda x: 0 <= x <= 1)
        if self.max_side is not None:
            _validation.check_count(self.max_side, "max_side", MIN_SIDE)
        if self.roi is not None:
            object.__setattr__(self, "roi", _check_roi(self.roi))
        for name, kinds in _KINDS_OF_OPTION.items():
            if getattr(self, name) is not None and self.kind not in kinds:
                raise ArgumentValueError(
                    name, f"applies only to the kind {' or '.join(map(repr, kinds))}, got the kind {self.kind!r}"
                )
        high = WATERMARK_THRESHOLD if self.threshold is None else self.threshold
        if self.low is not None and self.low > high:
            raise ArgumentValueError("low", f"must not be above the threshold {high:g}, got {self.low:g}")


def _check_roi(roi: Any) -> tuple[int, int, int, int]:
    try:
        x, y, width, height = (_validation.check_count(value, "roi", 0) for value in roi)
    except (TypeError, ValueError):
        raise ArgumentValueError(
            "roi", f"must be four integers x, y, width and height that are not negative, got {roi!r}"
        ) from None
    return x, y, width, height
