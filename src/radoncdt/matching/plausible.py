"""Plausible maps: limits on the affine maps between two measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from radoncdt import _validation
from radoncdt._interface import Limits, Maps

if TYPE_CHECKING:
    from radoncdt.matching.registration import Registration

__all__ = ["Plausible"]

SIMILAR = 1.1
"""Largest aspect of a map that counts as a similarity."""

ROUNDING = 1e-6
"""Relative tolerance of `Plausible.admits`."""


def _is_between(low: float, high: float, value: float) -> bool:
    return low <= value <= high


@dataclass(frozen=True, kw_only=True)
class Plausible:
    """Limits on the maps between two measures.

    By default every affine map is plausible. `register`, `affine_distances` and `distortion_distances` consider only
    maps within the limits. The scales of a map are the singular values of its matrix.

    Parameters
    ----------
    max_aspect : float, optional
        Largest ratio of the two scales of the map, at least 1. With 1, no map may stretch.
    max_shear : float, optional
        Largest angle, in degrees from 0 to 90, by which the images of the x and y axes depart from being perpendicular.
    max_scale : float, optional
        Largest change of size, at least 1: the geometric mean of the scales lies between 1/max_scale and max_scale.
    similarity : bool, default False
        Whether to admit only rotations, reflections and changes of size. These are the maps whose aspect is at most
        1.1, or ``max_aspect`` if it is given, each replaced by the nearest similarity.
    reflections : bool, default True
        Whether the map may mirror. If not, a mirror image gets the best map that does not mirror, and a larger
        distance.

    Raises
    ------
    TypeError
        If a limit has the wrong type.
    ValueError
        If a limit is out of range.

    See Also
    --------
    radoncdt.MapPrior : Penalties of maps instead of limits.
    radoncdt.register : Finds the map from one measure to another.

    Notes
    -----
    Rotations of the whitened measures are tried in steps. A step counts if a map within half a step of it is plausible.

    Examples
    --------
    >>> print(Plausible(max_aspect=1.5, reflections=False))
    max_aspect=1.5, reflections=False
    """

    max_aspect: float | None = None
    max_shear: float | None = None
    max_scale: float | None = None
    similarity: bool = False
    reflections: bool = True

    def __post_init__(self) -> None:
        for name, low, high in (("max_aspect", 1, np.inf), ("max_shear", 0, 90), ("max_scale", 1, np.inf)):
            value = getattr(self, name)
            if value is None:
                continue
            expected = f"a number of at least {low}" if high == np.inf else f"a number from {low} to {high}"
            is_valid = partial(_is_between, low, high)
            _validation.check_number(value, name, expected, is_valid, may_be_infinite=True)
        _validation.check_instance(self.similarity, "similarity", bool)
        _validation.check_instance(self.reflections, "reflections", bool)

    @property
    def is_limited(self) -> bool:
        """Whether some maps are excluded, apart from those that mirror."""
        return self.similarity or any(v is not None for v in (self.max_aspect, self.max_shear, self.max_scale))

    @property
    def kernel_limits(self) -> Limits | None:
        """The limits in the form that the kernels take; None if every map is plausible."""
        if not self.is_limited:
            return None
        aspect = (SIMILAR if self.similarity else np.inf) if self.max_aspect is None else self.max_aspect
        shear = 90.0 if self.max_shear is None else self.max_shear
        return Limits(float(aspect), float(np.deg2rad(shear)), float(self.max_scale or np.inf))

    @property
    def maps(self) -> Maps:
        """The admitted maps in the form that the kernels take, without penalties."""
        return Maps(self.reflections, self.kernel_limits)

    def admits(self, registration: Registration) -> bool:
        """Return whether a map is within the limits, up to rounding.

        Reflections are not examined.

        Parameters
        ----------
        registration : Registration
            The map.

        Returns
        -------
        bool
            Whether its aspect, shear and scale are within the limits.
        """
        limits = self.kernel_limits
        if limits is None:
            return bool(np.isfinite(registration.matrix).all())
        aspect, shear, scale = limits
        return bool(
            registration.aspect <= aspect * (1 + ROUNDING)
            and abs(np.deg2rad(registration.shear)) <= shear + ROUNDING
            and 1 / scale <= registration.scale * (1 + ROUNDING)
            and registration.scale <= scale * (1 + ROUNDING)
        )

    def __str__(self) -> str:
        given = {"max_aspect": self.max_aspect, "max_shear": self.max_shear, "max_scale": self.max_scale}
        words = [f"{name}={float(value):g}" for name, value in given.items() if value is not None]
        words += ["similarity=True"] * self.similarity + ["reflections=False"] * (not self.reflections)
        return ", ".join(words)
