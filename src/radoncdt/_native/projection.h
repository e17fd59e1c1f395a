// Projections of lines of pixels: exact masses of strips.
//
// A pixel is a unit square. Its projection on (cos θ, sin θ), divided by the larger of the two in size, is the
// trapezoid box(1) ∗ box(|q|) with a slope |q| ≤ 1. Along a line of pixels (a row where |cos θ| ≥ |sin θ|, else a
// column) neighbours are one bin apart, so all pixels have the same position relative to the bins and share three
// weights. The projection of a line is a three-tap filter of its pixels, added at an offset. From line to line, the
// offset moves by q.
#pragma once

#include <cmath>

#include "frames.h"

namespace radoncdt {

inline constexpr Index GROUP = 4;  // directions projected in one pass, so that pixels are loaded once for all of them

// Lines of float per sum, in general and where equal terms have equal rounding errors; see `lines_per_sum`.
inline constexpr Index TALL = 64, SHORT = 32;
inline constexpr Index ROOM = Index(1) << 20;  // largest number of bins of all sums of a direction

// A direction relative to the lines.
struct Direction {
    double cosine, sine;
    double along;  // signed width of a bin
    double slope;  // bins by which the projection moves from one line to the next
    Index number;  // index in the caller's list
};

// A direction goes along the rows of an image or along its columns, whichever is closer. On a diagonal, both are
// equally close. Rows take one diagonal and columns the other, so that neither rounding nor a reversal changes the
// choice.
inline bool goes_along_rows(double c, double s) {
    const double more = std::abs(c) - std::abs(s);
    return more > 1e-12 || (std::abs(more) <= 1e-12 && c * s > 0);
}

// Directions. Those along rows come first.
struct Sweep {
    Buffer<Direction> directions;
    Index n_rows = 0, count = 0;

    [[nodiscard]] bool reserve(Index n) { return directions.reserve(n); }

