"""The numba loops for measures on the line that are not quantiles: masses from quantiles, and transport.

As in ``_kernels.py``, each has a slow, obvious twin in ``tests/reference.py``.
"""

import numpy as np

from radoncdt._kernels import kernel, part

SAME_PLACE = 1e-12  # shares of the width of a measure that are rounding
SAME_LEVEL = 1e-14  # shares of the mass that are rounding


@part
def _end_slope(h0, h1, d0, d1):
    """Slope of the parabola through three points at the first of them, limited to half and twice the first secant's.

    `h0` and `h1` are the widths of the two intervals, `d0` and `d1` their secants.
    """
    if h1 <= 0:
        return d0
    slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1)
    return min(max(slope, 0.5 * d0), 2 * d0)


@part
def _tail(mass, distance, h0, h1, d0, d1):
    """Mass of the tail beyond a distance from its beginning: mass · (1 − distance/L)^k, k and L from F′ and F″ there.

    The exponent is 1 for a uniform measure, 3/2 for a disc, and large for a Gaussian.
    """
    if mass <= 0 or d0 <= 0:
        return 0.0
    slope = _end_slope(h0, h1, d0, d1)
    bend = 2 * (d1 - d0) / (h0 + h1) if h1 > 0 else 0.0
    exponent = 1 / (1 - min(max(bend * mass / slope**2, 0.0), 0.95))
    rest = 1 - distance * slope / (exponent * mass)
    return mass * rest**exponent if rest > 0 else 0.0


@kernel
def quantile_masses(values, levels, edges, out):
    """Masses `out` (rows, bins) between ascending edges of measures that are given by quantiles (rows, levels).

    The cumulative function is the monotone cubic of Fritsch and Butland through the points (value, level); values that
    are equal up to rounding are a jump. Beyond the first and the last value it ends in a tail. Mass on an edge is left
    of it.
    """
    n = levels.size
    width, secant = np.empty(n + 1), np.empty(n + 1)  # one more each side than there are intervals, for the ends
    slope = np.empty((n, 2))  # to the left and to the right of a value
    for row in range(values.shape[0]):
        q = values[row]
        width[0] = width[n] = secant[0] = secant[n] = 0.0
        same = SAME_PLACE * (q[n - 1] - q[0])
        for k in range(1, n):
            step = q[k] - q[k - 1]
            width[k] = step if step > same else 0.0
            secant[k] = (levels[k] - levels[k - 1]) / step if step > same else 0.0
        for k in range(n):
            h0, h1, d0, d1 = width[k], width[k + 1], secant[k], secant[k + 1]
            if h0 > 0 and h1 > 0:
                slope[k] = 3 * (h0 + h1) / ((2 * h1 + h0) / d0 + (h1 + 2 * h0) / d1)
            else:  # the end of a run, or of all
                slope[k, 0] = _end_slope(h0, width[max(k - 1, 0)], d0, secant[max(k - 1, 0)])
                slope[k, 1] = _end_slope(h1, width[min(k + 2, n)], d1, secant[min(k + 2, n)])
        before = 0.0
        k = 0
        for b in range(edges.shape[1]):
            s = edges[row, b]
            while k < n and q[k] <= s:
                k += 1
            if k == 0:
                below = _tail(levels[0], q[0] - s, width[1], width[min(2, n)], secant[1], secant[min(2, n)])
            elif k == n:
                h1, d1 = width[max(n - 2, 0)], secant[max(n - 2, 0)]
                below = 1 - _tail(1 - levels[n - 1], s - q[n - 1], width[n - 1], h1, secant[n - 1], d1)
            elif width[k] == 0:
                below = levels[k - 1]
            else:
                h = width[k]
                x = (s - q[k - 1]) / h
                below = levels[k - 1] * (1 + 2 * x) * (1 - x) ** 2 + levels[k] * x * x * (3 - 2 * x)
                below += h * x * (1 - x) * (slope[k - 1, 1] * (1 - x) - slope[k, 0] * x)
            if b > 0:
                out[row, b - 1] = max(below - before, 0.0)
            before = below


