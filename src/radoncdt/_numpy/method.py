"""The method on one page: the transforms of the paper, one function per definition, all in float64.

An image is a measure: pixel (i, j) of an (H, W) image is the unit square centred at (j − (W−1)/2, (H−1)/2 − i), x to
the right and y up, and its value is its mass. θ = (cos ϑ, sin ϑ) is the direction of the angle ϑ. The strips of a
direction lie between ascending edges, max(|cos ϑ|, |sin ϑ|) apart, as `radoncdt.radon` returns them.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt._typing import Floats

__all__ = [
    "back_projection",
    "bin_quantile",
    "moments",
    "nrcdt",
    "pool",
    "radon",
    "rcdt",
    "sample_quantile",
    "whiten_angles",
]


def pixel_centres(shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Centres x and y, (H, W) each, of the pixels of an image."""
    i, j = np.indices(shape)
    return j - (shape[1] - 1) / 2, (shape[0] - 1) / 2 - i


def square_cdf(s: ArrayLike, angle: float) -> Floats:
    """Share of the unit square around 0 whose projection ⟨x, θ⟩ is at most s.

    The projection is uniform on [−|cos ϑ|/2, |cos ϑ|/2] plus uniform on [−|sin ϑ|/2, |sin ϑ|/2]. With a ≥ b the larger
    and the smaller of |cos ϑ| and |sin ϑ|, its density is the trapezoid that rises on [−(a+b)/2, −(a−b)/2], is 1/a up
    to (a−b)/2, and falls until (a+b)/2.
    """
    a, b = sorted((abs(np.cos(angle)), abs(np.sin(angle))), reverse=True)
    s = np.asarray(s, float)
    if b < 1e-30:
        return np.asarray(np.clip(s / a + 0.5, 0, 1))
    outer, inner = (a + b) / 2, (a - b) / 2
    rising = (s + outer) ** 2 / (2 * a * b)
    level = s / a + 0.5
    falling = 1 - (outer - s) ** 2 / (2 * a * b)
    return np.select([s <= -outer, s < -inner, s <= inner, s < outer], [0, rising, level, falling], 1)


