// The kernels that compare descriptors: all rotations and reflections of one circle of curves against another.
//
// A descriptor is N_η(t) on the half circle; the other half is −N_η(1 − t). The distance of two, F and G, at a turn is
// the root mean square of G_k − F_{k−s} or, if mirrored, of G_k − F_{s−k}; s = 0, …, 2n − 1 counts steps of the circle.
// The distance at the best turn is evaluated directly, because ‖F‖² + ‖G‖² − 2⟨F, G⟩ suffers from cancellation. Only
// few turns have to be tried: the low frequencies along the circle give the correlations at all turns at once, and the
// error is at most the product of the norms of the higher frequencies. The result is the same, bit for bit, as if all
// turns were tried.
//
// Waves. If F is split into parts that are even and odd in t ↦ 1 − t, the even part has only odd frequencies and the
// odd part has only even ones, which halves the work. descriptors.py packs the frequencies 1 to KEPT, odd ones first,
// in groups of WIDTH: for each level, WIDTH real parts, then WIDTH imaginary ones. The frequency 0 is the same at all
// turns.
//
// Turns. s, n + s, n − s and 2n − s, plain and mirrored, share cosines and sines. Their correlations are computed
// together, for WIDTH values of s at a time. For each such block, `table` contains WIDTH cosines and WIDTH sines for
// each frequency, odd ones first. `codes` contains the turn of each correlation: s, 2n + s if mirrored, or −1 for none.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels.h"
#include "memory.h"
#include "vectors.h"

