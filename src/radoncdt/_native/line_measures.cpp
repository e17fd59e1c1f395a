// The kernels for measures on the line: masses from quantiles, and transport.

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.h"
#include "memory.h"

namespace radoncdt {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double SAME_PLACE = 1e-12;  // differences of places below this share of the width of a measure are rounding
constexpr double SAME_LEVEL = 1e-14;  // differences of levels below this are rounding

double clip(double value, double low, double high) { return std::min(std::max(value, low), high); }

// The slope, at the first of three points, of the parabola through them, limited to between half and twice the first
// secant. h0 and h1 are the widths of the two intervals, d0 and d1 their secants.
double end_slope(double h0, double h1, double d0, double d1) {
    if (h1 <= 0) return d0;
    const double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    return clip(slope, 0.5 * d0, 2 * d0);
}

// The mass of a tail beyond a distance from its beginning: mass · (1 − distance/L)^k, with k and L from F′ and F″
// there. The exponent is 1 for a uniform measure, 3/2 for a disc, and large for a Gaussian.
double tail(double mass, double distance, double h0, double h1, double d0, double d1) {
    if (mass <= 0 || d0 <= 0) return 0;
    const double slope = end_slope(h0, h1, d0, d1);
    const double bend = h1 > 0 ? 2 * (d1 - d0) / (h0 + h1) : 0;
    const double exponent = 1 / (1 - clip(bend * mass / (slope * slope), 0, 0.95));
    const double rest = 1 - distance * slope / (exponent * mass);
    return rest > 0 ? mass * std::pow(rest, exponent) : 0;
}

// The cumulative function through the points (value, level): the monotone cubic of Fritsch and Butland. Values that are
// equal up to rounding form a jump. Beyond the first and the last value there are tails.
class Cumulative {
public:
    [[nodiscard]] bool prepare(Index n) {
        return width_.reserve(n + 1) && secant_.reserve(n + 1) && left_.reserve(n) && right_.reserve(n);
    }

    void set(const double* values, const double* levels, Index n) {
        q_ = values, t_ = levels, n_ = n;
        // one additional interval on each side, for the ends
        width_[0] = width_[n] = secant_[0] = secant_[n] = 0;
        const double same = SAME_PLACE * (q_[n - 1] - q_[0]);
        for (Index k = 1; k < n; ++k) {
            const double step = q_[k] - q_[k - 1];
            width_[k] = step > same ? step : 0;
            secant_[k] = step > same ? (t_[k] - t_[k - 1]) / step : 0;
        }
        for (Index k = 0; k < n; ++k) {
            const double h0 = width_[k], h1 = width_[k + 1], d0 = secant_[k], d1 = secant_[k + 1];
            if (h0 > 0 && h1 > 0) {
                left_[k] = right_[k] = 3 * (h0 + h1) / ((2 * h1 + h0) / d0 + (h1 + 2 * h0) / d1);
            } else {  // the end of a run of ascending values, or of all values
                const Index before = std::max<Index>(k - 1, 0), behind = std::min(k + 2, n);
                left_[k] = end_slope(h0, width_[before], d0, secant_[before]);
                right_[k] = end_slope(h1, width_[behind], d1, secant_[behind]);
            }
        }
    }

    // F(s), given the number k of values that are not above s.
    double at(double s, Index k) const {
        if (k == 0) {
            const Index next = std::min<Index>(2, n_);
            return tail(t_[0], q_[0] - s, width_[1], width_[next], secant_[1], secant_[next]);
        }
        if (k == n_) {
            const Index next = std::max<Index>(n_ - 2, 0);
            return 1 - tail(1 - t_[n_ - 1], s - q_[n_ - 1], width_[n_ - 1], width_[next], secant_[n_ - 1], secant_[next]);
        }
        const double h = width_[k];
        if (h == 0) return t_[k - 1];
        const double x = (s - q_[k - 1]) / h;
        const double between = t_[k - 1] * (1 + 2 * x) * ((1 - x) * (1 - x)) + t_[k] * x * x * (3 - 2 * x);
        return between + h * x * (1 - x) * (right_[k - 1] * (1 - x) - left_[k] * x);
    }

private:
    const double *q_ = nullptr, *t_ = nullptr;
    Index n_ = 0;
    Buffer<double> width_, secant_;  // of the interval before a value
    Buffer<double> left_, right_;    // slopes on both sides of a value
};

// Compute the masses (rows, n_edges − 1) between ascending edges (rows, n_edges) of measures that are given by their
// quantiles (rows, n_levels). Mass on an edge counts to its left.
Result quantile_masses(Index rows, Index n_levels, const double* values, const double* levels, Index n_edges,
                       const double* edges, double* out) {
    Cumulative cumulative;
    if (!cumulative.prepare(n_levels)) return NO_MEMORY;
    for (Index row = 0; row < rows; ++row) {
        const double* q = values + row * n_levels;
        const double* s = edges + row * n_edges;
        cumulative.set(q, levels, n_levels);
        double before = 0;
        Index k = 0;
        for (Index b = 0; b < n_edges; ++b) {
            while (k < n_levels && q[k] <= s[b]) ++k;
            const double below = cumulative.at(s[b], k);
            if (b > 0) out[row * (n_edges - 1) + b - 1] = std::max(below - before, 0.0);
            before = below;
        }
    }
    return OK;
}

// The mean of |d|^p for d that moves uniformly from d0 to d1.
double mean_power(double d0, double d1, double p) {
    if (p == 2) return (d0 * d0 + d0 * d1 + d1 * d1) / 3;
    const double a = std::min(std::abs(d0), std::abs(d1)), b = std::max(std::abs(d0), std::abs(d1));
    if (b == 0) return 0;
    if ((d0 < 0) != (d1 < 0)) return (std::pow(a, p + 1) + std::pow(b, p + 1)) / ((p + 1) * (a + b));
    const double middle = 0.5 * (a + b), bend = 0.5 * (b - a), share = bend / middle;
    if (p * bend < 1e-3 * middle) {  // the difference of powers would suffer from cancellation
        return std::pow(middle, p) * (1 + p * (p - 1) / 6 * (share * share));
    }
    return (std::pow(b, p + 1) - std::pow(a, p + 1)) / ((p + 1) * (b - a));
}

// A sum with its rounding error (Neumaier): running sums of many masses must not drift.
struct Sum {
    double total = 0, error = 0;