def pixel_shares(shape: tuple[int, ...], angle: float, edges: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Strips that each pixel can reach, and its share in each: (5, H, W) each.

    The projection of a pixel is at most two strips wide, so it reaches one strip beyond that of its centre. One more
    strip on each side is included, because rounding may move a centre across an edge. Beyond the edges, shares are 0.
    """
    x, y = pixel_centres(shape)
    centre = np.cos(angle) * x + np.sin(angle) * y
    strips = np.searchsorted(edges, centre) - 1 + np.arange(-2, 4).reshape(-1, 1, 1)
    ends = edges[np.clip(strips, 0, len(edges) - 1)]
    return np.clip(strips[:-1], 0, len(edges) - 2), np.diff(square_cdf(ends - centre, angle), axis=0)


def radon(image: ArrayLike, angles: ArrayLike, edges: Floats) -> Floats:
    """Masses (n_angles, n_bins) of R_θ[μ] = (S_θ)_# μ, S_θ(x) = ⟨x, θ⟩, in strips (§2.2 of the paper)."""
    image, masses = np.asarray(image, float), []
    for angle, ends in zip(np.asarray(angles, float), edges):
        strips, shares = pixel_shares(image.shape, angle, ends)
        masses.append(np.bincount(strips.ravel(), (shares * image).ravel(), len(ends) - 1))
    return np.array(masses)


def back_projection(values: ArrayLike, edges: Floats, angles: ArrayLike, shape: tuple[int, int]) -> Floats:
    """The adjoint R*[g](x) = Σ_θ g(⟨x, θ⟩, θ), averaged over each pixel (Prop. 2): the same shares, transposed."""
    image = np.zeros(shape)
    for g, ends, angle in zip(np.asarray(values, float), edges, np.asarray(angles, float)):
        strips, shares = pixel_shares(shape, angle, ends)
        image += (shares * g[strips]).sum(axis=0)
    return image


def moments(image: ArrayLike) -> tuple[np.float64, Floats, Floats]:
    """Mass, mean m (2,) and covariance Σ (2, 2) of an image of unit squares, each of variance 1/12 in x and y."""
    image = np.asarray(image, float)
    x, y = pixel_centres(image.shape)
    share = image / image.sum()
    mean = np.array([(share * x).sum(), (share * y).sum()])
    dx, dy = x - mean[0], y - mean[1]
    xy = (share * dx * dy).sum()
    covariance = np.array([[(share * dx**2).sum(), xy], [xy, (share * dy**2).sum()]]) + np.eye(2) / 12
    return image.sum(), mean, covariance


def bin_quantile(masses: ArrayLike, edges: ArrayLike, t: float) -> float:
    """F^[-1](t) = inf{s : F(s) > t} of masses spread evenly over bins (§3.1); the end of the support for t = 1."""
    masses, edges = np.asarray(masses, float), np.asarray(edges, float)
    cumulated = np.concatenate([[0.0], np.cumsum(masses)])  # F at the edges
    target = t * cumulated[-1]
    above = np.flatnonzero(cumulated > target)
    if t >= 1 or len(above) == 0:
        return float(edges[np.flatnonzero(masses)[-1] + 1])
    b = max(above[0] - 1, 0)
    part = max((target - cumulated[b]) / masses[b], 0.0)
    return float(edges[b] + part * (edges[b + 1] - edges[b]))


def sample_quantile(places: ArrayLike, weights: ArrayLike, t: float) -> float:
    """F^[-1](t) = inf{s : F(s) > t} of point masses; the last point with mass for t = 1."""
    places, weights = np.asarray(places, float), np.asarray(weights, float)
    order = [i for i in np.argsort(places) if weights[i] > 0]
    cumulated = np.cumsum(weights[order])
    above = np.flatnonzero(cumulated > t * cumulated[-1])
    return float(places[order[above[0] if t < 1 and len(above) else -1]])


def rcdt(image: ArrayLike, angles: ArrayLike, levels: ArrayLike, edges: Floats) -> Floats:
    """R̂_θ[μ] = F_{R_θ[μ]}^[-1] at the levels (§3.1): (n_angles, n_levels)."""
    levels, masses = np.asarray(levels, float), radon(image, angles, edges)
    return np.array([[bin_quantile(m, e, t) for t in levels] for m, e in zip(masses, edges)])


def nrcdt(image: ArrayLike, angles: ArrayLike, levels: ArrayLike, edges: Floats) -> Floats:
    """N_θ[μ] = (R̂_θ[μ] − mean)/std (§3.2); the projection has the mean ⟨m, θ⟩ and the variance θᵀΣθ."""
    _, mean, covariance = moments(image)
    theta = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    std = np.sqrt(np.einsum("ni,ij,nj->n", theta, covariance, theta))
    values = rcdt(image, angles, levels, edges)
    return np.asarray((values - (theta @ mean)[:, None]) / std[:, None])


def whiten_angles(angles: ArrayLike, covariance: ArrayLike) -> Floats:
    """Angles of the directions θ = Σ^{-1/2}η/‖Σ^{-1/2}η‖ for angles of directions η of the whitened measure.

    The whitened measure is Σ^{-1/2}(μ − m). Its R-CDT along η is N_θ[μ]. An affine map of μ rotates or reflects it.
    """
    variances, axes = np.linalg.eigh(np.asarray(covariance, float))
    x, y = axes @ np.diag(variances**-0.5) @ axes.T @ np.stack([np.cos(angles), np.sin(angles)])
    return np.asarray(np.arctan2(y, x))


def pool(nrcdt_of_half: ArrayLike, how: str) -> Floats:
    """Pool N_θ over the full circle, level by level, with N_{−θ}(t) = −N_θ(1 − t).

    Directions are in the order of their angles in [0, π), and levels are symmetric. "max" is the mNR-CDT,
    sup_θ N_θ[μ](t), of §3.3; "mean" is the aNR-CDT of the follow-up paper.
    """
    half = np.asarray(nrcdt_of_half, float)
    full = np.concatenate([half, -half[:, ::-1]])
    around = np.concatenate([full, full[:1]])
    pools: dict[str, Floats] = {
        "max": full.max(0),
        "min": full.min(0),
        "mean": full.mean(0),
        "median": np.asarray(np.median(full, 0)),
        "range": full.max(0) - full.min(0),
        "max_abs": np.abs(full).max(0),
        "min_abs": np.abs(full).min(0),
        "range_abs": np.abs(full).max(0) - np.abs(full).min(0),
        "total_variation": np.abs(np.diff(around, axis=0)).sum(0),
    }
    return pools[how]