    void set(const double* cosines, const double* sines, Index n) {
        count = n;
        n_rows = 0;
        Index behind = n;
        for (Index w = 0; w < n; ++w) {
            const double c = cosines[w], s = sines[w];
            const bool rows = goes_along_rows(c, s);
            // rows run from the top down, so y decreases by one from row to row; columns run from left to right
            const double along = rows ? c : s, across = rows ? -s : c;
            const double slope = std::min(std::max(across / along, -1.0), 1.0);
            directions[rows ? n_rows++ : --behind] = {c, s, along, slope, w};
        }
    }
};

// Compute the directions Σ^{-1/2}η/‖Σ^{-1/2}η‖ for directions η.
inline void whiten(const double* cosines, const double* sines, Index n, double xx, double xy, double yy, double* c,
                   double* s) {
    const double root = std::sqrt(xx * yy - xy * xy);  // root of the determinant; Σ^{1/2} ∝ Σ + √det
    const double a = xx + root, b = xy, d = yy + root;
    for (Index w = 0; w < n; ++w) {  // the inverse of (a b; b d), up to a factor
        const double x = d * cosines[w] - b * sines[w], y = a * sines[w] - b * cosines[w];
        const double length = std::hypot(x, y);
        c[w] = x / length, s[w] = y / length;
    }
}

// Adding and subtracting this rounds a double to the nearest integer, without an instruction that SSE2 does not have.
inline constexpr double TO_WHOLE = 6755399441055744.0;  // 1.5 · 2⁵²

// Compute the first bin and the weights w₀ and w₂ of every line: the masses of box(1) ∗ box(|q|) in three bins.
//
// With 0 ≤ z < 1 the distance from the left end of the trapezoid to the next bin edge, they are
//
//     w₂ = max(|q| − z, 0)² / 2|q|,    w₀ = z − |q|/2 + w₂,    w₁ = 1 − w₀ − w₂.
//
// Exactly along rows and columns, q = 0 and w₁ = 1, so nothing is rounded.
//
// `start` + `lead` is the position, in bins, of the left edge of pixel 0 of the middle line. There are `depth` lists of
// `n_bins` bins. The lines of a band are added alternately to two of them, those of the next band to the next two.
template <class T>
void taps(double slope, double start, Index lead, Index depth, Index n_bins, Index count, std::int32_t* __restrict starts,
          T* __restrict w0, T* __restrict w2) {
    const double size = std::abs(slope);
    const T width = static_cast<T>(size), half = static_cast<T>(0.5 * size);
    const T curvature = static_cast<T>(size > 1e-30 ? 0.5 / size : 0.0);  // otherwise a pixel falls into one or two bins
    const double middle = 0.5 * static_cast<double>(count - 1), left_of_middle = start - 0.5 * size;
    const double bands = static_cast<double>(depth / 2) / static_cast<double>(count);
    const auto n = static_cast<std::int32_t>(count), bins = static_cast<std::int32_t>(n_bins);
    const auto first_bin = static_cast<std::int32_t>(lead);
    for (std::int32_t r = 0; r < n; ++r) {
        const double left = slope * (static_cast<double>(r) - middle) + left_of_middle;
        const double rounded = (left + TO_WHOLE) - TO_WHOLE;
        const double begin = rounded - (rounded >= left ? 1.0 : 0.0);  // the largest integer below `left`
        const std::int32_t turn = (r & 1) + 2 * static_cast<std::int32_t>(static_cast<double>(r) * bands);
        starts[r] = static_cast<std::int32_t>(begin) + first_bin + turn * bins;
        const T z = static_cast<T>(1.0 - (left - begin));
        const T beyond = width - z > T(0) ? width - z : T(0);
        const T third = beyond * beyond * curvature;
        const T first = z - half + third;
        w0[r] = first > T(0) ? first : T(0);
        w2[r] = third;
    }
}

// The number of lines to add up in one list; unlimited in double. The relative error of a float sum of n equal terms
// can be n · 3e-8, because all additions round in the same direction. Terms are equal inside a shape of constant grey
// value. If the slope is close to 0 or ±1, all lines have the same position relative to the bins, and terms are also
// equal at the edges of the shape.
template <class T>
Index lines_per_sum(double slope) {
    if (sizeof(T) == sizeof(double)) return std::numeric_limits<std::int32_t>::max();
    const double size = std::abs(slope);
    return std::min(size, 1 - size) < 1.0 / 32 ? SHORT : TALL;
}

// The number of lists of `n_bins` bins, a power of two, to which lines are added; the lists are added up afterwards.
// There are enough lists for each to have at most `height` lines, if there is room. There are at least two, so that a
// line need not wait for the sums of the one before.
inline Index number_of_lists(Index n_lines, Index height, Index n_bins, Index room) {
    Index depth = 2;
    while (depth * height < n_lines && 2 * depth * n_bins <= room) depth *= 2;
    return depth;
}

// sums[g][k] += the filtered line at k, for a run of bins first ≤ k < last and all directions g of a group.
//
// The filtered line is w₀ · line[k] + w₁ · line[k − 1] + w₂ · line[k − 2]. The three weights sum to 1, so it equals the
// middle pixel plus shares of the differences from it. This takes two products and two weights in registers, and
// constant grey values are not rounded.
template <class T>
RADONCDT_INLINE void add_filtered(T* const (&sums)[GROUP], const Block<T> (&w0)[GROUP],
                                  const Block<T> (&w2)[GROUP], const T* line, Index first, Index last) {
    using R = Block<T>;
    constexpr Index step = sizeof(R) / sizeof(T);  // divides BLOCK
    for (Index k = first; k < last; k += step) {
        const R middle = load_as<R>(line + k - 1);
        const R right = load_as<R>(line + k) - middle, left = load_as<R>(line + k - 2) - middle;
        R results[GROUP];
        for (Index g = 0; g < GROUP; ++g) {
            results[g] = load_as<R>(sums[g] + k) + multiply_add(left, w2[g], multiply_add(right, w0[g], middle));
        }
        // after all loads, because the compiler does not know that the sums of a group do not overlap
        for (Index g = 0; g < GROUP; ++g) store(sums[g] + k, results[g]);
    }
}

// Projects lines on groups of directions. The result for a direction does not depend on the others of its group.
template <class T>
class Projector {
public:
    Index n_bins[GROUP], lead[GROUP];  // bins of a direction, and bins before that of pixel 0 for slope 0

