// Quantiles of masses in bins: inf{s : F(s) > t}, where F is linear inside a bin. For t = 1, the end of the last bin
// with mass.
#pragma once

#include <limits>

#include "projection.h"

namespace radoncdt {

inline constexpr Index STEP = 4;  // bins examined together when searching for a level

// Compute cumulative sums, in double, of the masses of a group of directions, each in ascending order of places. The
// chains of additions run in parallel. out[g] has room for at least n_bins[g] + 1 + STEP numbers.
template <class T>
void cumulate(const Projector<T>& projector, const Direction* directions, Index count, double* const (&out)[GROUP]) {
    const T* masses[GROUP];
    Index step[GROUP], least = std::numeric_limits<Index>::max();
    for (Index g = 0; g < GROUP; ++g) {
        const Index of = std::min(g, count - 1);
        const bool descending = directions[of].along < 0;
        masses[g] = projector.masses(of) + (descending ? projector.n_bins[of] - 1 : 0);
        step[g] = descending ? -1 : 1;
        least = std::min(least, projector.n_bins[of]);
        out[g][0] = 0;
    }
    double totals[GROUP] = {};
    for (Index b = 0; b < least; ++b) {
        for (Index g = 0; g < GROUP; ++g) {
            totals[g] += static_cast<double>(masses[g][b * step[g]]);
            out[g][b + 1] = totals[g];
        }
    }
    for (Index g = 0; g < count; ++g) {
        for (Index b = least; b < projector.n_bins[g]; ++b) {
            totals[g] += static_cast<double>(masses[g][b * step[g]]);
            out[g][b + 1] = totals[g];
        }
    }
}

class QuantileSearch {
public:
    // False if there is no memory.
    [[nodiscard]] bool prepare(Index n_bins, Index n_levels) {
        return first_.reserve(n_levels + 1) && nearest_.reserve(n_bins / STEP + 1) && below_.reserve(n_levels) &&
               above_.reserve(n_levels);
    }

    // Find the places, in bins, where the cumulated masses first exceed each of the ascending levels. Levels are shares
    // of the total mass. `cumulated` has room for STEP more numbers than there are edges, which are overwritten.
    //
    // A search bin by bin would be slowed down by unpredictable branches. Instead, every STEP-th edge marks, as if the
    // levels were equispaced, the first level that is not below it. The search for a level starts at the last edge that
    // is marked up to it, and counts the edges that are not above the level. Comparisons that are rarely true correct
    // the result if the levels are not equispaced, or because of rounding.
    void find(double* __restrict cumulated, Index n_bins, const double* __restrict levels, Index n,
              double* __restrict out) {
        Index last = n_bins - 1;
        const double total = cumulated[n_bins];
        while (last > 0 && cumulated[last] == total) --last;
        for (Index k = 0; k < STEP; ++k) cumulated[last + 2 + k] = std::numeric_limits<double>::infinity();
        const double span = levels[n - 1] - levels[0];
        const double scale = span > 0 ? static_cast<double>(n - 1) / (span * total) : 0.0;
        const double offset = levels[0] * total * scale, most = static_cast<double>(n);
        std::int32_t* __restrict nearest = nearest_.data();
        std::int32_t* __restrict first = first_.data();
        const Index n_marks = last / STEP + 1;
        for (Index m = 0; m < n_marks; ++m) {
            double mark = cumulated[STEP * m] * scale - offset;
            mark = mark > 0 ? mark : 0;
            mark = mark < most ? mark : most;
            const auto whole = static_cast<std::int32_t>(mark);
            nearest[m] = whole + (static_cast<double>(whole) < mark);  // rounded up
        }
        std::fill(first, first + n + 1, 0);
        for (Index m = 0; m < n_marks; ++m) first[nearest[m]] = static_cast<std::int32_t>(STEP * m);
        double* __restrict below = below_.data();
        double* __restrict above = above_.data();
        std::int32_t begin = 0;
        const auto final_bin = static_cast<std::int32_t>(last);
        for (Index k = 0; k < n; ++k) {
            const double target = levels[k] * total;
            begin = std::max(begin, first[k]);
            const auto not_above = [target](Register<double> edges) { return edges <= Register<double>{} + target; };
            const auto passed = std::countr_one(bits_where<STEP>(cumulated + begin + 1, not_above));
            std::int32_t b = std::min(begin + static_cast<std::int32_t>(passed), final_bin);
            if (cumulated[b] > target || cumulated[b + 1] <= target) [[unlikely]] {
                while (b < final_bin && cumulated[b + 1] <= target) ++b;
                while (b > 0 && cumulated[b] > target) --b;
            }
            below[k] = cumulated[b];
            above[k] = cumulated[b + 1];
            out[k] = static_cast<double>(b);
        }
        for (Index k = 0; k < n; ++k) {
            double part = (levels[k] * total - below[k]) / (above[k] - below[k]);
            part = part > 0 ? part : 0;
            out[k] += part < 1 ? part : 1;
        }
    }

private:
    Buffer<std::int32_t> first_, nearest_;
    Buffer<double> below_, above_;
};

}  // namespace radoncdt
