"""The numba loops that compare descriptors: all rotations and reflections of one circle of curves against another.

A descriptor is N_η(t) on the half circle; the other half is −N_η(1 − t). The distance of two, F and G, at a turn is the
root mean square of G_k − F_{k−s}, or, mirrored, of G_k − F_{s−k}; s = 0, …, 2n − 1 counts steps of the circle. That
of the best turn is wanted, and is evaluated directly, for ‖F‖² + ‖G‖² − 2⟨F, G⟩ cancels. Which turns can be the best is
found from the low frequencies of both along the circle: they give all correlations at once, and what they leave out is
at most the product of the norms of the rests. So the result is that of trying all turns, bit for bit.

**Waves.** Split into parts even and odd in t ↦ 1 − t, F has odd frequencies in the even part alone and even ones in the
odd part alone, which halves the work. ``descriptors.py`` packs the frequencies 1 to KEPT, odd ones first, in groups of
LANES: for each level LANES real parts, then LANES imaginary ones. The frequency 0 is the same at all turns.

As in ``_kernels.py``, each kernel has a slow, obvious twin in ``tests/reference.py``.
"""

import itertools
import math
from functools import lru_cache
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from radoncdt._kernels import kernel, part

LANES = 8  # frequencies, or turns, in one vector of float32
GROUPS = 2  # of odd frequencies, and as many of even ones
KEPT = 2 * LANES * GROUPS  # the highest frequency; with fewer, too many turns remain to be tried
ROUNDING = 1e-5  # of correlations in float32, as a share of the norms: some hundred terms, 6e-8 each
SLACK = 1e-9  # of limits, for maps that just keep them
TRIED = 16  # angles within a step, one more, where several limits have to be kept at once
TURNS = 8  # those that share cosines and sines: s, n + s, n − s and 2n − s, plain and mirrored


class Limits(NamedTuple):
    """Which maps are plausible; all infinite, or π/2 for the shear, if all are."""

    aspect: float
    """Largest ratio of the two scales."""
    shear: float
    """Largest angle, in radians, by which the images of the axes depart from being perpendicular."""
    scale: float
    """Largest change of size, the mean of the two scales: between 1/scale and scale."""


class Waves(NamedTuple):
    """What comparing needs of some descriptors, see above."""

    values: Any
    """(n, n_angles, n_levels)"""
    waves: Any
    """(n, …) float32, as packed"""
    norms: Any
    """(n, 2) float64: of the waves, and of what they leave out but for the frequency 0"""
    covariances: Any
    """(n, 3): xx, xy, yy"""


class Turns(NamedTuple):
    """Turns of the circle in the order in which correlations are computed; see `turns_of`."""

    table: Any
    codes: Any


def _vector(context, builder, array_type, array, index):
    """Pointer to the LANES numbers that begin at an index of a contiguous array of float32."""
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(ir.FloatType(), LANES)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _zeros(builder, count):
    """Vectors of sums, which the compiler keeps in registers."""
    vector = ir.VectorType(ir.FloatType(), LANES)
    sums = [cgutils.alloca_once(builder, vector) for _ in range(count)]
    for place in sums:
        builder.store(ir.Constant(vector, [0.0] * LANES), place)
    return sums


def _spread(builder, scalar):
    """A vector of LANES times the same number."""
    vector = ir.VectorType(ir.FloatType(), LANES)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _add_product(builder, place, a, b):
    total = builder.fadd(builder.load(place), builder.fmul(a, b, flags=("contract",)), flags=("contract",))
    builder.store(total, place)