namespace radoncdt {
namespace {

constexpr Index WIDTH = LANES<float>;      // frequencies, or turns, per vector of float; LANES in _interface.py
constexpr Index GROUPS = 2;                // groups of odd frequencies, and the same number of even ones
constexpr Index KEPT = 2 * WIDTH * GROUPS;  // highest frequency; KEPT in _interface.py
constexpr Index SHARING = 8;               // turns that share cosines and sines
constexpr double ROUNDING = 1e-5;  // error of correlations, relative to the norms: some hundred terms, 6e-8 each
constexpr double SLACK = 1e-9;     // relative tolerance of the limits
constexpr int TRIED = 16;          // intervals between the angles of a step that are tried if the shear is limited
constexpr double PI = 3.14159265358979323846;
constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

// Sum re·re, im·im, re·im and im·re of x and y over the levels, for all frequencies, WIDTH at a time.
void multiply(const float* x, const float* y, Index levels, float* products) {
    const Index size = levels * 2 * WIDTH;  // numbers per group
    for (Index odd = 0; odd < GROUPS; ++odd) {
        Vector<float> sums[2][4] = {};  // two groups at a time: eight chains of additions
        for (Index k = 0; k < levels; ++k) {
            for (Index parity = 0; parity < 2; ++parity) {
                const Index at = (odd + parity * GROUPS) * size + k * 2 * WIDTH;
                const Vector<float> a = load(x + at), b = load(x + at + WIDTH);
                const Vector<float> c = load(y + at), d = load(y + at + WIDTH);
                Vector<float>(&four)[4] = sums[parity];
                four[0] = multiply_add(a, c, four[0]);
                four[1] = multiply_add(b, d, four[1]);
                four[2] = multiply_add(a, d, four[2]);
                four[3] = multiply_add(b, c, four[3]);
            }
        }
        for (Index parity = 0; parity < 2; ++parity) {
            for (Index k = 0; k < 4; ++k) store(products + ((odd + parity * GROUPS) * 4 + k) * WIDTH, sums[parity][k]);
        }
    }
}

// Compute the correlations at WIDTH turns s and at all turns that share their cosines and sines, `stride` apart.
void superpose(const float* __restrict products, const float* __restrict table, float* __restrict out, Index stride) {
    Vector<float> sums[2][4] = {};  // for odd and for even frequencies
    for (Index group = 0; group < GROUPS; ++group) {
        for (Index lane = 0; lane < WIDTH; ++lane) {
            for (Index parity = 0; parity < 2; ++parity) {
                const Index of = group + parity * GROUPS;
                const float* row = table + (of * WIDTH + lane) * 2 * WIDTH;
                const float* factor = products + of * 4 * WIDTH + lane;
                const Vector<float> cosines = load(row), sines = load(row + WIDTH);
                Vector<float>(&four)[4] = sums[parity];
                four[0] = multiply_add(spread(factor[0]), cosines, four[0]);
                four[1] = multiply_add(spread(factor[WIDTH]), cosines, four[1]);
                four[2] = multiply_add(spread(factor[2 * WIDTH]), sines, four[2]);
                four[3] = multiply_add(spread(factor[3 * WIDTH]), sines, four[3]);
            }
        }
    }
    const auto& [ac, bd, ad, bc] = sums[0];
    const auto& [ac2, bd2, ad2, bc2] = sums[1];
    const Vector<float> parts[2][4] = {{ac + bd, bc - ad, ac2 + bd2, bc2 - ad2},
                                       {ac - bd, -(ad + bc), ac2 - bd2, -(ad2 + bc2)}};
    for (Index mirrored = 0; mirrored < 2; ++mirrored) {
        const auto& [odd_cosines, odd_sines, even_cosines, even_sines] = parts[mirrored];
        // s and n + s: after half the circle, odd frequencies change sign; then n − s and 2n − s
        const Vector<float> odd = odd_cosines + odd_sines, even = even_cosines + even_sines;
        const Vector<float> odd_back = odd_sines - odd_cosines, even_back = even_cosines - even_sines;
        float* row = out + 4 * mirrored * stride;
        store(row, even + odd);
        store(row + stride, even - odd);
        store(row + 2 * stride, even_back + odd_back);
        store(row + 3 * stride, even_back - odd_back);
    }
}

// The largest of `count` numbers, where `count` is a multiple of WIDTH.
float largest_of(const float* numbers, Index count) {
    Vector<float> most = load(numbers);
    for (Index k = WIDTH; k < count; k += WIDTH) {
        const Vector<float> some = load(numbers + k);
        most = some > most ? some : most;
    }
    return max_lane<float>(most);
}

// Σ (values[k] − circle[start + k · step])² over half the circle. If the sum exceeds `most`, it may be incomplete.
template <class T>
double square_distance(const T* circle, const T* values, Index n_angles, Index n_levels, Index start, Index step,
                       double most) {
    constexpr Index N = LANES<T>;
    double total = 0;
    Index row = start;
    for (Index k = 0; k < n_angles; ++k) {
        const T *a = circle + row * n_levels, *b = values + k * n_levels;
        Vector<T> first{}, second{};
        Index j = 0;
        for (; j + 2 * N <= n_levels; j += 2 * N) {
            const Vector<T> d = load(a + j) - load(b + j), e = load(a + j + N) - load(b + j + N);
            first = multiply_add(d, d, first);
            second = multiply_add(e, e, second);
        }
        T some = sum(first + second);
        for (; j < n_levels; ++j) some += (a[j] - b[j]) * (a[j] - b[j]);
        total += static_cast<double>(some);
        if (total > most) return total;
        row += step;
        if (row < 0) row += 2 * n_angles;
        if (row >= 2 * n_angles) row -= 2 * n_angles;
    }
    return total;
}

// AᵀA for the rotation R by ψ/2. Each entry is constant + cosine · cos ψ + sine · sin ψ.
struct Square {
    struct Entry {
        double constant, cosine, sine;
        double at(double c, double s) const { return constant + cosine * c + sine * s; }
    };
    Entry xx, yy, xy;
};

// The penalty of the map A = Σ_ν^{1/2} R(φ) M Σ_μ^{-1/2}, where M mirrors y or is the identity. Half the trace of AᵀA,
// divided by |det A|, is cosh of the logarithm of the aspect, and linear in the cosine and sine of 2φ. The rotation in the
// polar decomposition of a matrix B with positive determinant has the cosine tr B / √((tr B)² + (B₂₁ − B₁₂)²); B is A, or A
// after a reflection of x. Both terms are linear in the cosine and sine of φ.
class Penalty {
public:
    Penalty(const double* moving, const double* fixed, const Prior& prior) : prior_(prior) {
        double root[3], inverse[3];  // xx, xy, yy, up to factors, which do not matter
        const double area = take_root(fixed, root), other = take_root(moving, inverse);
        std::swap(inverse[0], inverse[2]);
        inverse[1] = -inverse[1];
        const double determinant = area * other;  // of Σ_ν^{1/2} and of the adjugate of Σ_μ^{1/2}
        for (int mirrored = 0; mirrored < 2; ++mirrored) {
            const double sign = mirrored ? -1 : 1;
            double quarter[2][2][2];  // A at φ = 0 and at φ = π/2
            for (int k = 0; k < 2; ++k) {
                const double c = k == 0 ? 1 : 0, s = k == 0 ? 0 : 1;
                const double turned[2][2] = {{c * inverse[0] - sign * s * inverse[1], c * inverse[1] - sign * s * inverse[2]},
                                             {s * inverse[0] + sign * c * inverse[1], s * inverse[1] + sign * c * inverse[2]}};
                for (int j = 0; j < 2; ++j) {
                    quarter[k][0][j] = root[0] * turned[0][j] + root[1] * turned[1][j];
                    quarter[k][1][j] = root[1] * turned[0][j] + root[2] * turned[1][j];
                }
            }
            double squares[3] = {};  // of both, and their product
            for (int i = 0; i < 2; ++i) {
                for (int j = 0; j < 2; ++j) {
                    squares[0] += quarter[0][i][j] * quarter[0][i][j];
                    squares[1] += quarter[1][i][j] * quarter[1][i][j];
                    squares[2] += quarter[0][i][j] * quarter[1][i][j];
                }
            }
            Terms& terms = terms_[mirrored];
            terms.constant = (squares[0] + squares[1]) / (4 * determinant);
            terms.cosine = (squares[0] - squares[1]) / (4 * determinant);
            terms.sine = squares[2] / (2 * determinant);
            for (int k = 0; k < 2; ++k) {
                const auto& a = quarter[k];
                terms.trace[k] = sign * a[0][0] + a[1][1];
                terms.skew[k] = sign * a[1][0] - a[0][1];
            }
        }
    }

