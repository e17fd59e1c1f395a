// The kernel that compares two registered images although one of them is slightly bent.
//
// Both images are sampled on a frame of S × S points that cover [−reach, reach]², blurred with the binomial filter
// (1 2 1)/4, and reduced to their Sobel gradients, divided by their joint norm. Every 3 × 3 patch of the gradients of
// the moving image then takes the patch of the fixed one that fits best, at most `window` points away, at a penalty per
// squared point. The distance is the sum over all points (the image distortion model of Keysers et al., 2007).
//
// The polish fits an affine map to the displacements of the patches, weighted by the squared gradient, with a ridge. The
// moving image is sampled again with that map, and the smaller of the two distances is the result.
//
// Gradients are stored with a margin of zeros on all sides, so that displaced patches need no special cases.

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels.h"
#include "memory.h"
#include "vectors.h"

namespace radoncdt {
namespace {

constexpr Index WIDTH = sizeof(Wide) / sizeof(float);
constexpr double BLANK = 18;  // distance of an image without gradients, about that of images without a common patch
constexpr float MIN_WEIGHT = 1e-7f;  // squared gradients below this do not take part in the polish

// x ↦ (a x + b y + c, d x + e y + f)
struct Affine {
    double a, b, c, d, e, f;

    Affine after(const Affine& first) const {
        return {a * first.a + b * first.d, a * first.b + b * first.e, a * first.c + b * first.f + c,
                d * first.a + e * first.d, d * first.b + e * first.e, d * first.c + e * first.f + f};
    }
};

// Solve a symmetric positive definite 3 × 3 system for two right-hand sides, in place.
void solve(double (&matrix)[3][3], double (&right)[2][3]) {
    for (int k = 0; k < 3; ++k) {
        for (int i = k + 1; i < 3; ++i) {
            const double factor = matrix[i][k] / matrix[k][k];
            for (int j = k; j < 3; ++j) matrix[i][j] -= factor * matrix[k][j];
            for (auto& side : right) side[i] -= factor * side[k];
        }
    }
    for (auto& side : right) {
        for (int k = 2; k >= 0; --k) {
            for (int j = k + 1; j < 3; ++j) side[k] -= matrix[k][j] * side[j];
            side[k] /= matrix[k][k];
        }
    }
}

class Distortion {
public:
    Distortion(Index side, double reach, const Bending& bending)
        : side_(side), rows_(side + 2), pitch_((side + 2 * bending.window + 2 * WIDTH) / WIDTH * WIDTH), reach_(reach),
          step_(2 * reach / static_cast<double>(side)), bending_(bending) {}

    [[nodiscard]] bool prepare() {
        const Index planes = 2 * (side_ + 2 * margin()) * pitch_;
        const bool done = image_.reserve(side_ * side_) && blurred_.reserve(side_ * side_) && columns_.reserve(side_) &&
                          lines_.reserve(side_) && places_.reserve_zeros(side_ + LANES<float>) &&
                          moving_.reserve_zeros(planes) && fixed_.reserve_zeros(planes) &&
                          differences_.reserve_zeros((2 * bending_.window + 1) * rows_ * room()) &&
                          best_.reserve(side_ * room()) && codes_.reserve_zeros(side_ * room());
        for (Index j = 0; done && j < side_; ++j) places_[j] = static_cast<float>(place(j) * 2 / reach_);
        return done;
    }

    void take_fixed(const Image& image, const Affine& map) { fixed_is_blank_ = !take(image, map, fixed_.data()); }

    // The distance of an image to the fixed one. `map` leads from the frame to the image, and becomes the polished map
    // if that one is better.
    double compare(const Image& image, Affine& map) {
        if (!take(image, map, moving_.data()) || fixed_is_blank_) return BLANK;
        const double plain = match();
        if (!bending_.polish) return plain;
        const Affine polished = map.after(fit_displacements());
        if (!take(image, polished, moving_.data())) return plain;
        const double better = match();
        if (!(better < plain)) return plain;
        map = polished;
        return better;
    }

private:
    Index side_, rows_, pitch_;
    double reach_, step_;
    Bending bending_;
    bool fixed_is_blank_ = false;
    Buffer<float> image_, blurred_, columns_, lines_, places_, moving_, fixed_, differences_, best_, codes_;

    Index margin() const { return bending_.window + 1; }
    Index plane() const { return (side_ + 2 * margin()) * pitch_; }
    // The length of a row of differences and matches, with room for loads at its end.
    Index room() const { return (rows_ + WIDTH - 1) / WIDTH * WIDTH + WIDTH; }

