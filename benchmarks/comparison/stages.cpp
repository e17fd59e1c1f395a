// The stages of the kernel for quantiles, and the loop with which its projections are compared, for stages.py.

#include "frames.h"
#include "kernels.h"
#include "moments.h"
#include "projection.h"
#include "quantiles.h"

using namespace radoncdt;

namespace {

// Process one image as the kernel does, up to a stage: 0 reading, 1 projection, 2 quantiles (in bins).
template <class T>
int up_to(int stage, const Image* image, Index n_angles, const double* cosines, const double* sines, Index n_levels,
          const double* levels, double* out) {
    Frame<T> frame;
    MomentSums<T> sums;
    Moments moments;
    Lines<T> rows, columns;
    Sweep sweep;
    if (!frame.read(*image) || !frame.rows(rows) || !sums.compute(rows, moments) || !frame.columns(columns)) return 1;
    if (!sweep.reserve(n_angles)) return 1;
    sweep.set(cosines, sines, n_angles);
    if (stage == 0) return 0;
    Projector<T> projector;
    QuantileSearch search;
    Buffer<double> room;
    for (int kind = 0; kind < 2; ++kind) {
        const Lines<T>& lines = kind == 0 ? rows : columns;
        const Index first = kind == 0 ? 0 : sweep.n_rows, last = kind == 0 ? sweep.n_rows : sweep.count;
        const Index most = Projector<T>::most_bins(lines), pitch = most + 1 + STEP;
        if (!projector.prepare(lines) || !room.reserve(GROUP * pitch) || !search.prepare(most, n_levels)) return 1;
        double* cumulated[GROUP];
        for (Index g = 0; g < GROUP; ++g) cumulated[g] = room.data() + g * pitch;
        for (Index d = first; d < last; d += GROUP) {
            const Direction* directions = sweep.directions.data() + d;
            const Index members = std::min(GROUP, last - d);
            projector.project(lines, directions, members);
            if (stage == 1) continue;
            cumulate(projector, directions, members, cumulated);
            for (Index g = 0; g < members; ++g) {
                double* row = out + directions[g].number * n_levels;
                search.find(cumulated[g], projector.n_bins[g], levels, n_levels, row);
            }
        }
    }
    return 0;
}

// a · b + c, fused if the processor can do so, as in the kernels.
template <class T>
T fused(T a, T b, T c) {
#if defined(__FMA__)
    return std::fma(a, b, c);
#else
    return a * b + c;
#endif
}

// The bound: every row, padded with two zeros at both ends, is filtered by three taps and added to the sums of every
// direction. The compiler vectorises the inner loop.
template <class T>
void stream(Index n_directions, Index n_rows, Index width, const T* __restrict rows, const std::int32_t* starts,
            const T* weights, Index n_bins, T* __restrict sums) {
    for (Index d = 0; d < n_directions; ++d) {
        const T *w0 = weights + 3 * d * n_rows, *w1 = w0 + n_rows, *w2 = w1 + n_rows;
        for (Index r = 0; r < n_rows; ++r) {
            const T* row = rows + r * width;
            T* part = sums + d * n_bins + starts[d * n_rows + r];
            const T a = w0[r], b = w1[r], c = w2[r];
            for (Index k = 0; k < width - 2; ++k) {
                part[k] = fused(a, row[k + 2], fused(b, row[k + 1], fused(c, row[k], part[k])));
            }
        }
    }
}

// Compute first bins and weights of the rows of an image for given slopes, in the layout that `stream` needs.
template <class T>
void tables(Index n_directions, const double* slopes, Index n_rows, std::int32_t* starts, T* weights) {
    for (Index d = 0; d < n_directions; ++d) {
        T *w0 = weights + 3 * d * n_rows, *w1 = w0 + n_rows, *w2 = w1 + n_rows;
        taps(slopes[d], 0.0, n_rows / 2 + 2, 1, 0, n_rows, starts + d * n_rows, w0, w2);
        for (Index r = 0; r < n_rows; ++r) w1[r] = T(1) - w0[r] - w2[r];
    }
}

}  // namespace

#define FOR_PRECISION(T, SUFFIX)                                                                                      \
    RADONCDT_EXPORT int up_to_##SUFFIX(int stage, const Image* image, Index n_angles, const double* cosines,          \
                                       const double* sines, Index n_levels, const double* levels, double* out) {      \
        return up_to<T>(stage, image, n_angles, cosines, sines, n_levels, levels, out);                               \
    }                                                                                                                 \
    RADONCDT_EXPORT void stream_##SUFFIX(Index n_directions, Index n_rows, Index width, const T* rows,                \
                                         const std::int32_t* starts, const T* weights, Index n_bins, T* sums) {       \
        stream<T>(n_directions, n_rows, width, rows, starts, weights, n_bins, sums);                                  \
    }                                                                                                                 \
    RADONCDT_EXPORT void tables_##SUFFIX(Index n_directions, const double* slopes, Index n_rows,                      \
                                         std::int32_t* starts, T* weights) {                                          \
        tables<T>(n_directions, slopes, n_rows, starts, weights);                                                     \
    }

FOR_PRECISION(float, f32)
FOR_PRECISION(double, f64)