    // The penalty of the turn by φ, given cos φ and sin φ. Only mirroring has a penalty if a covariance is singular.
    double at(double c, double s, bool mirrored) const {
        const Terms& terms = terms_[mirrored];
        const double stretch = terms.constant + terms.cosine * (c * c - s * s) + terms.sine * 2 * c * s;
        const double aspect = stretch > 1 ? std::acosh(stretch) : 0;
        const double trace = terms.trace[0] * c + terms.trace[1] * s, skew = terms.skew[0] * c + terms.skew[1] * s;
        const double length = std::hypot(trace, skew);
        const double penalty = prior_.aspect * aspect * aspect + prior_.rotation * (length > 0 ? 1 - trace / length : 0);
        return (std::isfinite(penalty) ? penalty : 0) + (mirrored ? prior_.mirror : 0);
    }

private:
    struct Terms {
        double constant, cosine, sine, trace[2], skew[2];
    };
    Prior prior_;
    Terms terms_[2];

    // Write Σ^{1/2}, up to a factor, and return its determinant.
    static double take_root(const double* covariance, double* root) {
        const double size = covariance[0] + covariance[2];
        const double xx = covariance[0] / size, xy = covariance[1] / size, yy = covariance[2] / size;
        const double area = std::sqrt(xx * yy - xy * xy);
        root[0] = xx + area, root[1] = xy, root[2] = yy + area;
        return root[0] * root[2] - root[1] * root[1];
    }
};

// The largest trace of AᵀA, and the largest cosine of the angle between the images of the axes.
struct Bounds {
    double trace, cosine;

