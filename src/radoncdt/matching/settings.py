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
    """How descriptors are computed. Only descriptors with equal settings can be compared.

    Parameters
    ----------
    n_angles : int
        Directions on half the circle. Rotations are compared in steps of 180°/n_angles.
    n_levels : int
        Levels of the quantile functions.
    moments : {"exact", "robust"}
        See `nrcdt`.
    nu : float
        Degrees of freedom of robust moments. Exact moments do not use it; it is then set to the default.
    trim : float
        Omits the levels t < trim and t > 1 − trim.

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
        """Read settings that were stored with `dataclasses.asdict`. Older records have nu 0 for exact moments."""
        return cls(**{**record, "nu": record["nu"] or NU})