    void add(double term) {
        const double sum = total + term;
        error += std::abs(total) >= std::abs(term) ? (total - sum) + term : (term - sum) + total;
        total = sum;
    }
    double value() const { return total + error; }
};

// A measure on the line. Piece i has mass[i], at the point places[i] or, if pieces are wide, spread evenly from
// places[i] to places[i + 1].
struct Pieces {
    const double *mass, *places;
    Index count;
    bool wide;

    bool has_mass() const {
        return std::any_of(mass, mass + count, [](double m) { return m != 0; });
    }
    double first_place() const { return places[0]; }
    double last_place() const { return places[count - 1 + wide]; }
};

// Walks along the quantile function of a measure, from level to level.
class Walk {
public:
    double place = 0;  // the quantile at the current level
    double end = 0;    // level where the current piece ends

    explicit Walk(const Pieces& pieces) : pieces_(pieces), last_(pieces.count - 1) {
        while (pieces.mass[i_] == 0) ++i_;
        while (pieces.mass[last_] == 0) --last_;
        Sum sum;
        for (Index i = 0; i < pieces.count; ++i) sum.add(pieces.mass[i]);
        total_ = sum.value();
        enter();
    }

    // The quantile at a level within the current piece, or at its end.
    double place_at(double level, double until, bool at_end) const {
        const double last = pieces_.places[i_ + pieces_.wide];
        return at_end ? last : place + (last - place) * ((until - level) / (end - level));
    }

    // Go to the next piece with mass. False if there is none.
    bool next() {
        if (i_ == last_) return false;
        do ++i_;
        while (pieces_.mass[i_] == 0);
        enter();
        return true;
    }

private:
    Pieces pieces_;
    Index i_ = 0, last_;
    double total_ = 0;
    Sum sum_;

    void enter() {
        sum_.add(pieces_.mass[i_]);
        end = i_ < last_ ? sum_.value() / total_ : 1;
        place = pieces_.places[i_];
    }
};

// The mean of (|x − y| / scale)^p over the levels, where x and y are the quantiles of a and b; for p = ∞, the largest
// |x − y|. Levels that differ by less than SAME_LEVEL count as equal, because rounding must not pair a point with its
// partner's neighbour.
double along_both(const Pieces& a, const Pieces& b, double p, double scale) {
    Walk x(a), y(b);
    double level = 0, result = 0;
    while (true) {
        const double until = std::min(x.end, y.end);
        const bool x_ends = x.end <= until + SAME_LEVEL, y_ends = y.end <= until + SAME_LEVEL;
        const double x1 = x.place_at(level, until, x_ends), y1 = y.place_at(level, until, y_ends);
        if (p == INFINITE) {
            result = std::max(result, std::max(std::abs(x.place - y.place), std::abs(x1 - y1)));
        } else {
            result += mean_power((x.place - y.place) / scale, (x1 - y1) / scale, p) * (until - level);
        }
        level = until, x.place = x1, y.place = y1;
        if (x_ends && !x.next()) return result;
        if (y_ends && !y.next()) return result;
    }
}

// The Wasserstein-p distance. Both quantile functions are linear between the levels where pieces end, so the integral
// is exact. NaN for a measure without mass.
double distance(const Pieces& a, const Pieces& b, double p) {
    if (!a.has_mass() || !b.has_mass()) return std::numeric_limits<double>::quiet_NaN();
    double scale = std::max(std::abs(a.last_place() - b.first_place()), std::abs(b.last_place() - a.first_place()));
    double power = p <= 2 && scale > 0 ? along_both(a, b, p, scale) : 0;
    if (power < 1e-200) {  // that bound of the distances, or p, was too large
        scale = along_both(a, b, INFINITE, 1);
        power = p < INFINITE && scale > 0 ? along_both(a, b, p, scale) : 1;
    }
    return scale * std::pow(power, 1 / p);
}

}  // namespace

RADONCDT_EXPORT int radoncdt_quantile_masses(Index rows, Index n_levels, const double* values, const double* levels,
                                             Index n_edges, const double* edges, double* out) {
    return quantile_masses(rows, n_levels, values, levels, n_edges, edges, out);
}

RADONCDT_EXPORT int radoncdt_transport(Index rows, Index n_a, const double* mass_a, const double* places_a, int wide_a,
                                       Index n_b, const double* mass_b, const double* places_b, int wide_b, double p,
                                       double* out) {
    for (Index row = 0; row < rows; ++row) {
        const Pieces a{mass_a + row * n_a, places_a + row * (n_a + (wide_a != 0)), n_a, wide_a != 0};
        const Pieces b{mass_b + row * n_b, places_b + row * (n_b + (wide_b != 0)), n_b, wide_b != 0};
        out[row] = distance(a, b, p);
    }
    return OK;
}

}  // namespace radoncdt