@intrinsic
def _multiply(typing, x, y, first, second, levels, out, into, also):
    """Sums over the levels of re·re, im·im, re·im and im·re of two groups of frequencies of x and y, LANES of each."""

    def generate(context, builder, signature, args):
        x, y, first, second, levels, out, into, also = args
        sums = _zeros(builder, 8)  # eight sums at a time, for additions take a while
        with cgutils.for_range(builder, levels) as loop:
            step = builder.mul(loop.index, ir.Constant(loop.index.type, 2 * LANES))
            for g, start in enumerate((first, second)):
                parts = []
                for kind, array in ((signature.args[0], x), (signature.args[1], y)):
                    for offset in (0, LANES):
                        at = builder.add(builder.add(start, step), ir.Constant(step.type, offset))
                        parts.append(builder.load(_vector(context, builder, kind, array, at), align=4))
                a, b, c, d = parts
                for place, pair in zip(sums[4 * g :], ((a, c), (b, d), (a, d), (b, c))):
                    _add_product(builder, place, *pair)
        for k, place in enumerate(sums):
            at = builder.add((into, also)[k // 4], ir.Constant(into.type, k % 4 * LANES))
            builder.store(builder.load(place), _vector(context, builder, signature.args[5], out, at), align=4)
        return context.get_dummy_value()

    return types.void(x, y, types.intp, types.intp, types.intp, out, types.intp, types.intp), generate


@intrinsic
def _superpose(typing, products, table, first, out, into, stride):
    """Correlations at LANES turns s and all that share their cosines and sines, from the products of all frequencies.

    The table has, from `first` on, LANES cosines and LANES sines for each frequency, odd ones first. The TURNS results
    are `stride` apart.
    """

    def generate(context, builder, signature, args):
        products, table, first, out, into, stride = args
        data = context.make_array(signature.args[0])(context, builder, products).data

        sums = _zeros(builder, 8)  # of odd frequencies, of even ones
        for group, lane, parity in itertools.product(range(GROUPS), range(LANES), (0, 1)):
            group += parity * GROUPS
            row = (group * LANES + lane) * 2 * LANES
            cosines, sines = (
                builder.load(_vector(context, builder, signature.args[1], table, place), align=4)
                for place in (builder.add(first, ir.Constant(first.type, row + k)) for k in (0, LANES))
            )
            for k, wave in enumerate((cosines, cosines, sines, sines)):
                place = ir.Constant(first.type, (4 * group + k) * LANES + lane)
                factor = _spread(builder, builder.load(builder.gep(data, [place])))
                _add_product(builder, sums[4 * parity + k], factor, wave)
        aco, bdo, ado, bco, ace, bde, ade, bce = (builder.load(place) for place in sums)
        add, subtract = builder.fadd, builder.fsub
        plain = add(aco, bdo), subtract(bco, ado), add(ace, bde), subtract(bce, ade)
        mirrored = subtract(aco, bdo), builder.fneg(add(ado, bco)), subtract(ace, bde), builder.fneg(add(ade, bce))
        row = into
        for odd_cosines, odd_sines, even_cosines, even_sines in (plain, mirrored):
            # s, n + s, n − s, 2n − s: half the circle on, odd frequencies change sign
            for odd, even in (
                (add(odd_cosines, odd_sines), add(even_cosines, even_sines)),
                (subtract(odd_sines, odd_cosines), subtract(even_cosines, even_sines)),
            ):
                for result in (add(even, odd), subtract(even, odd)):
                    builder.store(result, _vector(context, builder, signature.args[3], out, row), align=4)
                    row = builder.add(row, stride)
        return context.get_dummy_value()

    return types.void(products, table, types.intp, out, types.intp, types.intp), generate


@intrinsic
def _at_least(typing, numbers, first, least):
    """Which of the LANES numbers from `first` on are not below `least`, a bit each."""

    def generate(context, builder, signature, args):
        numbers, first, least = args
        vector = builder.load(_vector(context, builder, signature.args[0], numbers, first), align=4)
        bits = builder.fcmp_ordered(">=", vector, _spread(builder, least))
        return builder.zext(builder.bitcast(bits, ir.IntType(LANES)), ir.IntType(64))

    return types.int64(numbers, types.intp, types.float32), generate


@lru_cache(maxsize=8)
def turns_of(n_angles: int) -> Turns:
    """Cosines and sines for `_superpose`, and what each correlation belongs to: s, 2n + s if mirrored, −1 for none."""
    half = n_angles // 2 + 1
    steps = np.minimum(np.arange(-(-half // LANES) * LANES), half - 1)
    frequencies = np.concatenate([np.arange(1, KEPT, 2), np.arange(2, KEPT + 1, 2)])
    phases = np.pi / n_angles * (frequencies[:, None] * steps.reshape(-1, 1, LANES) % (2 * n_angles))
    table = np.stack([np.cos(phases), np.sin(phases)], axis=-2).astype(np.float32)
    rows = np.stack([steps, n_angles + steps, n_angles - steps, 2 * n_angles - steps]) % (2 * n_angles)
    codes = np.concatenate([rows.reshape(-1), rows.reshape(-1) + 2 * n_angles])
    once = np.full(codes.size, -1)
    first = np.unique(codes, return_index=True)[1]
    once[first] = codes[first]
    return Turns(table.reshape(-1), once)


@numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "nnan", "nsz", "contract"})
def _largest(numbers, count):
    largest = numbers[0]
    for k in range(count):
        largest = max(largest, numbers[k])
    return largest


@numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _square_distance(circle, values, start, step, most):
    """Σ (values[k] − circle[start + k·step])² over half the circle, or anything larger than `most` if it is that."""
    n_rows = circle.shape[0]
    total = 0.0
    row = start
    for k in range(values.shape[0]):
        a, b = circle[row], values[k]
        some = values.dtype.type(0)
        for j in range(b.size):
            difference = a[j] - b[j]
            some += difference * difference
        total += some
        if total > most:
            return total
        row += step
        if row < 0:
            row += n_rows
        elif row >= n_rows:
            row -= n_rows
    return total


@part
def _open(values, circle):
    """The full circle from its half."""
    n, levels = values.shape
    circle[:n] = values
    for k in range(n):
        for j in range(levels):
            circle[n + k, j] = -values[k, levels - 1 - j]


@part
def _within(squares, mixed, limits, area, psi):
    """Whether the map of a rotation by ψ/2 is within the limits; see `_plausible`."""
    c, s = math.cos(psi), math.sin(psi)
    xx = squares[0, 0] + squares[0, 1] * c + squares[0, 2] * s
    yy = squares[1, 0] + squares[1, 1] * c + squares[1, 2] * s
    xy = mixed[0] + mixed[1] * c + mixed[2] * s
    stretched = xx + yy > (limits.aspect + 1 / limits.aspect) * area * (1 + SLACK)
    return not stretched and abs(xy) <= (math.sin(limits.shear) + SLACK) * math.sqrt(xx * yy)


@part
def _plausible(moving, fixed, limits, n_angles, out):
    """A plausible rotation within half a step of each of the n steps, then mirrored ones, `out` (2n,), NaN for none.

    Half a circle on it is the same again. The map is A = Σ_ν^{1/2} R Σ_μ^{-1/2}; AᵀA = Σ_μ^{-1/2} Rᵀ Σ_ν R Σ_μ^{-1/2}
    is linear in cosine and sine of twice the angle of R, ψ. The scales have the product |det A| = √(det Σ_ν/det Σ_μ),
    and their squares the sum tr AᵀA, which is least at one ψ and grows to both sides of it; so the aspect is decided
    exactly. Where the shear is limited, too, some more angles of a step are tried.
    """
    size, other_size = moving[0] + moving[2], fixed[0] + fixed[2]  # products of tiny numbers might vanish
    xx, xy, yy = moving[0] / size, moving[1] / size, moving[2] / size
    vxx, vxy, vyy = fixed[0] / other_size, fixed[1] / other_size, fixed[2] / other_size
    root = math.sqrt(xx * yy - xy * xy)
    area = math.sqrt(vxx * vyy - vxy * vxy) / root  # |det A|, but for the sizes
    change = math.sqrt(area * (other_size / size))
    out[:] = np.nan
    if change > limits.scale * (1 + SLACK) or change * limits.scale * (1 + SLACK) < 1:
        return
    scale = 1 / (root * math.sqrt(xx + yy + 2 * root))
    p, q, r = (yy + root) * scale, -xy * scale, (xx + root) * scale  # Σ_μ^{-1/2}
    middle, x, y = (vxx + vyy) / 2, (vxx - vyy) / 2, vxy
    half = np.pi / n_angles  # of a step of ψ
    squares, mixed = np.empty((2, 3)), np.empty(3)
    for mirrored in range(2):
        sign = -1.0 if mirrored else 1.0
        for k, (a, b, d) in enumerate(((middle, 0.0, middle), (x, sign * y, -x), (y, -sign * x, -y))):
            # Σ_μ^{-1/2} (a b; b d) Σ_μ^{-1/2}: of the constant, of the cosine, of the sine in Rᵀ Σ_ν R
            squares[0, k] = p * p * a + 2 * p * q * b + q * q * d
            squares[1, k] = q * q * a + 2 * q * r * b + r * r * d
            mixed[k] = p * q * a + (p * r + q * q) * b + q * r * d
        best = math.atan2(-(squares[0, 2] + squares[1, 2]), -(squares[0, 1] + squares[1, 1]))  # least tr AᵀA
        lean = math.atan2(mixed[2], mixed[1])  # largest shear; none a quarter of the circle away, but for the constant
        size_of_lean = math.hypot(mixed[1], mixed[2])
        away = math.acos(min(max(-mixed[0] / size_of_lean, -1.0), 1.0)) if size_of_lean > 0 else 0.0
        for step in range(n_angles):
            psi = 2 * np.pi * step / n_angles
            chosen = np.nan
            for goal in (best, lean + away, lean - away):
                offset = (goal - psi + np.pi) % (2 * np.pi) - np.pi
                nearest = psi + min(max(offset, -half), half)
                if _within(squares, mixed, limits, area, nearest):
                    chosen = nearest
                    break
                if limits.shear >= np.pi / 2:  # the least stretched is all that matters
                    break
            if np.isnan(chosen) and limits.shear < np.pi / 2:
                for k in range(TRIED + 1):
                    angle = psi + half * (2 * k / TRIED - 1)
                    if _within(squares, mixed, limits, area, angle):
                        chosen = angle
                        break
            out[mirrored * n_angles + step] = chosen / 2


@part
def _implausible(moving, fixed, limits, n_angles, codes, count, room, correlations):
    """Set the correlations of turns to −∞ that are not near a plausible one."""
    _plausible(moving, fixed, limits, n_angles, room)
    for k in range(count):
        code = codes[k]  # below 0: another place has the same turn
        if code < 0 or np.isnan(room[code % n_angles + (n_angles if code >= 2 * n_angles else 0)]):
            correlations[k] = -np.inf


@part
def _least_square(circle, x, i, y, j, turns, count, limited, limits, most, products, correlations, near):
    """Sum of squares, over half the circle, at the best turn that takes descriptor i of x to j of y.

    It is anything larger than `most` if it is that, and infinite if no turn is plausible.
    """
    n_angles, n_levels = y.values.shape[1], y.values.shape[2]
    halves = (n_levels + 1) // 2
    size = halves * 2 * LANES
    for odd in range(GROUPS):
        even = odd + GROUPS
        _multiply(x.waves[i], y.waves[j], odd * size, even * size, halves, products, odd * 4 * LANES, even * 4 * LANES)
    stride = correlations.size // TURNS
    for block in range(stride // LANES):
        _superpose(products, turns.table, block * 2 * LANES * KEPT, correlations, block * LANES, stride)
    if limited:
        _implausible(x.covariances[i], y.covariances[j], limits, n_angles, turns.codes, count, near, correlations)
    norm, rest = x.norms[i]
    other_norm, other_rest = y.norms[j]
    uncertain = rest * other_rest + ROUNDING * (1 + n_levels / 256) * norm * other_norm
    largest = _largest(correlations, count)
    if largest == -np.inf:
        return np.inf
    least = np.float32(largest - 2 * uncertain)
    best = np.inf
    for block in range(0, count, LANES):
        bits = _at_least(correlations, block, least)
        k = block
        while bits:
            turn = turns.codes[k]
            if bits & 1 and turn >= 0:
                if turn < 2 * n_angles:
                    start, step = (2 * n_angles - turn) % (2 * n_angles), 1
                else:
                    start, step = turn - 2 * n_angles, -1
                best = min(best, _square_distance(circle, y.values[j], start, step, min(best, most)))
            bits >>= 1
            k += 1
    return best


@part
def _room(n_angles):
    """Room for products, correlations, and plausible turns."""
    stride = -(-(n_angles // 2 + 1) // LANES) * LANES
    return np.empty(4 * KEPT, np.float32), np.empty(TURNS * stride, np.float32), np.empty(2 * n_angles)


@kernel
def least_distances(x, y, turns, reflections, limited, limits, ascending, rows, columns, distances):
    """Root mean square distances, at the best turns, of all descriptors of x in `rows` to those of y in `columns`.

    With `ascending`, only of pairs whose column is larger than the row.
    """
    n_angles, n_levels = y.values.shape[1], y.values.shape[2]
    circle = np.empty((2 * n_angles, n_levels), x.values.dtype)
    products, correlations, near = _room(n_angles)
    count = correlations.size if reflections else correlations.size // 2
    for i in range(rows[0], rows[1]):
        _open(x.values[i], circle)
        for j in range(max(columns[0], i + 1) if ascending else columns[0], columns[1]):
            square = _least_square(
                circle, x, i, y, j, turns, count, limited, limits, np.inf, products, correlations, near
            )
            distances[i, j] = math.sqrt(square / (n_angles * n_levels))


@kernel
def plausible_turns(moving, fixed, limits, n_angles):
    """An angle whose map is plausible within half a step of turn s, and, from 2n on, of mirrored ones; NaN for none."""
    near, angles = np.empty(2 * n_angles), np.empty(4 * n_angles)
    _plausible(moving, fixed, limits, n_angles, near)
    for code in range(4 * n_angles):
        half = code % (2 * n_angles) // n_angles * np.pi
        angles[code] = near[code % n_angles + (n_angles if code >= 2 * n_angles else 0)] + half
    return angles


@kernel
def within(x, i, y, turns, reflections, limited, limits, bounds, left_out, radius, distances):
    """Distances of descriptor i of x to those of y that may be within a radius, `distances` (n,); infinite for others.

    `bounds` are lower bounds of the distances.
    """
    n_angles, n_levels = y.values.shape[1], y.values.shape[2]
    circle = np.empty((2 * n_angles, n_levels), x.values.dtype)
    _open(x.values[i], circle)
    products, correlations, near = _room(n_angles)
    count = correlations.size if reflections else correlations.size // 2
    for j in range(bounds.size):
        distances[j] = np.inf
        if bounds[j] <= radius and j != left_out:
            square = _least_square(
                circle, x, i, y, j, turns, count, limited, limits, np.inf, products, correlations, near
            )
            distances[j] = math.sqrt(square / (n_angles * n_levels))


@kernel
def nearest(x, i, y, turns, reflections, limited, limits, bounds, order, left_out, distances, numbers):
    """Distances and numbers of the descriptors of y nearest to descriptor i of x, as many as there is room for.

    `bounds` are lower bounds of the distances, ascending in `order`. Equal distances are in the order of the numbers.
    What is not reached by a plausible turn, and number `left_out`, are not among them.
    """
    n_angles, n_levels = y.values.shape[1], y.values.shape[2]
    circle = np.empty((2 * n_angles, n_levels), x.values.dtype)
    _open(x.values[i], circle)
    products, correlations, near = _room(n_angles)
    count = correlations.size if reflections else correlations.size // 2
    found, room = 0, distances.size
    for j in order:
        farthest = distances[room - 1] if found == room else np.inf
        if bounds[j] > farthest:
            break
        if j == left_out:
            continue
        most = farthest * farthest * (n_angles * n_levels) * (1 + 1e-9)
        square = _least_square(circle, x, i, y, j, turns, count, limited, limits, most, products, correlations, near)
        distance = math.sqrt(square / (n_angles * n_levels))
        if not distance < np.inf or distance > farthest or (found == room and distance == farthest and j > numbers[-1]):
            continue
        place = found if found < room else room - 1
        while place > 0 and (
            distances[place - 1] > distance or (distances[place - 1] == distance and numbers[place - 1] > j)
        ):
            distances[place], numbers[place] = distances[place - 1], numbers[place - 1]
            place -= 1
        distances[place], numbers[place] = distance, j
        found = min(found + 1, room)
