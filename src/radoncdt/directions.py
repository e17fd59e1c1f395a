"""Directions on the circle.

The angle θ stands for the direction (cos θ, sin θ), x to the right, y upwards. `n_angles` directions are equispaced on
the half circle [0, π). The other half follows, because R_{−θ}[μ] is the mirror image of R_θ[μ].
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from radoncdt import _validation
from radoncdt._geometry import whiten_directions
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError

__all__ = ["Directions", "equispaced_angles"]


def equispaced_angles(n_angles: int) -> Floats:
    """Compute the angles of equispaced directions on the half circle.

    The angles are θ_k = πk/n_angles for k = 0, …, n_angles − 1, in [0, π). They stand for the directions (cos θ, sin
    θ), x to the right and y upwards, and are the default of all transforms. The other half of the circle is not needed,
    because the projection on −θ is the mirror image of that on θ (§2.2 of the paper [1]_).

    Parameters
    ----------
    n_angles : int
        Number of angles, from 1 to 65,536.

    Returns
    -------
    float64 array (n_angles,)
        The angles, in radians, ascending.

    Raises
    ------
    TypeError
        If `n_angles` is not an integer.
    ValueError
        If `n_angles` is less than 1 or more than 2¹⁶.

    See Also
    --------
    quantile_levels : The levels of the quantile functions.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> equispaced_angles(4) / np.pi
    array([0.  , 0.25, 0.5 , 0.75])
    """
    n_angles = _validation.check_count(n_angles, "n_angles", 1, _validation.MAX_ANGLES)
    return np.pi * np.arange(n_angles) / n_angles


class Directions:
    """A list of directions with their angles, cosines and sines, each of shape (n_angles,)."""

    def __init__(self, angles: ArrayLike) -> None:
        self.angles = _validation.check_finite_array(angles, "angles")
        if self.angles.ndim != 1 or self.angles.size == 0:
            raise ArgumentValueError("angles", f"must be one-dimensional and not empty, got shape {self.angles.shape}")
        self.cosines, self.sines = np.cos(self.angles), np.sin(self.angles)

    @classmethod
    def _from_parts(cls, angles: Floats, cosines: Floats, sines: Floats) -> Directions:
        directions = cls.__new__(cls)
        directions.angles, directions.cosines, directions.sines = angles, cosines, sines
        return directions

    @classmethod
    def choose(cls, n_angles: int, angles: ArrayLike | None) -> Directions:
        """Return `n_angles` equispaced directions, unless `angles` are given."""
        if angles is None:
            return _equispaced(_validation.check_count(n_angles, "n_angles", 1, _validation.MAX_ANGLES))
        return cls(angles)

    def __len__(self) -> int:
        return self.angles.size

    def take_every(self, step: int, first: int) -> Directions:
        """Return every `step`-th direction, starting with number `first`."""
        return self._from_parts(self.angles[first::step], self.cosines[first::step], self.sines[first::step])

    @cached_property
    def with_opposites(self) -> Directions:
        """These directions, followed by exactly opposite ones."""
        cosines, sines = np.concatenate([self.cosines, -self.cosines]), np.concatenate([self.sines, -self.sines])
        return self._from_parts(np.concatenate([self.angles, self.angles + np.pi]), cosines, sines)

    def whiten(self, covariance: Floats) -> Directions:
        """Return the directions Σ^{-1/2}η/‖Σ^{-1/2}η‖ for these directions η."""
        cosines, sines = whiten_directions(self.cosines, self.sines, covariance)
        return self._from_parts(np.arctan2(sines, cosines), cosines, sines)

    def project(self, vectors: Floats) -> Floats:
        """Return ⟨v, θ⟩ for vectors v (…, 2): shape (…, n_angles)."""
        return vectors[..., 0, None] * self.cosines + vectors[..., 1, None] * self.sines

    @property
    def widths(self) -> Floats:
        """Widths of the bins: the steps from one pixel of a row or column to the next."""
        return np.maximum(np.abs(self.cosines), np.abs(self.sines))

    @cached_property
    def shares(self) -> Floats:
        """Share of the half circle that is nearest to each direction or its opposite; the shares sum to 1."""
        turns = np.mod(self.angles / np.pi, 1)
        order = np.argsort(turns, kind="stable")
        gaps = np.diff(turns[order], append=turns[order[0]] + 1)  # from each direction to the next, once around
        shares = np.empty(len(self))
        shares[order] = (gaps + np.roll(gaps, 1)) / 2
        return shares


@lru_cache(maxsize=8)
def _equispaced(n_angles: int) -> Directions:
    return Directions(equispaced_angles(n_angles))
