// The kernel that fits the points of one drawing to those of another.

#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "memory.h"

namespace radoncdt {
namespace {

constexpr double WIDE = 2.5;    // a pair at this many times the median distance has a quarter of the weight
constexpr double LEAST = 0.01;  // smallest scale of the weights, as a share of the size
constexpr float FAR = 1e30f;    // larger than the square of any distance

struct Places {
    const float *x, *y;
    Index count;
};

// Find the index of the nearest of `many` places for each of `few`, and the squares of the distances. In float, with
// the few places in an inner loop without branches, so that several are compared at a time.
void closest(const Places& few, const Places& many, std::int32_t* __restrict which, float* __restrict squares) {
    const float* __restrict x = few.x;
    const float* __restrict y = few.y;
    const Index n = few.count;
    for (Index i = 0; i < n; ++i) which[i] = 0, squares[i] = FAR;
    for (Index j = 0; j < many.count; ++j) {
        const float column = many.x[j], row = many.y[j];
        const auto number = static_cast<std::int32_t>(j);
        for (Index i = 0; i < n; ++i) {
            const float dx = column - x[i], dy = row - y[i], square = dx * dx + dy * dy;
            const bool nearer = square < squares[i];
            which[i] = nearer ? number : which[i];
            squares[i] = nearer ? square : squares[i];
        }
    }
}

// Mean of the two middle values; changes the order of the values.
double median(double* values, Index n) {
    double* middle = values + n / 2;
    std::nth_element(values, middle, values + n);
    return n % 2 == 1 ? *middle : 0.5 * (*middle + *std::max_element(values, middle));
}

// Solve A X = B in place, A (n, n) and B (n, 2), by Gaussian elimination with partial pivoting. False if A is singular.
bool solve(double* a, double* b, Index n) {
    for (Index k = 0; k < n; ++k) {
        Index pivot = k;
        for (Index i = k + 1; i < n; ++i) {
            if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
        }
        if (!(std::abs(a[pivot * n + k]) > 0)) return false;
        if (pivot != k) {
            std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
            std::swap_ranges(b + 2 * k, b + 2 * (k + 1), b + 2 * pivot);
        }
        for (Index i = k + 1; i < n; ++i) {
            const double factor = a[i * n + k] / a[k * n + k];
            for (Index j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
            for (Index j = 0; j < 2; ++j) b[2 * i + j] -= factor * b[2 * k + j];
        }
    }
    for (Index k = n - 1; k >= 0; --k) {
        for (Index j = 0; j < 2; ++j) {
            double value = b[2 * k + j];
            for (Index i = k + 1; i < n; ++i) value -= a[k * n + i] * b[2 * i + j];
            b[2 * k + j] = value / a[k * n + k];
        }
    }
    return true;
}

struct Problem {
    Index n_points, n_terms;
    const double *base, *terms;  // (n_points, 2), (n_points, n_terms)
    Index n_targets;
    const double* targets;  // (n_targets, 2)
    Index n_some, n_few;
    const Index *some, *few;
    const double* ridge;  // (n_terms,)
    double size, most;
};

class Fit {
public:
    explicit Fit(const Problem& problem) : p_(problem), pairs_(problem.n_some + problem.n_few) {}

    [[nodiscard]] bool prepare() {
        const Index k = p_.n_terms;
        return moved_.reserve(2 * p_.n_points) && aims_.reserve(2 * p_.n_targets) && chosen_.reserve(2 * pairs_) &&
               which_.reserve(pairs_) && squares_.reserve(pairs_) && distances_.reserve(pairs_) &&
               sorted_.reserve(pairs_) && normal_.reserve(k * k) && right_.reserve(2 * k);
    }

    Result run(double* coefficients, Index iterations, double& misfit) {
        for (Index j = 0; j < p_.n_targets; ++j) {
            aims_[j] = static_cast<float>(p_.targets[2 * j]);
            aims_[p_.n_targets + j] = static_cast<float>(p_.targets[2 * j + 1]);
        }
        pair(coefficients);
        for (Index step = 0; step < iterations; ++step) {
            if (!improve(coefficients)) return SINGULAR;
            pair(coefficients);
        }
        misfit = (mean(0, p_.n_some) + mean(p_.n_some, pairs_)) / (2 * p_.size);
        return OK;
    }

private:
    Problem p_;
    Index pairs_;
    Buffer<float> moved_, aims_, chosen_, squares_;
    Buffer<std::int32_t> which_;
    Buffer<double> distances_, sorted_, normal_, right_;

    // Move the points and form the pairs: which_ holds the partner of each of `some`, then of each of `few`.
    void pair(const double* coefficients) {
        for (Index i = 0; i < p_.n_points; ++i) {
            double x = p_.base[2 * i], y = p_.base[2 * i + 1];
            for (Index k = 0; k < p_.n_terms; ++k) {
                const double term = p_.terms[i * p_.n_terms + k];
                x += term * coefficients[2 * k];
                y += term * coefficients[2 * k + 1];
            }
            moved_[i] = static_cast<float>(x);
            moved_[p_.n_points + i] = static_cast<float>(y);
        }
        const Places points{moved_.data(), moved_.data() + p_.n_points, p_.n_points};
        const Places aims{aims_.data(), aims_.data() + p_.n_targets, p_.n_targets};
        closest(choose(points, p_.some, p_.n_some), aims, which_.data(), squares_.data());
        closest(choose(aims, p_.few, p_.n_few), points, which_.data() + p_.n_some, squares_.data() + p_.n_some);
        for (Index i = 0; i < pairs_; ++i) distances_[i] = std::sqrt(static_cast<double>(squares_[i]));
    }

    Places choose(const Places& places, const Index* numbers, Index n) {
        float *x = chosen_.data(), *y = x + n;
        for (Index i = 0; i < n; ++i) x[i] = places.x[numbers[i]], y[i] = places.y[numbers[i]];
        return {x, y, n};
    }

    // Solve the weighted least squares problem over all pairs. False if the coefficients are not determined.
    bool improve(double* coefficients) {
        const Index k = p_.n_terms;
        std::copy(distances_.data(), distances_.data() + pairs_, sorted_.data());
        const double scale = std::max(WIDE * median(sorted_.data(), pairs_), LEAST * p_.size);
        std::fill(normal_.data(), normal_.data() + k * k, 0.0);
        std::fill(right_.data(), right_.data() + 2 * k, 0.0);
        for (Index i = 0; i < pairs_; ++i) {
            const Index point = i < p_.n_some ? p_.some[i] : which_[i];
            const Index target = i < p_.n_some ? which_[i] : p_.few[i - p_.n_some];
            const double ratio = distances_[i] / scale, one = 1 + ratio * ratio;
            const double weight = 1 / (one * one);
            const double u = p_.targets[2 * target] - p_.base[2 * point];
            const double v = p_.targets[2 * target + 1] - p_.base[2 * point + 1];
            const double* terms = p_.terms + point * k;
            for (Index a = 0; a < k; ++a) {
                const double scaled = weight * terms[a];
                for (Index b = 0; b < k; ++b) normal_[a * k + b] += scaled * terms[b];
                right_[2 * a] += scaled * u;
                right_[2 * a + 1] += scaled * v;
            }
        }
        double largest = 0;
        for (Index a = 0; a < k; ++a) largest = std::max(largest, normal_[a * k + a]);
        for (Index a = 0; a < k; ++a) {  // the last term: points on a line leave some coefficients undetermined
            normal_[a * k + a] += p_.ridge[a] * static_cast<double>(pairs_) + 1e-9 * largest;
        }
        if (!solve(normal_.data(), right_.data(), k)) return false;
        std::copy(right_.data(), right_.data() + 2 * k, coefficients);
        return true;
    }

    double mean(Index first, Index last) const {
        double total = 0;
        for (Index i = first; i < last; ++i) total += std::min(distances_[i], p_.most * p_.size);
        return total / static_cast<double>(last - first);
    }
};

}  // namespace

// See `radoncdt._interface.Kernels.fit`. Replaces the coefficients (n_terms, 2).
RADONCDT_EXPORT int radoncdt_fit(Index n_points, Index n_terms, const double* base, const double* terms, Index n_targets,
                                 const double* targets, Index n_some, const Index* some, Index n_few, const Index* few,
                                 const double* ridge, double size, double most, Index iterations, double* coefficients,
                                 double* misfit) {
    Fit fit({n_points, n_terms, base, terms, n_targets, targets, n_some, n_few, some, few, ridge, size, most});
    if (!fit.prepare()) return NO_MEMORY;
    return fit.run(coefficients, iterations, *misfit);
}

}  // namespace radoncdt