    bool admit(const Square& square, double psi) const {
        const double c = std::cos(psi), s = std::sin(psi);
        const double xx = square.xx.at(c, s), yy = square.yy.at(c, s);
        return xx + yy <= trace && std::abs(square.xy.at(c, s)) <= cosine * std::sqrt(xx * yy);
    }
};

// The remainder of x divided by 2π, from −π to below π.
double to_half_circles(double x) { return x - 2 * PI * std::floor((x + PI) / (2 * PI)); }

// Find a plausible rotation within half a step of each of the n steps, then mirrored ones: out (2n,), NaN for none.
// They repeat after half the circle.
//
// The map is A = Σ_ν^{1/2} R Σ_μ^{-1/2}. AᵀA = Σ_μ^{-1/2} Rᵀ Σ_ν R Σ_μ^{-1/2} is linear in cosine and sine of ψ, twice
// the angle of R. The product of the scales is |det A| = √(det Σ_ν / det Σ_μ), and the sum of their squares is tr AᵀA,
// which is least at one ψ and grows on both sides of it, so the aspect is decided exactly. If the shear is also
// limited, some more angles of a step are tried.
void plausible(const double* moving, const double* fixed, const Limits& limits, Index n_angles, double* out) {
    std::fill(out, out + 2 * n_angles, NONE);
    const double size = moving[0] + moving[2], other_size = fixed[0] + fixed[2];  // products of tiny numbers may underflow
    const double xx = moving[0] / size, xy = moving[1] / size, yy = moving[2] / size;
    const double vxx = fixed[0] / other_size, vxy = fixed[1] / other_size, vyy = fixed[2] / other_size;
    const double root = std::sqrt(xx * yy - xy * xy);
    const double area = std::sqrt(vxx * vyy - vxy * vxy) / root;  // |det A|, up to the sizes
    const double change = std::sqrt(area * (other_size / size));
    if (change > limits.scale * (1 + SLACK) || change * limits.scale * (1 + SLACK) < 1) return;
    const double scale = 1 / (root * std::sqrt(xx + yy + 2 * root));
    const double p = (yy + root) * scale, q = -xy * scale, r = (xx + root) * scale;  // Σ_μ^{-1/2}
    const double middle = (vxx + vyy) / 2, x = (vxx - vyy) / 2, y = vxy;
    const double half = PI / static_cast<double>(n_angles);  // half a step of ψ
    const bool shear_is_limited = limits.shear < PI / 2;
    const Bounds bounds{(limits.aspect + 1 / limits.aspect) * area * (1 + SLACK), std::sin(limits.shear) + SLACK};
    for (int mirrored = 0; mirrored < 2; ++mirrored) {
        const double sign = mirrored ? -1 : 1;
        Square square;
        // Σ_μ^{-1/2} (a b; b d) Σ_μ^{-1/2}, for the constant, the cosine and the sine in Rᵀ Σ_ν R
        const auto transformed = [&](double a, double b, double d, double& first, double& second, double& mixed) {
            first = p * p * a + 2 * p * q * b + q * q * d;
            second = q * q * a + 2 * q * r * b + r * r * d;
            mixed = p * q * a + (p * r + q * q) * b + q * r * d;
        };
        transformed(middle, 0, middle, square.xx.constant, square.yy.constant, square.xy.constant);
        transformed(x, sign * y, -x, square.xx.cosine, square.yy.cosine, square.xy.cosine);
        transformed(y, -sign * x, -y, square.xx.sine, square.yy.sine, square.xy.sine);
        const double least = std::atan2(-(square.xx.sine + square.yy.sine), -(square.xx.cosine + square.yy.cosine));
        // the angle of the largest shear; without the constant, there is no shear a quarter of the circle away
        const double lean = std::atan2(square.xy.sine, square.xy.cosine);
        const double size_of_lean = std::hypot(square.xy.cosine, square.xy.sine);
        const double ratio = size_of_lean > 0 ? -square.xy.constant / size_of_lean : 1;
        const double away = std::acos(std::min(std::max(ratio, -1.0), 1.0));
        const double goals[] = {least, lean + away, lean - away};
        const int n_goals = shear_is_limited ? 3 : 1;  // otherwise only the map that stretches least matters
        for (Index step = 0; step < n_angles; ++step) {
            const double psi = 2 * PI * static_cast<double>(step) / static_cast<double>(n_angles);
            double chosen = NONE;
            for (int k = 0; k < n_goals && std::isnan(chosen); ++k) {
                const double offset = to_half_circles(goals[k] - psi);
                const double nearest = psi + std::min(std::max(offset, -half), half);
                if (bounds.admit(square, nearest)) chosen = nearest;
            }
            for (int k = 0; shear_is_limited && k <= TRIED && std::isnan(chosen); ++k) {
                const double angle = psi + half * (2.0 * k / TRIED - 1);
                if (bounds.admit(square, angle)) chosen = angle;
            }
            out[mirrored * n_angles + step] = chosen / 2;
        }
    }
}

// Compares one descriptor of x with those of y.
template <class T>
class Comparison {
public:
    Comparison(const Waves& x, const Waves& y, const Matching& matching)
        : x_(x), y_(y), m_(matching), stride_((matching.n_angles / 2 + 1 + WIDTH - 1) / WIDTH * WIDTH),
          count_(matching.reflections ? SHARING * stride_ : SHARING / 2 * stride_) {}

