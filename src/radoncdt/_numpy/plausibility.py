"""The rotations and reflections of a descriptor that belong to plausible maps."""

import math

import numpy as np

from radoncdt._interface import Limits
from radoncdt._typing import Floats

__all__ = ["SLACK", "TRIED", "find_plausible_angles", "plausible_turns"]

SLACK = 1e-9
"""Relative tolerance of the limits."""

TRIED = 16
"""Number of intervals between the angles of a step that are tried if the shear is limited."""


def plausible_turns(moving: Floats, fixed: Floats, limits: Limits, n_angles: int) -> Floats:
    """Find an angle (4·n_angles,) with a plausible map within half a step of each turn, mirrored ones last, or NaN."""
    plain, mirrored = find_plausible_angles(moving, fixed[None], limits, n_angles)[0]
    return np.concatenate([plain, plain + np.pi, mirrored, mirrored + np.pi])


def find_plausible_angles(moving: Floats, fixed: Floats, limits: Limits, n_angles: int) -> Floats:
    """Find a plausible rotation within half a step of each step of half the circle, plain and mirrored, or NaN.

    `moving` (3,) and `fixed` (n, 3) are covariances xx, xy, yy; the result is (n, 2, n_angles). The other half of the
    circle has the same maps, up to the sign. The map is A = Σ_ν^{1/2} R Σ_μ^{-1/2}, and AᵀA is linear in cosine and
    sine of ψ, twice the angle of R. The product of the scales is |det A| = √(det Σ_ν/det Σ_μ), and the sum of their
    squares is tr AᵀA, which is least at one ψ and grows on both sides of it, so the aspect is decided exactly. If the
    shear is also limited, some more angles of a step are tried.
    """
    # No map is plausible for singular covariances, or for sizes whose ratio float64 cannot represent.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        constant, cosine, sine, area, change = _squares(moving, fixed)
        widest = (limits.aspect + 1 / limits.aspect) * (1 + SLACK) * area
        largest_sine, sheared = math.sin(limits.shear) + SLACK, limits.shear < np.pi / 2

        steps, half = 2 * np.pi * np.arange(n_angles) / n_angles, np.pi / n_angles  # half a step of ψ
        goals = _goals(constant, cosine, sine)[: 3 if sheared else 1]
        angles = [steps + np.clip((goal - steps + np.pi) % (2 * np.pi) - np.pi, -half, half) for goal in goals]
        if sheared:
            angles += [steps + half * (2 * k / TRIED - 1) for k in range(TRIED + 1)]
        chosen = np.full((len(fixed), 2, n_angles), np.nan)
        for psi in angles:
            xx, yy, xy = constant + cosine * np.cos(psi) + sine * np.sin(psi)
            fits = (xx + yy <= widest) & (np.abs(xy) <= largest_sine * np.sqrt(xx * yy))
            chosen = np.where(np.isnan(chosen) & fits, psi, chosen)
        largest = limits.scale * (1 + SLACK)
        chosen[~((change <= largest) & (change * largest >= 1))] = np.nan
    return chosen / 2


def _squares(moving: Floats, fixed: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """AᵀA = Σ_μ^{-1/2} Rᵀ Σ_ν R Σ_μ^{-1/2} as constant + cosine · cos ψ + sine · sin ψ, |det A| and the change of size.

    The first three, (3, n, 2, 1) each, have the components xx, yy and xy, plain and mirrored. They and |det A|,
    (n, 1, 1), belong to covariances divided by their traces, so that products do not underflow. The change of size,
    (n,), belongs to the given covariances.
    """
    size, fixed_size = moving[0] + moving[2], fixed[:, 0] + fixed[:, 2]
    xx, xy, yy = moving / size
    vxx, vxy, vyy = (fixed / fixed_size[:, None]).T
    root = np.sqrt(xx * yy - xy * xy)
    area = np.sqrt(vxx * vyy - vxy * vxy) / root
    change = np.sqrt(area * (fixed_size / size))
    scale = 1 / (root * np.sqrt(xx + yy + 2 * root))
    p, q, r = (yy + root) * scale, -xy * scale, (xx + root) * scale  # Σ_μ^{-1/2}

    def between(a: Floats, b: Floats, d: Floats) -> Floats:
        """Σ_μ^{-1/2} (a b; b d) Σ_μ^{-1/2}."""
        return np.stack(
            [
                p * p * a + 2 * p * q * b + q * q * d,
                q * q * a + 2 * q * r * b + r * r * d,
                p * q * a + (p * r + q * q) * b + q * r * d,
            ]
        )

    both, sign = np.ones((2, 1)), np.array([[1.0], [-1.0]])  # plain and mirrored
    middle, x, y = (each[:, None, None] * both for each in ((vxx + vyy) / 2, (vxx - vyy) / 2, vxy))
    constant, cosine, sine = between(middle, 0 * y, middle), between(x, sign * y, -x), between(y, -sign * x, -y)
    return constant, cosine, sine, area[:, None, None], change


def _goals(constant: Floats, cosine: Floats, sine: Floats) -> list[Floats]:
    """The angle ψ at which tr AᵀA is least, and two angles at which the shear is 0 or least, (n, 2, 1) each."""
    best = np.arctan2(-(sine[0] + sine[1]), -(cosine[0] + cosine[1]))
    lean, size_of_lean = np.arctan2(sine[2], cosine[2]), np.hypot(cosine[2], sine[2])  # the largest xy
    ratio = np.divide(-constant[2], size_of_lean, out=np.ones_like(lean), where=size_of_lean > 0)
    away = np.arccos(np.clip(ratio, -1.0, 1.0))
    return [best, lean + away, lean - away]
