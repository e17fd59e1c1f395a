"""The numba loops for images, nothing else; each has a slow, obvious twin in ``tests/reference.py``.

**Lines.** A pixel is a unit square. Its projection on (cos θ, sin θ), divided by the larger of the two in size, is
the trapezoid box(1) ∗ box(|q|) with a slope |q| ≤ 1. Along a *line* of pixels (a row where |cos θ| ≥ |sin θ|, else a
column) neighbours are one bin apart, so they all meet the bins alike and share three weights: the projection of a
line is a three-tap filter of its pixels, added at an offset, and from line to line the offset slides by q.

**Runs.** Lines are cut into blocks of eight bins, and blocks that no ink reaches are left out; what is left are runs of
blocks. So a drawing costs what its ink costs, a dense image has one run a line, and one loop serves both.

**Frames.** An image is first copied into a frame, with `ABOVE` rows of zeros before, `BEFORE` columns left and
`BEHIND` columns right of it, so that no later loop needs to look where a line ends.

All that a kernel calls is in one file because numba's cache on disk notices changes of this file alone. Kernels for
measures on the line are in ``_line_kernels.py``.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.caching import FunctionCache
from numba.extending import intrinsic

from radoncdt.measures import EMPTY, NEGATIVE, NOT_FINITE

BLOCK = 8  # bins of a block: one 256-bit vector of float32
GROUP = 4  # directions projected in one pass, so that pixels are loaded once for all of them
END = -1  # behind the runs of a line
WORD = 64  # pixels looked at together when looking for ink
STEP = 4  # bins looked at together when looking for a level
ABOVE, BEFORE, BEHIND = BLOCK, 2, WORD + BLOCK
TALL, SHORT, ROOM = 64, 32, 2**20  # lines in one sum, see `_height`; bins of all sums


class _Cache(FunctionCache):
    """A cache on disk that never stops the work: what it cannot read is compiled again, and begun anew."""

    def load_overload(self, *args: Any) -> Any:
        try:
            return super().load_overload(*args)
        except Exception:  # whatever a damaged file makes pickle say
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, *args: Any) -> None:
        with suppress(OSError):
            super().save_overload(*args)


def part(function: Callable[..., Any]) -> Any:
    """A loop that kernels are made of."""
    return numba.njit(nogil=True, error_model="numpy")(function)


def kernel(function: Callable[..., Any]) -> Any:
    """A loop that Python calls; compiled at the first call, and cached on disk where a folder can be written to."""
    compiled = part(function)
    with suppress(RuntimeError):  # numba found no such folder
        compiled._cache = _Cache(function)
    return compiled


# ---------------------------------------------------------------- vector operations that numba has no words for


def _vector(context, builder, array_type, array, index, lanes):
    """Pointer to the vector that begins at an index of a contiguous array, and its alignment."""
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(context.get_data_type(array_type.dtype), lanes)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer()), array_type.dtype.bitwidth // 8


def _ink(builder, vector):
    """One bit a lane: is it different from zero?"""
    lanes = vector.type.count
    differs = builder.fcmp_unordered("!=", vector, ir.Constant(vector.type, [0.0] * lanes))
    return builder.bitcast(differs, ir.IntType(lanes))


def _lanes(order):
    return ir.Constant(ir.VectorType(ir.IntType(32), len(order)), order)


@intrinsic
def _add_filtered(typing, sums, starts, pixels, line, first, last, weights):
    """sums[starts[g] + k] += the filtered line at k, for a run of bins first ≤ k < last and all g of a group.

    Filtered is w₀ · pixels[line + k] + w₁ · pixels[line + k − 1] + w₂ · pixels[line + k − 2], with w₀ = weights[2g] and
    w₂ = weights[2g + 1]. The three sum to 1, so it is the middle pixel and shares of the differences from it: two
    products, as many weights in registers, and even greys without any rounding.
    """

    def generate(context, builder, signature, args):
        sums, starts, pixels, line, first, last, weights = args

        def load(array_type, array, index):
            pointer, align = _vector(context, builder, array_type, array, index, BLOCK)
            return builder.load(pointer, align=align), pointer, align

        def spread(scalar):
            one = ir.Constant(ir.VectorType(scalar.type, BLOCK), ir.Undefined)
            one = builder.insert_element(one, scalar, ir.Constant(ir.IntType(32), 0))
            return builder.shuffle_vector(one, one, _lanes([0] * BLOCK))

        def add_product(total, one, other):
            return builder.fadd(total, builder.fmul(one, other, flags=("contract",)), flags=("contract",))

        shares = [spread(builder.extract_value(weights, i)) for i in range(2 * GROUP)]
        step = ir.Constant(first.type, BLOCK)
        with cgutils.for_range_slice(builder, first, last, step, first.type) as (k, _):
            places = (builder.sub(builder.add(line, k), ir.Constant(k.type, i)) for i in range(3))
            right, middle, left = (load(signature.args[2], pixels, place)[0] for place in places)
            right, left = builder.fsub(right, middle), builder.fsub(left, middle)
            results = []
            for g in range(GROUP):
                at = builder.add(builder.extract_value(starts, g), k)
                total, pointer, align = load(signature.args[0], sums, at)
                filtered = add_product(add_product(middle, right, shares[2 * g]), left, shares[2 * g + 1])
                results.append((builder.fadd(total, filtered), pointer))
            for total, pointer in results:  # after all loads: a group's sums do not overlap, which LLVM cannot know
                builder.store(total, pointer, align=align)
        return context.get_dummy_value()

    return types.void(sums, starts, pixels, types.intp, types.intp, types.intp, weights), generate


@intrinsic
def _ink_from(typing, pixels, first):
    """Which of the WORD pixels from `first` on are not zero, a bit each."""

    def generate(context, builder, signature, args):
        pointer, align = _vector(context, builder, signature.args[0], *args, WORD)
        return _ink(builder, builder.load(pointer, align=align))

    return types.uint64(pixels, types.intp), generate


@intrinsic
def _lowest(typing, bits):
    """Place of the lowest bit that is set."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def _transpose(typing, source, first, pitch, target, into, step):
    """target[into + j·step + i] = source[first + i·pitch + j] for i, j < BLOCK."""

    def generate(context, builder, signature, args):
        source, first, pitch, target, into, step = args

        def line(array_type, array, start, stride, i):
            index = builder.add(start, builder.mul(stride, ir.Constant(stride.type, i)))
            return _vector(context, builder, array_type, array, index, BLOCK)

        rows = []
        for i in range(BLOCK):
            pointer, align = line(signature.args[0], source, first, pitch, i)
            rows.append(builder.load(pointer, align=align))
        ink = _ink(builder, rows[0])
        for row in rows[1:]:
            ink = builder.or_(ink, _ink(builder, row))

        def store(rows):
            for j, row in enumerate(rows):
                pointer, align = line(signature.args[3], target, into, step, j)
                builder.store(row, pointer, align=align)

        with builder.if_else(builder.icmp_unsigned("!=", ink, ir.Constant(ink.type, 0))) as (some, none):
            with some:
                half = BLOCK // 2
                zipped = [_lanes([start + k // 2 + k % 2 * BLOCK for k in range(BLOCK)]) for start in (0, half)]
                turned = rows
                for _ in range(3):  # zipping the first half with the second turns the six bits of (i, j) by one place
                    turned = [
                        builder.shuffle_vector(turned[i], turned[i + half], z) for i in range(half) for z in zipped
                    ]
                store(turned)
            with none:
                store(rows)
        return context.get_dummy_value()

    return types.void(source, types.intp, types.intp, target, types.intp, types.intp), generate


# ---------------------------------------------------------------- from a frame to lines of ink


class Lines(NamedTuple):
    """Parallel lines of pixels: pixel k of line r is ``pixels[start + r·pitch + k]``.

    `runs` lists the first bin of each run of blocks and the one behind it, with an END behind each line.
    """

    pixels: Any
    start: int
    pitch: int
    n_lines: int
    length: int
    runs: Any


@part
def _frame(height, width, last):
    """A frame for images of this shape, as integers; zero but for the place of the image. The last one if it fits."""
    shape = ABOVE + height, BEFORE + width + BEHIND
    if last.shape == shape:
        return last
    frame = np.empty(shape, last.dtype)
    frame[:ABOVE] = 0
    frame[:, :BEFORE] = 0
    frame[:, BEFORE + width :] = 0
    return frame


@part
def _scan(bits, into, frame, box):
    """Copy an image into its frame and find the box of its ink there, rows box[0]:box[1] and columns box[2]:box[3].

    Returns the status and the largest |pixel|. The image comes as integers, and `into` is the frame as such: without
    the sign they order like the absolute values, and comparing them vectorises.
    """
    integer = bits.dtype.type  # what numba makes of int32 & int32 is int64, with half as many in a vector
    unsigned = integer(np.iinfo(bits.dtype).max)
    columns = np.zeros(bits.shape[1], bits.dtype)
    largest = np.zeros(1, bits.dtype)
    status = 0
    box[0], box[1] = frame.shape[0], 0
    for i in range(bits.shape[0]):
        line = bits[i]
        copy = into[ABOVE + i, BEFORE : BEFORE + line.size]
        top = bottom = integer(0)
        for k in range(line.size):
            size = integer(line[k] & unsigned)
            copy[k] = line[k]
            columns[k] |= size
            top = max(top, size)
            bottom = min(bottom, line[k])
        if top > 0:
            box[0] = min(box[0], ABOVE + i)
            box[1] = ABOVE + i + 1
            largest[0] = max(largest[0], top)
        if bottom < 0:  # negative, or −0.0
            for k in range(line.size):
                if line[k] < 0 and line[k] & unsigned:
                    status |= NEGATIVE
    box[2], box[3] = frame.shape[1], 0
    for k in range(columns.size):
        if columns[k] != 0:
            box[2] = min(box[2], BEFORE + k)
            box[3] = BEFORE + k + 1
    size = largest.view(frame.dtype)[0]
    if not np.isfinite(size):
        status |= NOT_FINITE
    if size == 0:
        status |= EMPTY
        box[0], box[1], box[2], box[3] = ABOVE, frame.shape[0], BEFORE, frame.shape[1] - BEHIND
    return status, size


@part
def _load(pixels, bits, start, shape, last, box):
    """Copy the image that begins at `start` into a frame.

    Returns the frame, as integers and as what it is, the status, and the largest |pixel|.
    """
    height, width = shape
    into = _frame(height, width, last)
    frame = into.view(pixels.dtype)
    status, size = _scan(bits[start : start + height * width].reshape((height, width)), into, frame, box)
    return into, frame, status, size


@part
def _rescale(frame, size):
    """Multiply by a power of two, which is exact, where sums could overflow or vanish; the exponent taken out."""
    exponent = math.frexp(size)[1]
    if -64 < exponent < 64:
        return 0
    for i in range(frame.shape[0]):
        for k in range(frame.shape[1]):
            frame[i, k] = math.ldexp(frame[i, k], -exponent)
    return exponent


@part
def _room_for_runs(count, length):
    return np.empty(count * (2 * ((length + 2 + BLOCK - 1) // BLOCK) + 1), np.int32)


@part
def _cut(pixels, start, pitch, count, length, runs, n):
    """Cut lines into runs of blocks that ink reaches: pixel k reaches the bins k, k + 1 and k + 2.

    Writes from runs[n] on, and returns where it ended.
    """
    for r in range(count):
        line = start + r * pitch
        done = -2  # of the pixels before it all bins are in runs
        for first in range(0, length, WORD):
            ink = _ink_from(pixels, line + first)
            while done < first + WORD:
                known = np.uint64(max(done - first, 0))
                ink = ink >> known << known
                if ink == 0:
                    break
                k = max(first + _lowest(ink), done + 2)
                if done < 0 or k > done + 2:
                    runs[n] = k
                    n += 2
                while pixels[line + k + BLOCK] != 0:  # one after the other where all is ink
                    k += BLOCK
                runs[n - 1] = k + BLOCK
                done = k + BLOCK - 2
        runs[n] = END
        n += 1
    return n


@part
def _rows(frame, box):
    """The rows of the box, from the top down; pixels from left to right."""
    height, width = box[1] - box[0], box[3] - box[2]
    pixels, pitch = frame.reshape(-1), frame.shape[1]
    start = box[0] * pitch + box[2]
    runs = _room_for_runs(height, width)
    _cut(pixels, start, pitch, height, width, runs, 0)
    return Lines(pixels, start, pitch, height, width, runs)


@part
def _columns(frame, box):
    """The columns of the box, from the left; pixels from the bottom to the top."""
    height, width = box[1] - box[0], box[3] - box[2]
    pitch, step = frame.shape[1], height + BEFORE + BEHIND
    source = frame.reshape(-1)
    target = np.empty((width + BLOCK) * step, frame.dtype)
    target[:BEFORE] = 0
    runs, n = _room_for_runs(width, height), 0
    for j in range(0, width, BLOCK):
        first, into = (box[1] - 1) * pitch + box[2] + j, BEFORE + j * step
        for i in range(0, height, BLOCK):
            _transpose(source, first - i * pitch, -pitch, target, into + i, step)
        for i in range(BLOCK):  # the zeros behind a line are also those before the next
            target[into + i * step + height : into + (i + 1) * step] = 0
        n = _cut(target, into, step, min(BLOCK, width - j), height, runs, n)
    return Lines(target, BEFORE, step, width, height, runs)


@numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _row_sums(rows, mass, lean, columns):
    """Mass and first moment of every row and mass of every column, over the runs."""
    n = 0
    for r in range(rows.n_lines):
        line = rows.start + r * rows.pitch
        while rows.runs[n] != END:
            left, right = rows.runs[n], rows.runs[n + 1]
            n += 2
            pixels = rows.pixels[line + left : line + right]
            column = columns[left:right]
            total = 0.0
            moment = 0.0
            for k in range(pixels.size):
                value = np.float64(pixels[k])
                column[k] += value
                total += value
                moment += value * k
            mass[r] += total
            lean[r] += moment + total * left
        n += 1


@part
def _moments(rows, out):
    """Mean (x, y) and covariance (xx, xy, yy), origin at the centre of the box; centred sums in float64."""
    mass = np.zeros(rows.n_lines)
    lean = np.zeros(rows.n_lines)
    columns = np.zeros(rows.length + 2 + BLOCK)
    _row_sums(rows, mass, lean, columns)
    total = np.sum(mass)
    row = 0.0
    column = 0.0
    for r in range(rows.n_lines):
        row += mass[r] * r
    for k in range(rows.length):
        column += columns[k] * k
    row /= total
    column /= total
    xx = 0.0
    xy = 0.0
    yy = 0.0
    for k in range(rows.length):
        xx += columns[k] * (k - column) ** 2
    for r in range(rows.n_lines):
        yy += mass[r] * (r - row) ** 2
        xy -= (lean[r] - column * mass[r]) * (r - row)
    out[0] = column - 0.5 * (rows.length - 1)
    out[1] = 0.5 * (rows.n_lines - 1) - row
    out[2] = xx / total + 1 / 12  # a unit square has variance 1/12
    out[3] = xy / total
    out[4] = yy / total + 1 / 12


MOST_STEPS = 1000
TOLERANCE = 1e-12
"""Of robust moments, in standard deviations."""


@part
def _gather(frame, box):
    """Places (x, y), origin at the centre of the box, and values of the pixels with ink: (3, n)."""
    height, width = box[1] - box[0], box[3] - box[2]
    ink = np.empty((3, height * width))
    n = 0
    for r in range(height):
        for k in range(width):
            value = np.float64(frame[box[0] + r, box[2] + k])
            if value != 0:
                ink[0, n] = k - 0.5 * (width - 1)
                ink[1, n] = 0.5 * (height - 1) - r
                ink[2, n] = value
                n += 1
    return ink[:, :n]


@part
def student_moments(ink, nu, extent, moments):
    """Location and scatter of a Student t distribution with ν degrees of freedom, fitted to points of given masses.

    `ink` has rows x, y, mass; each point stands for a square of variance `extent` in x and y. `moments`, x, y, xx, xy,
    yy, are those to begin with, and are replaced. Each step weights a point by (ν + 2)/(ν + q), q its expected squared
    Mahalanobis distance, and takes weighted moments, the scatter over the sum of the weights, which leads to the same
    maximum of the likelihood in fewer steps than over the mass. Returns whether it converged.
    """
    for _ in range(MOST_STEPS):
        mx, my, xx, xy, yy = moments
        determinant = xx * yy - xy * xy
        if not determinant > 1e-14 * (xx + yy) ** 2:
            return False
        a, b, d = yy / determinant, -xy / determinant, xx / determinant
        total = sx = sy = sxx = sxy = syy = 0.0
        for i in range(ink.shape[1]):
            x, y = ink[0, i] - mx, ink[1, i] - my
            weight = ink[2, i] * (nu + 2) / (nu + a * x * x + 2 * b * x * y + d * y * y + extent * (a + d))
            total += weight
            sx += weight * x
            sy += weight * y
            sxx += weight * x * x
            sxy += weight * x * y
            syy += weight * y * y
        sx, sy = sx / total, sy / total
        nxx, nxy, nyy = sxx / total - sx * sx + extent, sxy / total - sx * sy, syy / total - sy * sy + extent
        moments[0], moments[1], moments[2], moments[3], moments[4] = mx + sx, my + sy, nxx, nxy, nyy
        moved = a * sx * sx + 2 * b * sx * sy + d * sy * sy
        # how far Σ⁻¹ times the new Σ is from 1
        changed = max(
            abs(a * nxx + b * nxy - 1), abs(b * nxy + d * nyy - 1), abs(a * nxy + b * nyy), abs(b * nxx + d * nxy)
        )
        if moved < TOLERANCE**2 and changed < TOLERANCE:
            return True
    return False


@kernel
def cloud_student_moments(ink, nu, moments):
    """`student_moments` of points, for Python."""
    return student_moments(ink, nu, 0.0, moments)


# ---------------------------------------------------------------- from lines to projections


class Sweep(NamedTuple):
    """Directions as the lines see them, see `directions.Directions`.

    `by_rows` and `by_columns` list which directions take which lines. `along` is the signed width of a bin, `slope` the
    bins that the projection slides from one line to the next.
    """

    cosine: Any
    sine: Any
    along: Any
    slope: Any
    by_rows: Any
    by_columns: Any


@kernel
def sweep_of(cosine, sine):
    """Directions as the lines see them.

    A direction goes along the rows of an image or its columns, whichever is nearer. On the diagonals both are right;
    one diagonal each, so that neither rounding nor the opposite direction changes the answer.
    """
    n = cosine.size
    along, slope = np.empty(n), np.empty(n)
    by_rows, by_columns = np.empty(n, np.int64), np.empty(n, np.int64)
    n_rows, n_columns = 0, 0
    for w in range(n):
        c, s = cosine[w], sine[w]
        if abs(c) - abs(s) > 1e-12 or (abs(abs(c) - abs(s)) <= 1e-12 and c * s > 0):
            # rows run from the top down, so one row further y is smaller by one
            along[w], across = c, -s
            by_rows[n_rows] = w
            n_rows += 1
        else:  # columns run from left to right
            along[w], across = s, c
            by_columns[n_columns] = w
            n_columns += 1
        slope[w] = min(max(across / along[w], -1.0), 1.0)
    return Sweep(cosine, sine, along, slope, by_rows[:n_rows], by_columns[:n_columns])


@part
def _whitened(sweep, xx, xy, yy):
    """The directions Σ^{-1/2}η, of length 1, for directions η."""
    root = math.sqrt(xx * yy - xy * xy)  # of the determinant; Σ^{1/2} is (Σ + √det) over √(trace + 2√det)
    a, b, d = xx + root, xy, yy + root
    n = sweep.cosine.size
    cosine, sine = np.empty(n), np.empty(n)
    for w in range(n):  # the inverse of (a b; b d), up to a factor
        c = d * sweep.cosine[w] - b * sweep.sine[w]
        s = a * sweep.sine[w] - b * sweep.cosine[w]
        length = math.hypot(c, s)
        cosine[w], sine[w] = c / length, s / length
    return sweep_of(cosine, sine)


@part
def _taps(slope, start, lead, depth, n_bins, starts, weights):
    """First bin and weights w₀ and w₂ of every line: the masses of the trapezoid box(1) ∗ box(|q|) in three bins.

    With 0 ≤ z < 1 the distance from the left end of the trapezoid to the next bin edge, they are

        w₂ = max(|q| − z, 0)² / 2|q|,    w₀ = z − |q|/2 + w₂,    w₁ = 1 − w₀ − w₂.

    So along rows and columns, where q = 0, w₁ is 1, and nothing is rounded.

    `start` + `lead` is the position, in bins, of the left edge of pixel 0 of the middle line. There are `depth` lists
    of `n_bins` bins: the lines of a band take turns with two of them, the next band has the next two.
    """
    count = starts.size
    real = weights.dtype.type
    zero = real(0)
    width = real(abs(slope))
    half = real(0.5 * abs(slope))
    curvature = real(0.5 / abs(slope) if abs(slope) > 1e-30 else 0.0)  # below, a line falls into one bin or two
    middle = 0.5 * (count - 1)
    left_of_middle = start - 0.5 * abs(slope)
    bands = (depth // 2) / count
    w0, w2 = weights[0], weights[1]
    for r in range(count):
        left = slope * (np.float64(np.int32(r)) - middle) + left_of_middle
        begin = np.ceil(left) - 1.0
        turn = (np.int32(r) & np.int32(1)) + np.int32(2) * np.int32(np.float64(np.int32(r)) * bands)
        starts[r] = np.int32(begin) + np.int32(lead) + turn * np.int32(n_bins)
        z = real(1.0 - (left - begin))
        beyond = width - z
        beyond = beyond if beyond > zero else zero
        third = beyond * beyond * curvature
        first = z - half + third
        w0[r] = first if first > zero else zero
        w2[r] = third


class Workspace(NamedTuple):
    """Room for the projections of a group of directions.

    Direction g of the group has `n_bins[g]` bins from ``sums[g * stride]`` on, the first `lead[g]` of them before the
    bin that pixel 0 of a line falls into when the slope is 0. Nothing that concerns a direction depends on the rest
    of its group.
    """

    sums: Any
    stride: int
    n_bins: Any
    lead: Any
    depth: Any
    spare: Any
    starts: Any
    weights: Any


@part
def _most_bins(lines):
    """Bins of the steepest projection."""
    return lines.length + lines.n_lines + 5 + BLOCK


@part
def _depth(n_lines, height, n_bins, room):
    """How many lists of `n_bins` bins the lines take turns with, a power of two; they are added up afterwards.

    As many as leave `height` lines to each, if there is room. Two at least, so that a line need not wait for the sums
    of the one before.
    """
    depth = 2
    while depth * height < n_lines and 2 * depth * n_bins <= room:
        depth *= 2
    return depth


@part
def _height(slope):
    """How many lines to sum in one list.

    A float32 sum of n equal terms can be wrong by n · 3e-8, for they round alike. Terms are equal inside a shape of an
    even grey, and at its edges, too, where all lines meet the bins alike: where the slope is close to 0 or ±1.
    """
    return SHORT if min(abs(slope), 1 - abs(slope)) < 1 / 32 else TALL


@part
def _workspace(lines):
    stride = _depth(lines.n_lines, SHORT, 0, 0) * _most_bins(lines)
    stride = min(stride, max(ROOM, 2 * _most_bins(lines)))
    real = lines.pixels.dtype
    return Workspace(
        np.empty(GROUP * stride, real),
        stride,
        np.zeros(GROUP, np.int64),
        np.zeros(GROUP, np.int64),
        np.zeros(GROUP, np.int64),
        np.empty(_most_bins(lines), real),
        np.empty((GROUP, lines.n_lines), np.int32),
        np.empty((GROUP, 2, lines.n_lines), real),
    )


@part
def _add_lines(lines, starts, weights, sums):
    """Add the filtered lines to the sums of a group."""
    b0, b1, b2, b3 = starts[0], starts[1], starts[2], starts[3]
    u0, u2 = weights[0, 0], weights[0, 1]
    v0, v2 = weights[1, 0], weights[1, 1]
    w0, w2 = weights[2, 0], weights[2, 1]
    x0, x2 = weights[3, 0], weights[3, 1]
    n = 0
    for r in range(lines.n_lines):
        line = lines.start + r * lines.pitch
        group = np.int64(b0[r]), np.int64(b1[r]), np.int64(b2[r]), np.int64(b3[r])
        taps = u0[r], u2[r], v0[r], v2[r], w0[r], w2[r], x0[r], x2[r]
        while lines.runs[n] != END:
            _add_filtered(sums, group, lines.pixels, line, lines.runs[n], lines.runs[n + 1], taps)
            n += 2
        n += 1


@part
def _project(lines, sweep, members, d, work):
    """Project on the directions members[d : d + GROUP], masses in ascending order.

    A group that is not full is filled up with its last direction.
    """
    for g in range(GROUP):
        slope = sweep.slope[members[min(d + g, members.size - 1)]]
        lead = np.int64(math.ceil(0.5 * abs(slope) * lines.n_lines)) + 1
        n_bins = lines.length + 2 * lead + 2 + BLOCK
        depth = _depth(lines.n_lines, _height(slope), n_bins, work.stride)
        work.lead[g], work.n_bins[g], work.depth[g] = lead, n_bins, depth
        work.sums[g * work.stride :][: depth * n_bins] = 0
        _taps(slope, 0.0, g * work.stride + lead, depth, n_bins, work.starts[g], work.weights[g])
    _add_lines(lines, work.starts, work.weights, work.sums)
    for g in range(GROUP):
        n_bins = work.n_bins[g]
        lists = work.sums[g * work.stride :]
        half = work.depth[g] // 2 * n_bins
        while half >= n_bins:  # the second half of the lists onto the first, until one is left
            other = lists[half:]
            for b in range(half):
                lists[b] += other[b]
            half //= 2
        masses = lists[:n_bins]
        if sweep.along[members[min(d + g, members.size - 1)]] < 0:
            spare = work.spare[:n_bins]
            spare[:] = masses
            for b in range(n_bins):
                masses[b] = spare[n_bins - 1 - b]


@part
def _cumulate(work, out):
    """Cumulative sums of a group's masses in float64; the chains of additions run side by side."""
    m0, m1, m2, m3 = work.sums, work.sums[work.stride :], work.sums[2 * work.stride :], work.sums[3 * work.stride :]
    c0, c1, c2, c3 = out[0], out[1], out[2], out[3]
    t0 = t1 = t2 = t3 = 0.0
    c0[0] = c1[0] = c2[0] = c3[0] = 0.0
    for b in range(work.n_bins.max()):
        t0 += m0[b]
        t1 += m1[b]
        t2 += m2[b]
        t3 += m3[b]
        c0[b + 1] = t0
        c1[b + 1] = t1
        c2[b + 1] = t2
        c3[b + 1] = t3


@part
def _search_room(n_bins, n_levels):
    """Room for `_quantiles` to work in."""
    return (
        np.empty(n_levels + 1, np.int32),
        np.empty(n_bins // STEP + 1, np.int32),
        np.empty(n_levels),
        np.empty(n_levels),
    )


@part
def _quantiles(cumulated, n_bins, levels, room, out):
    """Where the cumulated masses first exceed each of the ascending levels, in bins: inf{s : F(s) > t}.

    Levels are fractions of the whole; F is linear inside a bin. At t = 1 it is the end of the last bin with mass.
    `cumulated` has STEP more places than edges.

    Searching bin by bin stumbles over unpredictable branches. Instead every STEP-th edge marks, as if the levels were
    equispaced, the first level that is not below it; the last edge marked up to a level begins its bins, and of those
    the edges not above the level are counted. What rounding or other levels make wrong in this is put right by
    comparisons that are hardly ever true.
    """
    first, nearest, below, above = room
    n = levels.size
    last = n_bins - 1
    total = cumulated[n_bins]
    while last > 0 and cumulated[last] == total:
        last -= 1
    cumulated[last + 2 : last + 2 + STEP] = np.inf
    span = levels[n - 1] - levels[0]
    scale = (n - 1) / (span * total) if span > 0 else 0.0
    offset = levels[0] * total * scale
    for m in range(last // STEP + 1):
        mark = np.ceil(cumulated[STEP * m] * scale - offset)
        mark = mark if mark > 0 else 0.0
        nearest[m] = np.int32(mark if mark < n else n)
    first[: n + 1] = 0
    for m in range(last // STEP + 1):
        first[np.uint32(nearest[m])] = STEP * m
    begin = 0
    for k in range(n):
        target = levels[k] * total
        begin = max(begin, first[k])
        b = begin
        for j in range(1, STEP):
            b += cumulated[begin + j] <= target
        b = min(b, last)
        while b < last and cumulated[b + 1] <= target:
            b += 1
        while b > 0 and cumulated[b] > target:
            b -= 1
        below[k] = cumulated[b]
        above[k] = cumulated[b + 1]
        out[k] = b
    for k in range(n):
        part = (levels[k] * total - below[k]) / (above[k] - below[k])
        part = part if part > 0 else 0.0
        out[k] += part if part < 1 else 1.0


# ---------------------------------------------------------------- what Python calls
#
# Images come one after the other in `pixels`, row by row, with the same bits as integers, and their `shapes` (n, 2).


@part
def _box_centre(box, shape):
    """Where the centre of a box of a frame is in the coordinates of the image."""
    return 0.5 * (box[2] + box[3] - 2 * BEFORE - shape[1]), 0.5 * (shape[0] + 2 * ABOVE - box[0] - box[1])


@kernel
def image_moments(pixels, bits, shapes, out, status):
    """Mean (x, y) and covariance (xx, xy, yy) of every image, `out` (n, 5)."""
    into, start = np.empty((0, 0), bits.dtype), 0
    box = np.empty(4, np.int64)
    for n in range(shapes.shape[0]):
        into, frame, status[n], size = _load(pixels, bits, start, shapes[n], into, box)
        start += shapes[n, 0] * shapes[n, 1]
        if status[n] == 0:
            _rescale(frame, size)
            _moments(_rows(frame, box), out[n])
            x, y = _box_centre(box, shapes[n])
            out[n, 0] += x
            out[n, 1] += y


@kernel
def image_masses(pixels, bits, shapes, sweep, out, origins, status):
    """Masses of the strips, `out` (n, directions, bins), and the position, in bins, of the centre of the image.

    In the grid of a box, `length` bins are those of the pixels of a line; they begin (bins − length) // 2 bins in.
    """
    into, start = np.empty((0, 0), bits.dtype), 0
    box = np.empty(4, np.int64)
    n_bins = out.shape[2]
    for n in range(shapes.shape[0]):
        into, frame, status[n], size = _load(pixels, bits, start, shapes[n], into, box)
        start += shapes[n, 0] * shapes[n, 1]
        if status[n] & NOT_FINITE:
            continue
        exponent = 0 if status[n] & EMPTY else _rescale(frame, size)
        x, y = _box_centre(box, shapes[n])
        out[n] = 0
        for lines, members in (
            (_rows(frame, box), sweep.by_rows),
            (_columns(frame, box), sweep.by_columns),
        ):
            work = _workspace(lines)
            before = (n_bins - lines.length) // 2
            for d in range(0, members.size, GROUP):
                _project(lines, sweep, members, d, work)
                for g in range(min(GROUP, members.size - d)):
                    w = members[d + g]
                    masses = work.sums[g * work.stride :][: work.n_bins[g]]
                    origin = before + 0.5 * lines.length
                    shift = before - work.lead[g]
                    if sweep.along[w] < 0:  # mirrored: the bins before and behind changed places
                        origin = n_bins - origin
                        shift = n_bins - masses.size - shift
                    origins[n, w] = origin - (sweep.cosine[w] * x + sweep.sine[w] * y) / abs(sweep.along[w])
                    for b in range(max(0, -shift), min(masses.size, n_bins - shift)):
                        out[n, w, b + shift] = masses[b] if exponent == 0 else math.ldexp(masses[b], exponent)


@kernel
def image_quantiles(pixels, bits, shapes, directions, levels, normalise, whiten, nu, extremes, out, moments, status):
    """Quantiles of all projections, `out` (n, directions, levels): normalised, or in pixels from the image's centre.

    With `whiten`, the directions are those of the measure after whitening, see `_whitened`. With ν > 0, mean and
    covariance are the robust ones of `student_moments`. `moments` (n, 5) gets those that it was normalised by.

    With `extremes`, `out` (n, 2, levels) gets but the largest and the smallest over the directions and their opposites;
    the levels must then be symmetric. Returns whether any image has a status other than 0, and
    whether robust moments of any did not converge.
    """
    bad = unsettled = False
    into, start = np.empty((0, 0), bits.dtype), 0
    box = np.empty(4, np.int64)
    row = np.empty(levels.size)
    for n in range(shapes.shape[0]):
        into, frame, status[n], size = _load(pixels, bits, start, shapes[n], into, box)
        start += shapes[n, 0] * shapes[n, 1]
        if status[n] != 0:
            bad = True
            continue
        if extremes:
            out[n, 0], out[n, 1] = -np.inf, np.inf
        _rescale(frame, size)
        rows = _rows(frame, box)
        if normalise:
            _moments(rows, moments[n])
            if nu > 0 and not student_moments(_gather(frame, box), nu, 1 / 12, moments[n]):
                unsettled = True
        mx, my, xx, xy, yy = moments[n]
        sweep = _whitened(directions, xx, xy, yy) if whiten else directions
        x, y = _box_centre(box, shapes[n])
        moments[n, 0] += x
        moments[n, 1] += y
        for lines, members in ((rows, sweep.by_rows), (_columns(frame, box), sweep.by_columns)):
            work = _workspace(lines)
            cumulated = np.empty((GROUP, _most_bins(lines) + 1 + STEP))
            room = _search_room(_most_bins(lines), levels.size)
            for d in range(0, members.size, GROUP):
                _project(lines, sweep, members, d, work)
                _cumulate(work, cumulated)
                for g in range(min(GROUP, members.size - d)):
                    w = members[d + g]
                    c, s, width = sweep.cosine[w], sweep.sine[w], abs(sweep.along[w])
                    values = row if extremes else out[n, w]
                    _quantiles(cumulated[g], work.n_bins[g], levels, room, values)
                    origin = work.lead[g] + 0.5 * lines.length
                    if sweep.along[w] < 0:
                        origin = work.n_bins[g] - origin
                    if normalise:
                        mean = c * mx + s * my
                        scale = 1 / math.sqrt(c * c * xx + 2 * c * s * xy + s * s * yy)
                        for k in range(values.size):
                            values[k] = (width * (values[k] - origin) - mean) * scale
                    else:
                        for k in range(values.size):
                            values[k] = width * (values[k] - origin) + (c * x + s * y)
                    if extremes:
                        largest, smallest = out[n, 0], out[n, 1]
                        for k in range(values.size):
                            largest[k] = max(largest[k], values[k])
                            smallest[k] = min(smallest[k], values[k])
        if extremes:  # the opposite direction has −N(1 − t)
            for k in range(levels.size):
                out[n, 0, k] = max(out[n, 0, k], -out[n, 1, levels.size - 1 - k])
            for k in range(levels.size):
                out[n, 1, k] = -out[n, 0, levels.size - 1 - k]
    return bad, unsettled


@kernel
def bin_quantiles(masses, levels, out):
    """Quantiles of every row of `masses` (rows, bins), in bins."""
    cumulated = np.zeros(masses.shape[1] + 1 + STEP)
    room = _search_room(masses.shape[1], levels.size)
    for n in range(masses.shape[0]):
        total = 0.0
        for b in range(masses.shape[1]):
            total += masses[n, b]
            cumulated[b + 1] = total
        _quantiles(cumulated, masses.shape[1], levels, room, out[n])


@kernel
def back_project(values, centres, sweep, image):
    """Add the adjoint of the projections to an image; `centres` are the positions, in bins, of its centre."""
    height, width = image.shape
    n_bins = values.shape[1]
    turned = np.zeros((width, height), image.dtype)  # columns from the bottom to the top
    for pixels, members in ((image, sweep.by_rows), (turned, sweep.by_columns)):
        count, length = pixels.shape
        starts = np.empty(count, np.int32)
        weights = np.empty((2, count), image.dtype)
        padded = np.zeros(n_bins + 2 * (length + 2), image.dtype)
        for w in members:
            centre = centres[w]
            if sweep.along[w] < 0:
                centre = n_bins - centre
                padded[length + 2 : length + 2 + n_bins] = values[w, ::-1]
            else:
                padded[length + 2 : length + 2 + n_bins] = values[w]
            _taps(sweep.slope[w], centre - 0.5 * length, 0, 1, 0, starts, weights)
            for r in range(count):
                start = starts[r] + length + 2
                if 0 <= start <= n_bins + length + 2:
                    line = pixels[r]
                    v0, v1, v2 = padded[start:], padded[start + 1 :], padded[start + 2 :]
                    w0, w2 = weights[0, r], weights[1, r]
                    w1 = weights.dtype.type(1) - w0 - w2
                    for k in range(min(length, padded.size - start - 2)):
                        line[k] += w0 * v0[k] + w1 * v1[k] + w2 * v2[k]
    for i in range(height):
        for j in range(width):
            image[i, j] += turned[j, height - 1 - i]