@part
def _mean_power(d0, d1, p):
    """Mean of |d|^p while d goes evenly from d0 to d1."""
    if p == 2:
        return (d0 * d0 + d0 * d1 + d1 * d1) / 3
    a, b = min(abs(d0), abs(d1)), max(abs(d0), abs(d1))
    if b == 0:
        return 0.0
    if (d0 < 0) != (d1 < 0):
        return (a ** (p + 1) + b ** (p + 1)) / ((p + 1) * (a + b))
    middle, bend = 0.5 * (a + b), 0.5 * (b - a)
    if p * bend < 1e-3 * middle:  # the difference of powers would cancel
        return middle**p * (1 + p * (p - 1) / 6 * (bend / middle) ** 2)
    return (b ** (p + 1) - a ** (p + 1)) / ((p + 1) * (b - a))


@part
def _first_and_last(mass):
    """The first and the last piece with mass."""
    first, last = 0, mass.size - 1
    while mass[first] == 0:
        first += 1
    while mass[last] == 0:
        last -= 1
    return first, last


@part
def _add(total, error, term):
    """A sum and its rounding error after one more term (Neumaier): running sums of many masses must not drift."""
    new = total + term
    return new, error + ((total - new) + term if abs(total) >= abs(term) else (term - new) + total)


@part
def _sum(masses):
    total = error = 0.0
    for mass in masses:
        total, error = _add(total, error, mass)
    return total + error


@part
def _along_both(mass_a, places_a, wide_a, mass_b, places_b, wide_b, p, scale):
    """Mean of (|x − y| / scale)^p over the levels, x and y the quantiles of a and b; where p = ∞ the largest |x − y|.

    Levels that differ by less than SAME_LEVEL are one: rounding must not pair a point with its partner's neighbour.
    """
    i, last_a = _first_and_last(mass_a)
    j, last_b = _first_and_last(mass_b)
    total_a, total_b = _sum(mass_a), _sum(mass_b)
    sum_a = sum_b = error_a = error_b = level = result = 0.0
    new_a = new_b = True
    x = y = end_a = end_b = 0.0
    while True:
        if new_a:
            sum_a, error_a = _add(sum_a, error_a, mass_a[i])
            end_a, x = (sum_a + error_a) / total_a if i < last_a else 1.0, places_a[i]
        if new_b:
            sum_b, error_b = _add(sum_b, error_b, mass_b[j])
            end_b, y = (sum_b + error_b) / total_b if j < last_b else 1.0, places_b[j]
        until = min(end_a, end_b)
        new_a, new_b = end_a <= until + SAME_LEVEL, end_b <= until + SAME_LEVEL
        # the quantiles at that level, at the end of a piece or inside it
        x1, y1 = places_a[i + wide_a], places_b[j + wide_b]
        if not new_a:
            x1 = x + (x1 - x) * ((until - level) / (end_a - level))
        if not new_b:
            y1 = y + (y1 - y) * ((until - level) / (end_b - level))
        if p == np.inf:
            result = max(result, abs(x - y), abs(x1 - y1))
        else:
            result += _mean_power((x - y) / scale, (x1 - y1) / scale, p) * (until - level)
        level, x, y = until, x1, y1
        if new_a:
            if i == last_a:
                return result
            i += 1
            while mass_a[i] == 0:
                i += 1
        if new_b:
            if j == last_b:
                return result
            j += 1
            while mass_b[j] == 0:
                j += 1


@kernel
def transport(mass_a, places_a, wide_a, mass_b, places_b, wide_b, p, out):
    """Wasserstein-p distances of measures on the line, row by row.

    Piece i of a row has mass[i], on the point places[i], or evenly on places[i] to places[i + 1] where it is wide. Both
    quantile functions are linear between the levels where pieces end, so the integral is exact.
    """
    for row in range(out.size):
        a, x, b, y = mass_a[row], places_a[row], mass_b[row], places_b[row]
        scale = max(abs(x[-1] - y[0]), abs(y[-1] - x[0]))
        power = _along_both(a, x, wide_a, b, y, wide_b, p, scale) if p <= 2 and scale > 0 else 0.0
        if power < 1e-200:  # that bound of the distances was too large, or p is
            scale = _along_both(a, x, wide_a, b, y, wide_b, np.inf, 1.0)
            power = _along_both(a, x, wide_a, b, y, wide_b, p, scale) if p < np.inf and scale > 0 else 1.0
        out[row] = scale * power ** (1 / p)