    // The coordinate of column j of the frame; that of row i is its negative.
    double place(Index j) const { return -reach_ + (static_cast<double>(j) + 0.5) * step_; }

    // Sample an image and find its gradients. Returns false if all of them are 0.
    bool take(const Image& image, const Affine& map, float* gradients) {
        sample(image, map);
        blur();
        return differentiate(gradients);
    }

    // Interpolate an image bilinearly at the points of the frame; it is 0 beyond its edges.
    void sample(const Image& image, const Affine& map) {
        const double height = static_cast<double>(image.height), width = static_cast<double>(image.width);
        for (Index i = 0; i < side_; ++i) {
            const double y = -place(i);
            const double column = (width + 1) / 2 + map.b * y + map.c, line = (height + 1) / 2 - map.e * y - map.f;
            for (Index j = 0; j < side_; ++j) {  // places are counted from −1, so that truncation rounds down
                const double x = place(j);
                columns_[j] = static_cast<float>(std::min(std::max(column + map.a * x, 0.0), width + 1));
                lines_[j] = static_cast<float>(std::min(std::max(line - map.d * x, 0.0), height + 1));
            }
            const auto [begin, end] = find_inside(image);
            float* row = image_.data() + i * side_;
            for (Index j = 0; j < begin; ++j) row[j] = interpolate<true>(image, j);
            for (Index j = begin; j < end; ++j) row[j] = interpolate<false>(image, j);
            for (Index j = end; j < side_; ++j) row[j] = interpolate<true>(image, j);
        }
    }

    // The points of a row, from the first to behind the last, between the first and last pixels of an image. They follow
    // each other, because the row is a straight line.
    std::pair<Index, Index> find_inside(const Image& image) const {
        const auto height = static_cast<float>(image.height), width = static_cast<float>(image.width);
        const auto is_inside = [&](Index j) {
            return columns_[j] >= 1 && columns_[j] < width && lines_[j] >= 1 && lines_[j] < height;
        };
        Index begin = 0, end = side_;
        while (begin < end && !is_inside(begin)) ++begin;
        while (end > begin && !is_inside(end - 1)) --end;
        return {begin, end};
    }

    // The value of an image at point j of the row. Points near the edges and beyond need checks.
    template <bool CHECK>
    float interpolate(const Image& image, Index j) const {
        const auto left = static_cast<Index>(columns_[j]) - 1, top = static_cast<Index>(lines_[j]) - 1;
        const float right_part = columns_[j] - static_cast<float>(left + 1);
        const float lower_part = lines_[j] - static_cast<float>(top + 1);
        const auto pixel = [&](Index row, Index at) {
            const bool inside = !CHECK || (row >= 0 && row < image.height && at >= 0 && at < image.width);
            return inside ? static_cast<const float*>(image.pixels)[row * image.stride + at] : 0.0f;
        };
        const float upper = (1 - right_part) * pixel(top, left) + right_part * pixel(top, left + 1);
        const float lower = (1 - right_part) * pixel(top + 1, left) + right_part * pixel(top + 1, left + 1);
        return (1 - lower_part) * upper + lower_part * lower;
    }

    // Blur the sampled image with (1 2 1)/4 along rows and columns; beyond the frame it is 0.
    void blur() {
        for (Index i = 0; i < side_; ++i) {
            const float* row = image_.data() + i * side_;
            float* out = blurred_.data() + i * side_;
            for (Index j = 1; j + 1 < side_; ++j) out[j] = 0.25f * (row[j - 1] + row[j + 1]) + 0.5f * row[j];
            out[0] = 0.25f * row[1] + 0.5f * row[0];
            out[side_ - 1] = 0.25f * row[side_ - 2] + 0.5f * row[side_ - 1];
        }
        for (Index i = 0; i < side_; ++i) {
            const float* row = blurred_.data() + i * side_;
            float* out = image_.data() + i * side_;
            const float above = i > 0 ? 0.25f : 0, below = i + 1 < side_ ? 0.25f : 0;
            const float *upper = i > 0 ? row - side_ : row, *lower = i + 1 < side_ ? row + side_ : row;
            for (Index j = 0; j < side_; ++j) out[j] = above * upper[j] + below * lower[j] + 0.5f * row[j];
        }
    }