    // The number of bins of the widest projection.
    static Index most_bins(const Lines<T>& lines) { return lines.length + lines.count + 5 + BLOCK; }

    // False if there is no memory.
    [[nodiscard]] bool prepare(const Lines<T>& lines) {
        const Index most = most_bins(lines);
        const Index n_lists = number_of_lists(lines.count, lines_per_sum<T>(0), 0, 0);
        stride_ = spaced(std::min(n_lists * most, std::max(ROOM, 2 * most)));
        return sums_.reserve_zeros(GROUP * stride_) && starts_.reserve(GROUP * lines.count) &&
               weights_.reserve(2 * GROUP * lines.count);
    }

    // Project on up to GROUP directions.
    void project(const Lines<T>& lines, const Direction* directions, Index count) {
        Index depth[GROUP];
        for (Index g = 0; g < GROUP; ++g) {  // an incomplete group repeats its last direction
            const double slope = directions[std::min(g, count - 1)].slope;
            lead[g] = static_cast<Index>(std::ceil(0.5 * std::abs(slope) * static_cast<double>(lines.count))) + 1;
            n_bins[g] = lines.length + 2 * lead[g] + 2 + BLOCK;
            depth[g] = number_of_lists(lines.count, lines_per_sum<T>(slope), n_bins[g], stride_);
            std::fill(list(g), list(g) + depth[g] * n_bins[g], T(0));
            taps(slope, 0.0, lead[g], depth[g], n_bins[g], lines.count, starts_.data() + g * lines.count,
                 weight(0, g, lines.count), weight(2, g, lines.count));
        }
        add_lines(lines);
        for (Index g = 0; g < count; ++g) {
            T* lists = list(g);
            // add the second half of the lists to the first until one is left
            for (Index half = depth[g] / 2 * n_bins[g]; half >= n_bins[g]; half /= 2) {
                for (Index b = 0; b < half; ++b) lists[b] += lists[half + b];
            }
        }
    }

    // The masses of direction g, along the lines: in descending order of places if `along` is negative.
    const T* masses(Index g) const { return sums_.data() + g * stride_; }

private:
    Buffer<T> sums_, weights_;
    Buffer<std::int32_t> starts_;
    Index stride_ = 0;

    // A stride of at least `count` numbers such that the sums of the directions of a group are a quarter of a page
    // apart, modulo pages. Processors delay a load if its address agrees with that of a recent store in the last 12
    // bits.
    static Index spaced(Index count) {
        constexpr Index page = 4096 / sizeof(T);
        return (count + page - 1) / page * page + page / GROUP;
    }

    T* list(Index g) { return sums_.data() + g * stride_; }
    T* weight(Index tap, Index g, Index n_lines) { return weights_.data() + (tap / 2 * GROUP + g) * n_lines; }

    void add_lines(const Lines<T>& lines) {
        const std::int32_t* runs = lines.runs;
        for (Index r = 0; r < lines.count; ++r, ++runs) {
            if (*runs == END) continue;
            T* sums[GROUP];
            Block<T> w0[GROUP], w2[GROUP];
            for (Index g = 0; g < GROUP; ++g) {
                sums[g] = list(g) + starts_[g * lines.count + r];
                w0[g] = Block<T>{} + weight(0, g, lines.count)[r];
                w2[g] = Block<T>{} + weight(2, g, lines.count)[r];
            }
            const T* line = lines.pixels + r * lines.pitch;
            for (; *runs != END; runs += 2) add_filtered<T>(sums, w0, w2, line, runs[0], runs[1]);
        }
    }
};

}  // namespace radoncdt
