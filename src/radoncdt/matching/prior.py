"""Priors: the penalties of affine maps, which are added to the distances of the measures that they join.

The distance of two measures is the least over all maps from one to the other. A prior says which maps are likely:

    squared distance + aspect · (log of the ratio of the two scales)² + rotation · (1 − cos ψ) + mirror

where ψ is the angle of the rotation in the polar decomposition of the map, and mirror counts for maps that mirror.
Penalties are not negative, so that lower bounds of distances stay valid, and the search stays exact.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from radoncdt import _validation
from radoncdt._interface import Prior
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentTypeError

__all__ = ["PRIORS", "MapPrior", "read_prior"]


@dataclass(frozen=True, kw_only=True)
class MapPrior:
    """Penalties of affine maps, which say which maps between two measures are likely.

    The distance of two measures is the least over all maps from one to the other. With a prior, the map with the least
    sum is taken ::

        squared distance + aspect · (log of the ratio of the two scales)² + rotation · (1 − cos ψ) + mirror

    where ψ is the angle of the rotation in the polar decomposition of the map, and mirror counts for maps that mirror.
    By default no map has a penalty.

    Parameters
    ----------
    aspect : float, default 0.0
        Penalty of the squared logarithm of the ratio of the two scales, added to the squared distance.
    rotation : float, default 0.0
        Penalty of 1 − cos ψ, where ψ is the angle of the rotation, added to the squared distance.
    mirror : float, default 0.0
        Penalty of mirroring, added to the squared distance.
    bent_aspect : float, default 0.0
        Penalty of the squared logarithm of the ratio of the two scales, added to the distortion distance of registered
        images, which `FewShotClassifier` and `distortion_distances` use.
    bent_rotation : float, default 0.0
        Penalty of 1 − cos ψ, added to the distortion distance.
    bent_mirror : float, default 0.0
        Penalty of mirroring, added to the distortion distance.

    Raises
    ------
    TypeError
        If a penalty is not a number.
    ValueError
        If a penalty is negative or not finite.

    See Also
    --------
    Plausible : Limits instead of penalties.
    affine_distances : Distances with penalties.
    distortion_distances : Distortion distances with penalties.

    Notes
    -----
    The rotation of a map that mirrors is that of the map after a reflection of x. A mirror image left to right is
    therefore upright, and one upside down is rotated by 180°.

    Examples
    --------
    >>> print(MapPrior(rotation=0.03, bent_rotation=3))
    rotation=0.03, bent_rotation=3
    """

    aspect: float = 0.0
    rotation: float = 0.0
    mirror: float = 0.0
    bent_aspect: float = 0.0
    bent_rotation: float = 0.0
    bent_mirror: float = 0.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            _validation.check_number(value, name, "a number that is not negative", lambda x: x >= 0)

    @property
    def penalties(self) -> Prior | None:
        """The penalties in the form that the kernels take; None if all are 0."""
        penalties = Prior(float(self.aspect), float(self.rotation), float(self.mirror))
        return penalties if any(penalties) else None

    @property
    def bent_penalties(self) -> Floats:
        """The penalties (3,) of the features of maps, added to distortion distances."""
        return np.array([self.bent_aspect, self.bent_rotation, self.bent_mirror], np.float64)

    def __str__(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in asdict(self).items() if value) or "any map"


PRIORS = {
    "any": MapPrior(),
    "upright": MapPrior(aspect=0.006, rotation=0.03, mirror=0.06, bent_rotation=3.0, bent_mirror=6.0),
    "photograph": MapPrior(aspect=0.006, bent_aspect=0.3),
}
"""Named priors. "any": no map has a penalty. "upright": characters and symbols that are hardly rotated or stretched,
and a mirror image costs as much as a rotation by 180°. "photograph": any rotation, but little stretch and shear."""

_BENT = 100  # distortion distances are about this many times as large as squared distances of descriptors


def read_prior(prior: object, name: str = "prior") -> MapPrior:
    """Return a prior from its name, from two numbers (aspect, rotation), or as it is.

    The penalties of distortion distances are `_BENT` times the two numbers.
    """
    if isinstance(prior, MapPrior):
        return prior
    if isinstance(prior, str):
        return PRIORS[_validation.check_choice(prior, name, PRIORS)]
    if isinstance(prior, (tuple, list, np.ndarray)) and len(prior) == 2:
        pair = MapPrior(aspect=prior[0], rotation=prior[1])
        return replace(pair, bent_aspect=_BENT * pair.aspect, bent_rotation=_BENT * pair.rotation)
    raise ArgumentTypeError(
        name,
        f"must be one of {', '.join(map(repr, PRIORS))}, a MapPrior or two numbers (aspect, rotation), got {prior!r}",
    )