    // Sobel gradients along rows and columns, divided by their joint norm. They are 0 on the border of the frame.
    bool differentiate(float* gradients) {
        for (Index i = 1; i + 1 < side_; ++i) {
            const float *row = image_.data() + i * side_, *upper = row - side_, *lower = row + side_;
            float* along = gradients + (margin() + i) * pitch_ + margin();
            float* down = along + plane();
            for (Index j = 1; j + 1 < side_; ++j) {
                along[j] = (upper[j + 1] - upper[j - 1]) + 2 * (row[j + 1] - row[j - 1]) + (lower[j + 1] - lower[j - 1]);
                down[j] = (lower[j - 1] - upper[j - 1]) + 2 * (lower[j] - upper[j]) + (lower[j + 1] - upper[j + 1]);
            }
        }
        double total = 0;  // added up after all rows are written, because a load soon after its store has to wait
        for (Index i = 1; i + 1 < side_; ++i) {
            const float* along = gradients + (margin() + i) * pitch_ + margin();
            Vector<float> squares{};
            for (Index j = 0; j < side_; j += LANES<float>) {  // gradients behind the row are 0
                const Vector<float> a = load(along + j), d = load(along + plane() + j);
                squares += multiply_add(a, a, d * d);
            }
            total += static_cast<double>(sum(squares));
        }
        const float factor = total > 0 ? static_cast<float>(1 / std::sqrt(total)) : 0;
        for (Index i = 1; i + 1 < side_; ++i) {
            float* along = gradients + (margin() + i) * pitch_ + margin();
            float* down = along + plane();
            for (Index j = 1; j + 1 < side_; ++j) along[j] *= factor, down[j] *= factor;
        }
        return total > 0;
    }

    // Find the best displacement of every patch, and return the sum of the squared differences and penalties.
    double match() {
        std::fill(best_.data(), best_.data() + side_ * room(), 1e30f);
        for (Index dy = -bending_.window; dy <= bending_.window; ++dy) {
            subtract(dy);
            keep_best(dy);
        }
        Vector<double> totals{};
        double rest = 0;
        for (Index i = 0; i < side_; ++i) {
            const float* row = best_.data() + i * room();
            Index j = 0;
            for (; j + LANES<double> <= side_; j += LANES<double>) totals += load_doubles(row + j);
            for (; j < side_; ++j) rest += static_cast<double>(row[j]);
        }
        return sum(totals) + rest;
    }

    // The squared differences of all points from those displaced by (dy, dx), for all dx.
    void subtract(Index dy) {
        const Index origin = margin() - 1;
        float* differences = differences_.data();
        for (Index dx = -bending_.window; dx <= bending_.window; ++dx) {
            for (Index i = 0; i < rows_; ++i, differences += room()) {
                const float* moving = moving_.data() + (origin + i) * pitch_ + origin;
                const float* fixed = fixed_.data() + (origin + i + dy) * pitch_ + origin + dx;
                for (Index j = 0; j < rows_; j += WIDTH) {
                    const Wide along = load_as<Wide>(moving + j) - load_as<Wide>(fixed + j);
                    const Wide down = load_as<Wide>(moving + plane() + j) - load_as<Wide>(fixed + plane() + j);
                    store(differences + j, multiply_add(along, along, down * down));
                }
            }
        }
    }

    // Sum the differences over patches, and keep the better matches. Differences are summed along rows first; the sums
    // of the two rows above stay in registers.
    void keep_best(Index dy) {
        const Index window = bending_.window;
        for (Index dx = -window; dx <= window; ++dx) {
            const float* differences = differences_.data() + (dx + window) * rows_ * room();
            const auto penalty = static_cast<float>(bending_.penalty * static_cast<double>(dx * dx + dy * dy));
            const auto code = static_cast<float>((dy + window) * (2 * window + 1) + dx + window);
            for (Index j = 0; j < side_; j += WIDTH) {
                const auto sum_three = [&](Index i) {
                    const float* row = differences + i * room() + j;
                    return load_as<Wide>(row) + load_as<Wide>(row + 1) + load_as<Wide>(row + 2);
                };
                Wide first = sum_three(0), second = sum_three(1);
                for (Index i = 0; i < side_; ++i) {
                    const Wide third = sum_three(i + 2), patch = (first + second) + (third + penalty);
                    float *best = best_.data() + i * room() + j, *codes = codes_.data() + i * room() + j;
                    const Wide before = load_as<Wide>(best);
                    const auto smaller = patch < before;
                    store(best, smaller ? patch : before);
                    store(codes, smaller ? Wide{} + code : load_as<Wide>(codes));
                    first = second, second = third;
                }
            }
        }
    }

