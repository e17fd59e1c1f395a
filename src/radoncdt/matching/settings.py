"""Settings of descriptors: how measures are described."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from radoncdt import _validation
from radoncdt._plan import Normalisation
from radoncdt._rcdt import choose_levels
from radoncdt._typing import Floats

__all__ = ["NU", "ROBUST", "DescriptorSettings"]

_MOMENTS = ("exact", "robust")  # values of the setting `moments`

NU = 3.0  # default degrees of freedom of robust moments

ROBUST: dict[str, Any] = {"moments": "robust", "trim": 1 / 16}
"""Options of `describe` and of the estimators with which specks hardly matter."""


@dataclass(frozen=True)
class DescriptorSettings:
    """How descriptors are computed.

    Only descriptors with equal settings can be compared. The NR-CDT of a descriptor is taken along whitened directions;
    n_angles, n_levels, moments and trim are those of the NR-CDT (§3.2 of the paper [1]_).

    Parameters
    ----------
    n_angles : int, default 64
        Number of directions of the descriptors on the half circle, from 1 to 65,536. Rotations are compared in steps of
        180°/n_angles.
    n_levels : int, default 64
        Number of levels t = (k + ½)/n_levels of the quantile functions, at least 2.
    moments : {"exact", "robust"}, default "exact"
        Mean m and covariance Σ of the normalisation. "exact": those of the measure. "robust": location and scatter of a
        Student t distribution fitted to the measure, which specks far from the shape hardly change.
    nu : float, default 3.0
        Degrees of freedom of the Student t distribution, above 0, for robust moments only. Smaller values give less
        weight to distant mass. For exact moments, it is set to the default.
    trim : float, default 0.0
        Omit the levels t < trim and t > 1 − trim, to which specks far from the shape belong. It is at least 0 and below
        0.5, and at least two levels must remain.

    Raises
    ------
    TypeError
        If a value has the wrong type.
    ValueError
        If a value is out of range, or the moments are unknown.

    See Also
    --------
    describe : Computes descriptors.
    Descriptors : Descriptors with their settings.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> DescriptorSettings(moments="robust", trim=1 / 16).levels.size
    56
    """

    n_angles: int = 64
    n_levels: int = 64
    moments: str = "exact"
    nu: float = NU
    trim: float = 0.0

    def __post_init__(self) -> None:
        _validation.check_choice(self.moments, "moments", _MOMENTS)
        normalisation = Normalisation.choose(self.moments, "whitened", self.nu)
        choose_levels(self.n_levels, "midpoint", self.trim)
        values = {
            "n_angles": _validation.check_count(self.n_angles, "n_angles", 1, _validation.MAX_ANGLES),
            "n_levels": int(self.n_levels),
            "nu": normalisation.nu or NU,
            "trim": float(self.trim),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def levels(self) -> Floats:
        """The levels t of the quantile functions."""
        return choose_levels(self.n_levels, "midpoint", self.trim)

    @property
    def grid_distance(self) -> float:
        """The largest distance of two copies that the steps of the circle alone can cause: 2 sin(π/(4 n_angles))."""
        return float(2 * np.sin(np.pi / (4 * self.n_angles)))

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> DescriptorSettings:
        """Read settings that were stored with ``dataclasses.asdict``.

        Older records have nu 0 for exact moments.

        Parameters
        ----------
        record : dict
            The stored settings, by name.

        Returns
        -------
        DescriptorSettings
            The settings.

        Raises
        ------
        TypeError
            If the record has unknown names or values of the wrong type.
        ValueError
            If a value is out of range.
        """
        return cls(**{**record, "nu": record["nu"] or NU})