    [[nodiscard]] bool prepare() {
        return circle_.reserve(2 * m_.n_angles * m_.n_levels) && products_.reserve(4 * KEPT) &&
               correlations_.reserve(SHARING * stride_) && near_.reserve(2 * m_.n_angles);
    }

    // Choose descriptor i of x for the following comparisons: make the full circle from its half.
    void take(Index i) {
        i_ = i;
        const T* half = static_cast<const T*>(x_.values) + i * size();
        std::copy(half, half + size(), circle_.data());
        T* other = circle_.data() + size();
        for (Index k = 0; k < m_.n_angles; ++k) {
            for (Index j = 0; j < m_.n_levels; ++j) {
                other[k * m_.n_levels + j] = -half[k * m_.n_levels + m_.n_levels - 1 - j];
            }
        }
    }

    Index size() const { return m_.n_angles * m_.n_levels; }

    // The root mean square distance to descriptor j of y at the best turn; infinite if no turn is plausible. If the sum
    // of squares exceeds `most`, the result may be any larger distance.
    double distance(Index j, double most) {
        return std::sqrt(least_square(j, most) / static_cast<double>(size()));
    }

    // The turn of the last distance; −1 if that is infinite.
    Index turn() const { return turn_; }

private:
    Waves x_, y_;
    Matching m_;
    Index stride_, count_, i_ = 0, turn_ = -1;
    Buffer<T> circle_;
    Buffer<float> products_, correlations_;
    Buffer<double> near_;

    double least_square(Index j, double most) {
        turn_ = -1;
        const Index levels = (m_.n_levels + 1) / 2, n_waves = KEPT * 2 * levels;
        multiply(x_.waves + i_ * n_waves, y_.waves + j * n_waves, levels, products_.data());
        for (Index block = 0; block < stride_; block += WIDTH) {
            superpose(products_.data(), m_.turns.table + block * 2 * KEPT, correlations_.data() + block, stride_);
        }
        if (m_.limits) exclude_implausible(j);
        float largest = largest_of(correlations_.data(), count_);
        if (largest == -std::numeric_limits<float>::infinity()) return INFINITE;
        const double *norms = x_.norms + 2 * i_, *other = y_.norms + 2 * j;
        const double rounding = ROUNDING * (1 + static_cast<double>(m_.n_levels) / 256);
        const double uncertain = norms[1] * other[1] + rounding * norms[0] * other[0];
        if (!m_.prior) return best_of(j, least_correlation(largest, uncertain), most, [](Index) { return 0.0; });
        const Penalty penalty(x_.covariances + 3 * i_, y_.covariances + 3 * j, *m_.prior);
        const auto penalty_of = [&](Index turn) {
            const double angle = PI * static_cast<double>(turn) / static_cast<double>(m_.n_angles);
            return penalty.at(std::cos(angle), std::sin(angle), turn >= 2 * m_.n_angles);
        };
        largest = charge(largest, uncertain, penalty_of);
        return best_of(j, least_correlation(largest, uncertain), most, penalty_of);
    }