    // Sums over a row, weighted by the squared gradient: of 1, x and x², and of the displacement to the right and upwards
    // in points, alone and times x. One unit of x is half of the reach.
    struct RowSums {
        double one, x, xx, right, right_x, up, up_x;
    };

    RowSums sum_row(Index i) const {
        const float* along = moving_.data() + (margin() + i) * pitch_ + margin();
        const float *down = along + plane(), *codes = codes_.data() + i * room();
        const auto window = static_cast<float>(bending_.window), n = 2 * window + 1;
        Vector<float> sums[7] = {};
        for (Index j = 0; j < side_; j += LANES<float>) {  // gradients behind the row are 0
            const Vector<float> a = load(along + j), d = load(down + j), squared = multiply_add(a, a, d * d);
            const Vector<float> weight = squared >= spread(MIN_WEIGHT) ? squared : Vector<float>{};
            const Vector<float> x = load(places_.data() + j), weight_x = weight * x, code = load(codes + j);
            const auto line = round_down((code + 0.5f) / n);
            const Vector<float> right = code - n * line - window, up = window - line;
            sums[0] += weight, sums[1] += weight_x, sums[2] = multiply_add(weight_x, x, sums[2]);
            sums[3] = multiply_add(weight, right, sums[3]), sums[4] = multiply_add(weight_x, right, sums[4]);
            sums[5] = multiply_add(weight, up, sums[5]), sums[6] = multiply_add(weight_x, up, sums[6]);
        }
        return {sum(sums[0]), sum(sums[1]), sum(sums[2]), sum(sums[3]), sum(sums[4]), sum(sums[5]), sum(sums[6])};
    }

    // The largest whole numbers that are not greater than numbers that are not negative.
    static Vector<float> round_down(Vector<float> v) {
        return __builtin_convertvector(__builtin_convertvector(v, Vector<std::int32_t>), Vector<float>);
    }

    // The affine map of the frame that the best displacements suggest for the moving image.
    Affine fit_displacements() {
        double matrix[3][3] = {}, right[2][3] = {}, total = 0;
        for (Index i = 0; i < side_; ++i) {
            const double y = -place(i) * 2 / reach_;
            const RowSums sums = sum_row(i);
            const double moments[3][3] = {{sums.one, sums.x, y * sums.one}, {sums.x, sums.xx, y * sums.x},
                                          {y * sums.one, y * sums.x, y * y * sums.one}};
            const double to_right[3] = {step_ * sums.right, step_ * sums.right_x, y * step_ * sums.right};
            const double upwards[3] = {step_ * sums.up, step_ * sums.up_x, y * step_ * sums.up};
            for (int a = 0; a < 3; ++a) {
                right[0][a] += to_right[a], right[1][a] += upwards[a];
                for (int b = 0; b < 3; ++b) matrix[a][b] += moments[a][b];
            }
            total += sums.one;
        }
        if (!(total > 0)) return {1, 0, 0, 0, 1, 0};
        for (int a = 0; a < 3; ++a) matrix[a][a] += bending_.ridge * total;
        solve(matrix, right);
        const double scale = 2 / reach_;
        return {1 - scale * right[0][1], -scale * right[0][2], -right[0][0],
                -scale * right[1][1], 1 - scale * right[1][2], -right[1][0]};
    }
};

Affine read_map(const double* six) { return {six[0], six[1], six[2], six[3], six[4], six[5]}; }

}  // namespace

RADONCDT_EXPORT int radoncdt_distortions(const Image* moving, const Image* fixed, Index n, const Index* pairs,
                                         double* moving_maps, const double* fixed_maps, Index side, double reach,
                                         const Bending* bending, double* distances) {
    Distortion distortion(side, reach, *bending);
    if (!distortion.prepare()) return NO_MEMORY;
    for (Index k = 0; k < n; ++k) {
        const Index i = pairs[2 * k], j = pairs[2 * k + 1];
        if (k == 0 || j != pairs[2 * k - 1]) distortion.take_fixed(fixed[j], read_map(fixed_maps + 6 * j));
        Affine map = read_map(moving_maps + 6 * k);
        distances[k] = distortion.compare(moving[i], map);
        const double six[] = {map.a, map.b, map.c, map.d, map.e, map.f};
        std::copy(six, six + 6, moving_maps + 6 * k);
    }
    return OK;
}

}  // namespace radoncdt
