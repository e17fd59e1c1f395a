"""Slow and obvious implementations, in float64, of the kernels that ``radoncdt._numpy.method`` does not contain."""

import numpy as np


def cumulative_of_quantiles(values, levels, s):
    """Compute F(s) of a measure from its quantiles at the levels: monotone cubics between them, tails beyond them."""
    n = len(values)
    same = 1e-12 * (values[-1] - values[0])
    runs = np.split(np.arange(n), np.flatnonzero(np.diff(values) <= same) + 1)  # a jump ends a run of ascending values
    if s < values[0]:
        return _tail(np.diff(values)[:2], levels[:3], values[0] - s, same)
    if s >= values[-1]:
        return 1 - _tail(np.diff(values)[::-1][:2], (1 - levels[::-1])[:3], s - values[-1], same)
    k = max(i for i in range(n) if values[i] <= s)  # the last of equal values: F is continuous from the right
    if values[k + 1] - values[k] <= same:
        return levels[k]
    (run,) = (run for run in runs if k in run)
    q, t = values[run], levels[run]
    i = list(run).index(k)
    slopes = [_slope(q, t, j) for j in range(len(q))]
    h, x = q[i + 1] - q[i], (s - q[i]) / (q[i + 1] - q[i])
    cubic = np.array([2 * x**3 - 3 * x**2 + 1, x**3 - 2 * x**2 + x, -2 * x**3 + 3 * x**2, x**3 - x**2])
    return cubic @ [t[i], h * slopes[i], t[i + 1], h * slopes[i + 1]]


def _slope(q, t, j):
    """Compute the weighted harmonic mean of the secants on both sides; at an end, the limited slope of a parabola."""
    h, d = np.diff(q), np.diff(t) / np.diff(q)
    if j == len(q) - 1:
        return _slope(-q[::-1], -t[::-1], 0)
    if j > 0:
        return 3 * (h[j - 1] + h[j]) / ((2 * h[j] + h[j - 1]) / d[j - 1] + (h[j] + 2 * h[j - 1]) / d[j])
    if len(d) == 1:
        return d[0]
    return np.clip(((2 * h[0] + h[1]) * d[0] - h[0] * d[1]) / (h[0] + h[1]), d[0] / 2, 2 * d[0])


def _tail(widths, levels, distance, same):
    """Compute the mass beyond a distance outside the first value.

    It is a power that has the slope and the curvature of F there. `widths` are those of the first intervals inside.
    """
    if levels[0] <= 0 or widths[0] <= same:
        return 0.0
    if len(widths) > 1 and widths[1] <= same:
        widths, levels = widths[:1], levels[:2]
    places = np.concatenate([[0], np.cumsum(widths)])
    slope = _slope(places, levels, 0)
    d = np.diff(levels) / widths
    bend = 2 * (d[1] - d[0]) / places[2] if len(d) > 1 else 0.0
    exponent = 1 / (1 - np.clip(bend * levels[0] / slope**2, 0, 0.95))
    return levels[0] * max(1 - distance * slope / (exponent * levels[0]), 0) ** exponent


def wasserstein_of_points(x, weights_x, y, weights_y, p):
    """Move the leftmost remaining mass of one measure to the leftmost remaining mass of the other."""
    first = sorted((a, w) for a, w in zip(x, weights_x) if w > 0)
    second = sorted((b, w) for b, w in zip(y, weights_y) if w > 0)
    first = [[a, w / sum(weights_x)] for a, w in first]
    second = [[b, w / sum(weights_y)] for b, w in second]
    moved = []
    while first and second:
        share = min(first[0][1], second[0][1])
        moved.append((abs(first[0][0] - second[0][0]), share))
        for pile in (first, second):
            pile[0][1] -= share
            if pile[0][1] < 1e-13:
                pile.pop(0)
    if p == np.inf:
        return max(d for d, _ in moved)
    return sum(d**p * share for d, share in moved) ** (1 / p)


def full_circle(values):
    """Return NR-CDTs of all directions (2n, n_levels) from those of half the circle."""
    return np.concatenate([values, -values[:, ::-1]])


def distances_at_all_turns(moving, fixed):
    """Compute root mean square differences (4n,) after each turn and, from 2n on, after a reflection and a turn."""
    moving, fixed = full_circle(moving.astype(float)), full_circle(fixed.astype(float))
    k = np.arange(len(moving))
    plain = [np.sqrt(np.mean((fixed - moving[(k - s) % len(k)]) ** 2)) for s in k]
    mirrored = [np.sqrt(np.mean((fixed - moving[(s - k) % len(k)]) ** 2)) for s in k]
    return np.array(plain + mirrored)