    static float least_correlation(float largest, double uncertain) {
        return static_cast<float>(static_cast<double>(largest) - 2 * uncertain);
    }

    // Subtract half the penalty of each turn from its correlation, and return the largest one. The mean square distance is
    // a constant minus twice the correlation. Penalties are not negative, so turns whose correlation is already too small
    // need none.
    template <class PenaltyOf>
    float charge(float largest, double uncertain, const PenaltyOf& penalty_of) {
        const auto charged = [&](Index k) {
            return static_cast<float>(static_cast<double>(correlations_[k]) - penalty_of(m_.turns.codes[k]) / 2);
        };
        float most = -std::numeric_limits<float>::infinity();
        for (Index k = 0; k < count_; ++k) {  // one with the largest correlation first, because it excludes many
            if (correlations_[k] == largest && m_.turns.codes[k] >= 0) {
                most = charged(k);
                break;
            }
        }
        for (Index k = 0; k < count_; ++k) {
            if (m_.turns.codes[k] < 0 || correlations_[k] < least_correlation(most, uncertain)) continue;
            correlations_[k] = charged(k);
            most = std::max(most, correlations_[k]);
        }
        return most;
    }

    // The least sum of squares and penalties at the turns whose correlation is at least `least`.
    template <class PenaltyOf>
    double best_of(Index j, float least, double most, const PenaltyOf& penalty_of) {
        const Index n = m_.n_angles;
        const T* values = static_cast<const T*>(y_.values) + j * size();
        double best = INFINITE;
        for (Index block = 0; block < count_; block += WIDTH) {
            const auto is_near = [least](Register<float> v) { return v >= Register<float>{} + least; };
            std::uint64_t bits = bits_where<WIDTH>(correlations_.data() + block, is_near);
            for (; bits != 0; bits &= bits - 1) {
                const Index turn = m_.turns.codes[block + std::countr_zero(bits)];
                if (turn < 0) continue;
                const bool mirrored = turn >= 2 * n;
                const Index start = mirrored ? turn - 2 * n : (2 * n - turn) % (2 * n), step = mirrored ? -1 : 1;
                const double penalty = penalty_of(turn) * static_cast<double>(size());
                const double square = penalty + square_distance(circle_.data(), values, n, m_.n_levels, start, step,
                                                              std::min(best, most) - penalty);
                if (square < best || (square == best && turn < turn_)) best = square, turn_ = turn;
            }
        }
        return best;
    }

