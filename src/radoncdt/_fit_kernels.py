"""The numba loop that fits the points of one drawing to those of another.

As in ``_kernels.py``, it has a slow, obvious twin in ``tests/reference.py``.
"""

import numba
import numpy as np

from radoncdt._kernels import kernel, part

WIDE = 2.5  # points that are so many times the median distance away count a quarter
LEAST = 0.01  # of that distance, as a share of the size: what is nearer counts alike


@numba.njit(nogil=True, error_model="numpy", fastmath={"nnan", "ninf", "nsz", "contract", "reassoc"})
def _closest(x, y, columns, rows, which, squares):
    """Numbers of the nearest of some places (columns, rows) of each place (x, y), and the squares of the distances.

    In float32, with the many places in the inner loop and no branch, so that several are looked at at a time.
    """
    for i in range(len(x)):
        squares[i], which[i] = np.float32(1e30), 0
    for j in range(len(columns)):
        column, row, number = columns[j], rows[j], np.int32(j)
        for i in range(len(x)):
            dx, dy = column - x[i], row - y[i]
            square = dx * dx + dy * dy
            nearer = square < squares[i]
            which[i] = number if nearer else which[i]
            squares[i] = square if nearer else squares[i]


@part
def _move(base, terms, coefficients, columns, rows):
    """base + terms · coefficients."""
    for i in range(len(base)):
        x, y = base[i]
        for k in range(terms.shape[1]):
            x += terms[i, k] * coefficients[k, 0]
            y += terms[i, k] * coefficients[k, 1]
        columns[i], rows[i] = x, y


@part
def _add(normal, right, terms, u, v, weight):
    for a in range(len(terms)):
        scaled = weight * terms[a]
        for b in range(len(terms)):
            normal[a, b] += scaled * terms[b]
        right[a, 0] += scaled * u
        right[a, 1] += scaled * v


@kernel
def fit(base, terms, some, targets, few, ridge, coefficients, size, most, iterations):
    """Change `coefficients` (k, 2) for the points base + terms · coefficients to be near targets; how near they are.

    Of the points those numbered `some`, each with the target nearest to it, and of the targets those numbered `few`,
    each with the point nearest to it, are pairs. The coefficients are those of least squares over all pairs, weighted
    by 1/(1 + (d/s)²)², s being WIDE times the median of the distances d, plus `ridge` (k,) times their own squares
    times the number of pairs; then pairs are formed again. The result is the mean of the distances that are left, of
    which none counts more than `most`; both are shares of the size.
    """
    n, m, k = len(some), len(few), terms.shape[1]
    columns, rows = np.empty(len(base), np.float32), np.empty(len(base), np.float32)
    target_columns, target_rows = targets[:, 0].astype(np.float32), targets[:, 1].astype(np.float32)
    which, squares = np.empty(n + m, np.int32), np.empty(n + m, np.float32)
    distances = np.empty(n + m)
    for step in range(iterations + 1):
        _move(base, terms, coefficients, columns, rows)
        _closest(columns[some], rows[some], target_columns, target_rows, which[:n], squares[:n])
        _closest(target_columns[few], target_rows[few], columns, rows, which[n:], squares[n:])
        distances[:] = np.sqrt(squares)
        if step == iterations:
            break
        scale = max(WIDE * np.median(distances), LEAST * size)
        normal, right = np.zeros((k, k)), np.zeros((k, 2))
        for p in range(n + m):
            point = some[p] if p < n else which[p]
            target = which[p] if p < n else few[p - n]
            weight = 1 / (1 + (distances[p] / scale) ** 2) ** 2
            u, v = targets[target, 0] - base[point, 0], targets[target, 1] - base[point, 1]
            _add(normal, right, terms[point], u, v, weight)
        largest = 0.0
        for a in range(k):
            largest = max(largest, normal[a, a])
        for a in range(k):
            normal[a, a] += ridge[a] * (n + m) + 1e-9 * largest  # of points on a line there is no other
        coefficients[:] = np.linalg.solve(normal, right)
    first = np.minimum(distances[:n], most * size).mean()
    second = np.minimum(distances[n:], most * size).mean()
    return (first + second) / (2 * size)
