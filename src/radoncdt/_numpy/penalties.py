"""The penalty of the map that belongs to each turn of a descriptor."""

import numpy as np

from radoncdt._geometry import inverse_square_root, rotation, square_root
from radoncdt._interface import Prior
from radoncdt._typing import Floats

__all__ = ["penalise_turns"]


def penalise_turns(moving: Floats, fixed: Floats, prior: Prior, n_angles: int) -> Floats:
    """Return the penalty of every turn, (n, 2, 2·n_angles): plain and mirrored ones.

    `moving` (3,) and `fixed` (n, 3) are covariances xx, xy, yy. The map of a turn is A = Σ_ν^{1/2} R Σ_μ^{-1/2}, where
    R is a rotation by a number of steps, after mirroring y if the turn is mirrored. The penalty of A is that of its
    aspect, the ratio of its singular values, and that of the rotation by ψ in its polar decomposition. For a matrix
    with positive determinant, tan ψ = (A₂₁ − A₁₂)/(A₁₁ + A₂₂); a mirrored map is first composed with a reflection of x.
    """
    turns = rotation(np.pi * np.arange(2 * n_angles) / n_angles)
    penalties = np.zeros((len(fixed), 2, 2 * n_angles))
    with np.errstate(all="ignore"):  # maps of singular covariances have no penalty
        inverse = inverse_square_root(moving[[0, 1, 1, 2]].reshape(2, 2) / (moving[0] + moving[2]))
        for k, (xx, xy, yy) in enumerate(fixed):
            root = square_root(np.array([[xx, xy], [xy, yy]]) / (xx + yy))
            for mirrored, mirror in enumerate(([1.0, 1.0], [1.0, -1.0])):
                maps = root @ (turns * mirror) @ inverse
                stretch = (maps**2).sum(axis=(-2, -1)) / (2 * np.abs(np.linalg.det(root) * np.linalg.det(inverse)))
                if mirrored:
                    maps = maps * [-1.0, 1.0]
                trace, skew = maps[:, 0, 0] + maps[:, 1, 1], maps[:, 1, 0] - maps[:, 0, 1]
                penalty = prior.aspect * np.arccosh(np.maximum(stretch, 1)) ** 2
                penalty += prior.rotation * (1 - np.cos(np.arctan2(skew, trace)))
                penalties[k, mirrored] = np.where(np.isfinite(penalty), penalty, 0) + mirrored * prior.mirror
    return penalties
