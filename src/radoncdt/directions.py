"""Directions on the circle.

The angle θ stands for the direction (cos θ, sin θ), x to the right, y up. `n_angles` directions are equispaced on the
half circle [0, π); the other half follows from R_{−θ}[μ] being the mirror image of R_θ[μ].
"""

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from radoncdt import _validation
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError


def equispaced_angles(n_angles: int) -> Floats:
    """The angles πk/n for k = 0, …, n − 1.

    >>> equispaced_angles(4) / np.pi
    array([0.  , 0.25, 0.5 , 0.75])
    """
    n_angles = _validation.count(n_angles, "n_angles", 1, _validation.MOST_ANGLES)
    return np.pi * np.arange(n_angles) / n_angles


class Directions:
    """A list of directions, and how rows and columns of pixels see each of them."""

    def __init__(self, angles: ArrayLike) -> None:
        self.angles = _validation.finite_array(angles, "angles")
        if self.angles.ndim != 1 or self.angles.size == 0:
            raise ArgumentValueError("angles", f"must be one-dimensional and not empty, got shape {self.angles.shape}")
        self.cosines, self.sines = np.cos(self.angles), np.sin(self.angles)

    @classmethod
    def _of(cls, angles: Floats, cosines: Floats, sines: Floats) -> "Directions":
        directions = cls.__new__(cls)
        directions.angles, directions.cosines, directions.sines = angles, cosines, sines
        return directions

    @classmethod
    def choose(cls, n_angles: int, angles: ArrayLike | None) -> "Directions":
        """`n_angles` equispaced directions, unless `angles` are given."""
        if angles is None:
            return _equispaced(_validation.count(n_angles, "n_angles", 1, _validation.MOST_ANGLES))
        return cls(angles)

    def __len__(self) -> int:
        return self.angles.size

    def every(self, step: int, first: int) -> "Directions":
        """Every `step`-th direction from `first` on."""
        return self._of(self.angles[first::step], self.cosines[first::step], self.sines[first::step])

    @cached_property
    def with_opposites(self) -> "Directions":
        """These directions, then their opposites, exactly opposite."""
        cosines, sines = np.concatenate([self.cosines, -self.cosines]), np.concatenate([self.sines, -self.sines])
        return self._of(np.concatenate([self.angles, self.angles + np.pi]), cosines, sines)

    def whitened_by(self, covariance: Floats) -> "Directions":
        """The directions Σ^{-1/2}η/‖Σ^{-1/2}η‖ for these directions η."""
        (xx, xy), (_, yy) = covariance
        root = np.sqrt(max(xx * yy - xy * xy, 0.0))  # of the determinant; Σ^{1/2} is Σ + √det, up to a factor
        c, s = (yy + root) * self.cosines - xy * self.sines, (xx + root) * self.sines - xy * self.cosines
        length = np.hypot(c, s)
        return self._of(np.arctan2(s, c), c / length, s / length)

    def of(self, vectors: Floats) -> Floats:
        """⟨v, θ⟩ for vectors (…, 2): shape (…, n_angles)."""
        return vectors[..., 0, None] * self.cosines + vectors[..., 1, None] * self.sines

    @property
    def widths(self) -> Floats:
        """Width of the bins: a pixel of a line takes one bin."""
        return np.maximum(np.abs(self.cosines), np.abs(self.sines))

    @cached_property
    def shares(self) -> Floats:
        """Share of the half circle that is nearest to each direction, opposites being alike; they sum to 1."""
        turns = np.mod(self.angles / np.pi, 1)
        order = np.argsort(turns, kind="stable")
        gaps = np.diff(turns[order], append=turns[order[0]] + 1)  # from each to the next, once around
        shares = np.empty(len(self))
        shares[order] = (gaps + np.roll(gaps, 1)) / 2
        return shares


@lru_cache(maxsize=8)
def _equispaced(n_angles: int) -> Directions:
    return Directions(equispaced_angles(n_angles))