def root(covariance, power):
    """Compute a power of a symmetric matrix."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors @ np.diag(values**power) @ vectors.T


def maps_of_all_turns(moving, fixed, n_angles, offset=0.0):
    """Compute the matrices A (4n, 2, 2) of all turns, each plus `offset` steps, from the two covariances."""
    angles = np.pi * (np.arange(2 * n_angles) + offset) / n_angles
    turns = np.array([[[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]] for a in angles])
    turns = np.concatenate([turns, turns @ np.diag([1, -1])])
    return root(fixed, 0.5) @ turns @ root(moving, -0.5)


def aspect_shear_and_scale(matrix):
    """Compute the ratio of the scales, the deviation of the axes from a right angle in degrees, and the mean scale."""
    large, small = np.linalg.svd(matrix, compute_uv=False)
    x, y = matrix.T
    cosine = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
    return large / small, abs(90 - np.rad2deg(np.arccos(np.clip(cosine, -1, 1)))), np.sqrt(large * small)


def stroke(image, start, end, width):
    """Brighten pixels to their part covered by the line between two points (column, row), which has round ends."""
    step = end - start
    for row, column in np.ndindex(image.shape):
        place = np.array([column, row]) - start
        across = place - np.clip(place @ step / max(step @ step, 1e-300), 0, 1) * step
        distance = np.linalg.norm(across)
        # the direction away from the line or, on the line, its normal; both up to the sign
        normal = across / distance if distance > 1e-9 else step[::-1] / max(np.linalg.norm(step), 1e-300)
        covered = _part_below(width / 2 - distance, *normal) - _part_below(-width / 2 - distance, *normal)
        image[row, column] = max(image[row, column], covered)


def _part_below(place, c, s):
    """Compute the part of a unit square around 0 whose projection on the axis (c, s) is below a place.

    The projection is the sum of two intervals of lengths |c| and |s|, so its density is a trapezoid.
    """
    large, small = sorted((max(abs(c), 1e-6), max(abs(s), 1e-6)), reverse=True)
    outer, inner = (large + small) / 2, (large - small) / 2
    if place > 0:
        return 1 - _part_below(-place, c, s)
    if place <= -outer:
        return 0.0
    return (place + outer) ** 2 / (2 * large * small) if place < -inner else 0.5 + place / large


def fit(base, terms, some, targets, few, ridge, coefficients, size, most, iterations):
    """Compute `radoncdt._interface.Kernels.fit` with matrices of all distances."""
    for step in range(iterations + 1):
        moved = base + terms @ coefficients
        apart = np.linalg.norm(moved[:, None] - targets, axis=2)
        forth, back = apart[some].argmin(axis=1), apart[:, few].argmin(axis=0)
        distances = np.concatenate([apart[some].min(axis=1), apart[:, few].min(axis=0)])
        if step == iterations:
            break
        points, aims = np.concatenate([some, back]), np.concatenate([forth, few])
        scale = max(2.5 * np.median(distances), 0.01 * size)
        weights = 1 / (1 + (distances / scale) ** 2) ** 2
        rows = terms[points]
        normal = rows.T @ (weights[:, None] * rows)
        normal += np.diag(ridge * len(points) + 1e-9 * np.diag(normal).max())
        coefficients = np.linalg.solve(normal, rows.T @ (weights[:, None] * (targets[aims] - base[points])))
    limited = np.minimum(distances, most * size)
    return coefficients, (limited[: len(some)].mean() + limited[len(some) :].mean()) / (2 * size)


def bend(image, a_x, a_y, f_x, f_y):
    """Bend an image by waves, pixel by pixel, with bilinear interpolation and periodic continuation."""
    height, width = image.shape
    bent = np.empty(image.shape)
    for j in range(1, height + 1):
        for k in range(1, width + 1):
            y = j + a_y * np.cos(2 * np.pi * f_y * k / width) - 1
            x = k + a_x * np.sin(2 * np.pi * f_x * j / height) - 1
            row, column = int(np.floor(y)), int(np.floor(x))
            v, u = y - row, x - column
            corners = [[image[(row + a) % height, (column + b) % width] for b in (0, 1)] for a in (0, 1)]
            bent[j - 1, k - 1] = np.array([1 - v, v]) @ corners @ np.array([1 - u, u])
    return bent