    // Set the correlations of implausible turns to −∞.
    void exclude_implausible(Index j) {
        const Index n = m_.n_angles;
        plausible(x_.covariances + 3 * i_, y_.covariances + 3 * j, *m_.limits, n, near_.data());
        for (Index k = 0; k < count_; ++k) {
            const Index code = m_.turns.codes[k];  // −1 if another place has the same turn
            if (code < 0 || std::isnan(near_[code % n + (code >= 2 * n ? n : 0)])) {
                correlations_[k] = -std::numeric_limits<float>::infinity();
            }
        }
    }
};

template <class T>
Result least_distances(const Waves* x, const Waves* y, const Matching* matching, int ascending, Index first_row,
                       Index last_row, Index first_column, Index last_column, Index n_columns, double* distances,
                       Index* turns) {
    Comparison<T> comparison(*x, *y, *matching);
    if (!comparison.prepare()) return NO_MEMORY;
    for (Index i = first_row; i < last_row; ++i) {
        comparison.take(i);
        for (Index j = ascending ? std::max(first_column, i + 1) : first_column; j < last_column; ++j) {
            distances[i * n_columns + j] = comparison.distance(j, INFINITE);
            if (turns) turns[i * n_columns + j] = comparison.turn();
        }
    }
    return OK;
}

template <class T>
Result within(const Waves* x, Index i, const Waves* y, Index n, const Matching* matching, const double* bounds,
              Index left_out, double radius, double* distances) {
    Comparison<T> comparison(*x, *y, *matching);
    if (!comparison.prepare()) return NO_MEMORY;
    comparison.take(i);
    for (Index j = 0; j < n; ++j) {
        distances[j] = bounds[j] <= radius && j != left_out ? comparison.distance(j, INFINITE) : INFINITE;
    }
    return OK;
}

template <class T>
Result nearest(const Waves* x, Index i, const Waves* y, Index n, const Matching* matching, const double* bounds,
               const Index* order, Index left_out, Index room, double* distances, Index* numbers) {
    Comparison<T> comparison(*x, *y, *matching);
    if (!comparison.prepare()) return NO_MEMORY;
    comparison.take(i);
    Index found = 0;
    for (Index k = 0; k < n; ++k) {
        const Index j = order[k];
        const double farthest = found == room ? distances[room - 1] : INFINITE;
        if (bounds[j] > farthest) break;
        if (j == left_out) continue;
        const double most = farthest * farthest * static_cast<double>(comparison.size()) * (1 + 1e-9);
        const double distance = comparison.distance(j, most);
        if (!(distance < INFINITE) || distance > farthest) continue;
        if (found == room && distance == farthest && j > numbers[room - 1]) continue;
        Index place = found < room ? found : room - 1;
        while (place > 0 && (distances[place - 1] > distance ||
                             (distances[place - 1] == distance && numbers[place - 1] > j))) {
            distances[place] = distances[place - 1], numbers[place] = numbers[place - 1];
            --place;
        }
        distances[place] = distance, numbers[place] = j;
        found = std::min(found + 1, room);
    }
    return OK;
}

}  // namespace

// `radoncdt._interface.Kernels` documents these functions. _f32 and _f64 state the precision of the values.
#define RADONCDT_FOR_PRECISION(T, SUFFIX)                                                                             \
    RADONCDT_EXPORT int radoncdt_least_distances_##SUFFIX(                                                            \
        const Waves* x, const Waves* y, const Matching* matching, int ascending, Index first_row, Index last_row,     \
        Index first_column, Index last_column, Index n_columns, double* distances, Index* turns) {                    \
        return least_distances<T>(x, y, matching, ascending, first_row, last_row, first_column, last_column,          \
                                  n_columns, distances, turns);                                                       \
    }                                                                                                                 \
    RADONCDT_EXPORT int radoncdt_within_##SUFFIX(const Waves* x, Index i, const Waves* y, Index n,                    \
                                                 const Matching* matching, const double* bounds, Index left_out,      \
                                                 double radius, double* distances) {                                  \
        return within<T>(x, i, y, n, matching, bounds, left_out, radius, distances);                                  \
    }                                                                                                                 \
    RADONCDT_EXPORT int radoncdt_nearest_##SUFFIX(                                                                    \
        const Waves* x, Index i, const Waves* y, Index n, const Matching* matching, const double* bounds,             \
        const Index* order, Index left_out, Index room, double* distances, Index* numbers) {                          \
        return nearest<T>(x, i, y, n, matching, bounds, order, left_out, room, distances, numbers);                   \
    }

RADONCDT_FOR_PRECISION(float, f32)
RADONCDT_FOR_PRECISION(double, f64)

// Find an angle with a plausible map within half a step of each turn s and, from 2n on, of mirrored ones; NaN for none.
RADONCDT_EXPORT int radoncdt_plausible_turns(const double* moving, const double* fixed, const Limits* limits,
                                             Index n_angles, double* angles) {
    Buffer<double> near;
    if (!near.reserve(2 * n_angles)) return NO_MEMORY;
    plausible(moving, fixed, *limits, n_angles, near.data());
    for (Index code = 0; code < 4 * n_angles; ++code) {
        const double half_circles = static_cast<double>(code % (2 * n_angles) / n_angles);
        angles[code] = near[code % n_angles + (code >= 2 * n_angles ? n_angles : 0)] + half_circles * PI;
    }
    return OK;
}

}  // namespace radoncdt
