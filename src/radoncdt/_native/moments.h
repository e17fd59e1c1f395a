// Mean and covariance of an image, plain and robust.
//
// The moments of the image give those of every projection: mean_θ = ⟨m, θ⟩, std_θ² = θᵀΣθ. A pixel is a unit square, so
// Σ contains the variance 1/12 of the square in x and y. All sums are in double and centred.
#pragma once

#include <algorithm>
#include <cmath>

#include "frames.h"

namespace radoncdt {

inline constexpr double PIXEL_VARIANCE = 1.0 / 12;
inline constexpr int MAX_STEPS = 1000;       // iterations after which robust moments count as unsettled
inline constexpr double TOLERANCE = 1e-12;  // change of robust moments at convergence, in standard deviations

template <class T>
class MomentSums {
public:
    // Compute mean and covariance, with the origin at the centre of the box. False if there is no memory.
    [[nodiscard]] bool compute(const Lines<T>& rows, Moments& out) {
        const Index n_rows = rows.count, length = rows.length;
        if (!masses_.reserve_zeros(n_rows) || !leans_.reserve_zeros(n_rows)) return false;
        if (!columns_.reserve_zeros(length + 2 + BLOCK)) return false;
        add_rows(rows);
        double total = 0, row = 0, column = 0;
        for (Index r = 0; r < n_rows; ++r) total += masses_[r];
        for (Index r = 0; r < n_rows; ++r) row += masses_[r] * static_cast<double>(r);
        for (Index k = 0; k < length; ++k) column += columns_[k] * static_cast<double>(k);
        row /= total;
        column /= total;
        double xx = 0, xy = 0, yy = 0;
        for (Index k = 0; k < length; ++k) {
            const double x = static_cast<double>(k) - column;
            xx += columns_[k] * (x * x);
        }
        for (Index r = 0; r < n_rows; ++r) {
            const double y = static_cast<double>(r) - row;
            yy += masses_[r] * (y * y);
            xy -= (leans_[r] - column * masses_[r]) * y;
        }
        out.x = column - 0.5 * static_cast<double>(length - 1);
        out.y = 0.5 * static_cast<double>(n_rows - 1) - row;
        out.xx = xx / total + PIXEL_VARIANCE;
        out.xy = xy / total;
        out.yy = yy / total + PIXEL_VARIANCE;
        return true;
    }

private:
    Buffer<double> masses_, leans_, columns_;  // mass and first moment of every row, mass of every column

    // Sums over blocks of a row, in four lanes each, for pixels 0 to 3 and 4 to 7 of a block.
    struct Sums {
        Vector<double> mass[2] = {}, lean[2] = {};

        RADONCDT_INLINE void add(const T* pixels, double* columns, Vector<double> place) {
            for (int half = 0; half < 2; ++half) {
                const Vector<double> values = load_doubles(pixels + 4 * half);
                store(columns + 4 * half, load(columns + 4 * half) + values);
                mass[half] += values;
                lean[half] = multiply_add(values, place + 4.0 * half, lean[half]);
            }
        }
    };

    void add_rows(const Lines<T>& rows) {
        const std::int32_t* runs = rows.runs;
        for (Index r = 0; r < rows.count; ++r, ++runs) {
            const T* line = rows.pixels + r * rows.pitch;
            Sums even, odd;  // alternating blocks, so that an addition need not wait for the one before
            for (; *runs != END; runs += 2) {
                Vector<double> place = Vector<double>{0, 1, 2, 3} + static_cast<double>(runs[0]);
                Index k = runs[0];
                for (; k + 2 * BLOCK <= runs[1]; k += 2 * BLOCK) {
                    even.add(line + k, columns_.data() + k, place);
                    odd.add(line + k + BLOCK, columns_.data() + k + BLOCK, place + static_cast<double>(BLOCK));
                    place += static_cast<double>(2 * BLOCK);
                }
                if (k < runs[1]) even.add(line + k, columns_.data() + k, place);
            }
            masses_[r] = sum((even.mass[0] + even.mass[1]) + (odd.mass[0] + odd.mass[1]));
            leans_[r] = sum((even.lean[0] + even.lean[1]) + (odd.lean[0] + odd.lean[1]));
        }
    }
};

// Points with masses, in three arrays. The number of points is a multiple of 4; points added for this have no mass.
struct Points {
    const double *x, *y, *mass;
    Index count;
};

// Fit a Student t distribution with ν degrees of freedom to points with masses, each of which stands for a square of
// variance `extent` in x and y. `moments` are the initial location and scatter, and are replaced by the final ones.
// Each step weights a point by (ν + 2)/(ν + q), where q is its expected squared Mahalanobis distance, and computes
// weighted moments. The scatter is divided by the sum of the weights, which leads to the same maximum of the likelihood
// in fewer steps than dividing by the mass. Returns whether it converged.
inline bool student_moments(const Points& points, double nu, double extent, Moments& moments) {
    for (int step = 0; step < MAX_STEPS; ++step) {
        const auto [mx, my, xx, xy, yy] = moments;
        const double determinant = xx * yy - xy * xy, trace = xx + yy;
        if (!(determinant > 1e-14 * (trace * trace))) return false;
        const double a = yy / determinant, b = -xy / determinant, d = xx / determinant;
        const double base = nu + extent * (a + d);
        Vector<double> weights{}, wx{}, wy{}, wxx{}, wxy{}, wyy{};
        for (Index i = 0; i < points.count; i += 4) {
            const Vector<double> x = load(points.x + i) - mx, y = load(points.y + i) - my;
            const Vector<double> distance = a * x * x + 2 * b * x * y + d * y * y + base;
            const Vector<double> weight = load(points.mass + i) * (nu + 2) / distance;
            weights += weight;
            wx += weight * x;
            wy += weight * y;
            wxx += weight * x * x;
            wxy += weight * x * y;
            wyy += weight * y * y;
        }
        const double total = sum(weights), sx = sum(wx) / total, sy = sum(wy) / total;
        const double nxx = sum(wxx) / total - sx * sx + extent;
        const double nxy = sum(wxy) / total - sx * sy;
        const double nyy = sum(wyy) / total - sy * sy + extent;
        moments = {mx + sx, my + sy, nxx, nxy, nyy};
        const double moved = a * sx * sx + 2 * b * sx * sy + d * sy * sy;
        // the largest deviation of Σ⁻¹ times the new Σ from the identity matrix
        const double changed = std::max(std::max(std::abs(a * nxx + b * nxy - 1), std::abs(b * nxy + d * nyy - 1)),
                                        std::max(std::abs(a * nxy + b * nyy), std::abs(b * nxx + d * nxy)));
        if (moved < TOLERANCE * TOLERANCE && changed < TOLERANCE) return true;
    }
    return false;
}

}  // namespace radoncdt
