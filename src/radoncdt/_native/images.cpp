// The kernels for images: moments, masses of strips, quantiles, and the adjoint of the projections.

#include "frames.h"
#include "kernels.h"
#include "moments.h"
#include "projection.h"
#include "quantiles.h"

namespace radoncdt {
namespace {

// Call `visit(lines, directions, count)` for the directions along rows and for those along columns. Columns are copied
// only if a direction needs them. Returns false if there is no memory, or if `visit` returns false.
template <class T, class Visit>
bool for_both_kinds_of_lines(Frame<T>& frame, const Lines<T>& rows, const Sweep& sweep, Visit visit) {
    if (sweep.n_rows > 0 && !visit(rows, sweep.directions.data(), sweep.n_rows)) return false;
    const Index n_columns = sweep.count - sweep.n_rows;
    if (n_columns == 0) return true;
    Lines<T> columns;
    return frame.columns(columns) && visit(columns, sweep.directions.data() + sweep.n_rows, n_columns);
}

template <class T>
Result image_moments(Index n, const Image* images, Moments* out, Index* status) {
    Frame<T> frame;
    MomentSums<T> sums;
    for (Index i = 0; i < n; ++i) {
        if (!frame.read(images[i])) return NO_MEMORY;
        status[i] = frame.status;
        if (frame.status != 0) continue;
        frame.rescale();
        Lines<T> rows;
        if (!frame.rows(rows) || !sums.compute(rows, out[i])) return NO_MEMORY;
        out[i].x += frame.centre_x();
        out[i].y += frame.centre_y();
    }
    return OK;
}

template <class T>
Result image_masses(Index n, const Image* images, Index n_angles, const double* cosines, const double* sines,
                    Index n_bins, T* out, double* origins, Index* status) {
    Frame<T> frame;
    Projector<T> projector;
    Sweep sweep;
    if (!sweep.reserve(n_angles)) return NO_MEMORY;
    sweep.set(cosines, sines, n_angles);
    for (Index i = 0; i < n; ++i) {
        if (!frame.read(images[i])) return NO_MEMORY;
        status[i] = frame.status;
        if (frame.status & NOT_FINITE) continue;
        const int exponent = frame.status & EMPTY ? 0 : frame.rescale();
        const double x = frame.centre_x(), y = frame.centre_y();
        Lines<T> rows;
        if (!frame.rows(rows)) return NO_MEMORY;
        T* masses_of_image = out + i * n_angles * n_bins;
        std::fill(masses_of_image, masses_of_image + n_angles * n_bins, T(0));
        const auto visit = [&](const Lines<T>& lines, const Direction* directions, Index count) {
            if (!projector.prepare(lines)) return false;
            const Index before = (n_bins - lines.length) / 2;  // bins before those of the pixels of a line
            for (Index d = 0; d < count; d += GROUP) {
                const Index members = std::min(GROUP, count - d);
                projector.project(lines, directions + d, members);
                for (Index g = 0; g < members; ++g) {
                    const Direction& direction = directions[d + g];
                    const T* masses = projector.masses(g);
                    T* row = masses_of_image + direction.number * n_bins;
                    double origin = static_cast<double>(before) + 0.5 * static_cast<double>(lines.length);
                    const bool mirrored = direction.along < 0;
                    if (mirrored) origin = static_cast<double>(n_bins) - origin;
                    const double offset = direction.cosine * x + direction.sine * y;
                    origins[i * n_angles + direction.number] = origin - offset / std::abs(direction.along);
                    const Index shift = before - projector.lead[g];
                    const Index first = std::max<Index>(0, -shift);
                    const Index last = std::min(projector.n_bins[g], n_bins - shift);
                    for (Index b = first; b < last; ++b) {
                        const T mass = exponent == 0 ? masses[b] : std::ldexp(masses[b], exponent);
                        row[mirrored ? n_bins - 1 - b - shift : b + shift] = mass;
                    }
                }
            }
            return true;
        };
        if (!for_both_kinds_of_lines(frame, rows, sweep, visit)) return NO_MEMORY;
    }
    return OK;
}

// Collect the pixels with ink as points, with the origin at the centre of the box. Padded to a multiple of 4.
template <class T>
bool gather(const Frame<T>& frame, Buffer<double>& room, Points& points) {
    const Index height = frame.box.height(), width = frame.box.width(), most = height * width + 3;
    if (!room.reserve(3 * most)) return false;
    double *x = room.data(), *y = x + most, *mass = y + most;
    Index n = 0;
    for (Index i = 0; i < height; ++i) {
        for (Index j = 0; j < width; ++j) {
            const auto value = static_cast<double>(frame.pixel(i, j));
            if (value == 0) continue;
            x[n] = static_cast<double>(j) - 0.5 * static_cast<double>(width - 1);
            y[n] = 0.5 * static_cast<double>(height - 1) - static_cast<double>(i);
            mass[n++] = value;
        }
    }
    for (; n % 4 != 0; ++n) x[n] = y[n] = mass[n] = 0;
    points = {x, y, mass, n};
    return true;
}

// Computes the quantiles of the projections of images, one image after the other.
template <class T>
class QuantileTransform {
public:
    QuantileTransform(Index n_angles, const double* cosines, const double* sines, Index n_levels, const double* levels,
                      int options, double nu)
        : n_angles_(n_angles), cosines_(cosines), sines_(sines), n_levels_(n_levels), levels_(levels),
          options_(options), nu_(nu) {}

    [[nodiscard]] bool prepare() {
        if (!sweep_.reserve(n_angles_) || !row_.reserve(n_levels_) || !turned_.reserve(2 * n_angles_)) return false;
        if (!(options_ & WHITEN)) sweep_.set(cosines_, sines_, n_angles_);
        return true;
    }

    // False if there is no memory.
    [[nodiscard]] bool transform(const Image& image, double* out, Moments& moments, Index& status) {
        if (!frame_.read(image)) return false;
        status = frame_.status;
        if (status != 0) return true;
        frame_.rescale();
        Lines<T> rows;
        if (!frame_.rows(rows)) return false;
        Moments centred{};  // origin at the centre of the box
        if (options_ & (NORMALISE | WHITEN)) {
            if (!sums_.compute(rows, centred)) return false;
            if (nu_ > 0) {
                Points points;
                if (!gather(frame_, ink_, points)) return false;
                if (!student_moments(points, nu_, PIXEL_VARIANCE, centred)) status |= UNSETTLED;
            }
        }
        if (options_ & WHITEN) {
            double *c = turned_.data(), *s = c + n_angles_;
            whiten(cosines_, sines_, n_angles_, centred.xx, centred.xy, centred.yy, c, s);
            sweep_.set(c, s, n_angles_);
        }
        moments = centred;
        moments.x += frame_.centre_x();
        moments.y += frame_.centre_y();
        if (options_ & EXTREMES) {
            std::fill(out, out + n_levels_, -std::numeric_limits<double>::infinity());
            std::fill(out + n_levels_, out + 2 * n_levels_, std::numeric_limits<double>::infinity());
        }
        const auto visit = [&](const Lines<T>& lines, const Direction* directions, Index count) {
            return transform_lines(lines, directions, count, centred, out);
        };
        if (!for_both_kinds_of_lines(frame_, rows, sweep_, visit)) return false;
        if (options_ & EXTREMES) add_opposites(out);
        return true;
    }

private:
    Index n_angles_;
    const double *cosines_, *sines_;
    Index n_levels_;
    const double* levels_;
    int options_;
    double nu_;
    Frame<T> frame_;
    MomentSums<T> sums_;
    Sweep sweep_;
    Projector<T> projector_;
    QuantileSearch search_;
    Buffer<double> turned_, row_, cumulated_, ink_;

    bool transform_lines(const Lines<T>& lines, const Direction* directions, Index count, const Moments& moments,
                         double* out) {
        const Index most = Projector<T>::most_bins(lines), room = most + 1 + STEP;
        if (!projector_.prepare(lines) || !cumulated_.reserve(GROUP * room) || !search_.prepare(most, n_levels_)) {
            return false;
        }
        double* cumulated[GROUP];
        for (Index g = 0; g < GROUP; ++g) cumulated[g] = cumulated_.data() + g * room;
        for (Index d = 0; d < count; d += GROUP) {
            const Index members = std::min(GROUP, count - d);
            projector_.project(lines, directions + d, members);
            cumulate(projector_, directions + d, members, cumulated);
            for (Index g = 0; g < members; ++g) {
                const Direction& direction = directions[d + g];
                double* values = options_ & EXTREMES ? row_.data() : out + direction.number * n_levels_;
                search_.find(cumulated[g], projector_.n_bins[g], levels_, n_levels_, values);
                double origin = static_cast<double>(projector_.lead[g]) + 0.5 * static_cast<double>(lines.length);
                if (direction.along < 0) origin = static_cast<double>(projector_.n_bins[g]) - origin;
                place(values, direction, origin, moments);
                if (options_ & EXTREMES) keep_extremes(values, out);
            }
        }
        return true;
    }

    // From bins to pixels from the centre of the image, or to mean 0 and standard deviation 1.
    void place(double* values, const Direction& direction, double origin, const Moments& moments) const {
        const double c = direction.cosine, s = direction.sine, width = std::abs(direction.along);
        if (options_ & NORMALISE) {
            const double mean = c * moments.x + s * moments.y;
            const double variance = c * c * moments.xx + 2 * c * s * moments.xy + s * s * moments.yy;
            const double scale = 1 / std::sqrt(variance);
            for (Index k = 0; k < n_levels_; ++k) values[k] = (width * (values[k] - origin) - mean) * scale;
        } else {
            const double centre = c * frame_.centre_x() + s * frame_.centre_y();
            for (Index k = 0; k < n_levels_; ++k) values[k] = width * (values[k] - origin) + centre;
        }
    }

    void keep_extremes(const double* __restrict values, double* __restrict out) const {
        double* __restrict largest = out;
        double* __restrict smallest = out + n_levels_;
        for (Index k = 0; k < n_levels_; ++k) {
            largest[k] = values[k] > largest[k] ? values[k] : largest[k];
            smallest[k] = values[k] < smallest[k] ? values[k] : smallest[k];
        }
    }

    // The opposite direction has −N(1 − t).
    void add_opposites(double* out) const {
        double *largest = out, *smallest = out + n_levels_;
        for (Index k = 0; k < n_levels_; ++k) largest[k] = std::max(largest[k], -smallest[n_levels_ - 1 - k]);
        for (Index k = 0; k < n_levels_; ++k) smallest[k] = -largest[n_levels_ - 1 - k];
    }
};

template <class T>
Result image_quantiles(Index n, const Image* images, Index n_angles, const double* cosines, const double* sines,
                       Index n_levels, const double* levels, int options, double nu, double* out, Moments* moments,
                       Index* status) {
    QuantileTransform<T> transform(n_angles, cosines, sines, n_levels, levels, options, nu);
    if (!transform.prepare()) return NO_MEMORY;
    const Index size = (options & EXTREMES ? 2 : n_angles) * n_levels;
    for (Index i = 0; i < n; ++i) {
        if (!transform.transform(images[i], out + i * size, moments[i], status[i])) return NO_MEMORY;
    }
    return OK;
}

constexpr double FARTHEST = 1 << 30;  // bins from the centre of an image; more than any image has

// image[r][k] += w₀ v[s + k] + w₁ v[s + k + 1] + w₂ v[s + k + 2], where s is the first bin of row r.
template <class T>
bool add_back(const T* values, const double* centres, Index n_bins, const Direction* directions, Index n_directions,
              Index count, Index length, T* image) {
    Buffer<std::int32_t> starts;
    Buffer<T> weights, padded;
    const Index margin = length + 2;
    if (!starts.reserve(count) || !weights.reserve(2 * count) || !padded.reserve_zeros(n_bins + 2 * margin)) {
        return false;
    }
    for (Index d = 0; d < n_directions; ++d) {
        const Direction& direction = directions[d];
        const T* row = values + direction.number * n_bins;
        double centre = centres[direction.number];
        if (direction.along < 0) {
            centre = static_cast<double>(n_bins) - centre;
            std::reverse_copy(row, row + n_bins, padded.data() + margin);
        } else {
            std::copy(row, row + n_bins, padded.data() + margin);
        }
        if (!(std::abs(centre) < FARTHEST)) continue;  // no bin reaches the image
        T *w0 = weights.data(), *w2 = w0 + count;
        taps(direction.slope, centre - 0.5 * static_cast<double>(length), 0, 1, 0, count, starts.data(), w0, w2);
        for (Index r = 0; r < count; ++r) {
            const Index start = starts[r] + margin;
            if (start < 0 || start > n_bins + margin) continue;
            const T* __restrict v = padded.data() + start;
            T* __restrict line = image + r * length;
            const T first = w0[r], third = w2[r], second = T(1) - first - third;
            const Index most = std::min(length, n_bins + 2 * margin - start - 2);
            for (Index k = 0; k < most; ++k) line[k] += first * v[k] + second * v[k + 1] + third * v[k + 2];
        }
    }
    return true;
}

template <class T>
Result back_project(const T* values, const double* centres, Index n_angles, const double* cosines, const double* sines,
                    Index n_bins, Index height, Index width, T* image) {
    Sweep sweep;
    if (!sweep.reserve(n_angles)) return NO_MEMORY;
    sweep.set(cosines, sines, n_angles);
    std::fill(image, image + height * width, T(0));
    if (!add_back(values, centres, n_bins, sweep.directions.data(), sweep.n_rows, height, width, image)) {
        return NO_MEMORY;
    }
    const Index n_columns = n_angles - sweep.n_rows;
    if (n_columns == 0) return OK;
    Buffer<T> turned;  // columns, from the bottom to the top
    if (!turned.reserve_zeros(height * width)) return NO_MEMORY;
    const Direction* columns = sweep.directions.data() + sweep.n_rows;
    if (!add_back(values, centres, n_bins, columns, n_columns, width, height, turned.data())) return NO_MEMORY;
    for (Index i = 0; i < height; ++i) {
        for (Index j = 0; j < width; ++j) image[i * width + j] += turned[j * height + height - 1 - i];
    }
    return OK;
}

Result bin_quantiles(Index n, Index n_bins, const double* masses, Index n_levels, const double* levels, double* out) {
    Buffer<double> cumulated;
    QuantileSearch search;
    if (!cumulated.reserve(n_bins + 1 + STEP) || !search.prepare(n_bins, n_levels)) return NO_MEMORY;
    for (Index i = 0; i < n; ++i) {
        double total = cumulated[0] = 0;
        for (Index b = 0; b < n_bins; ++b) cumulated[b + 1] = total += masses[i * n_bins + b];
        search.find(cumulated.data(), n_bins, levels, n_levels, out + i * n_levels);
    }
    return OK;
}

// `points` has rows x, y, mass.
Result student_moments_of_points(Index n, const double* points, double nu, double extent, Moments* moments,
                                 int* settled) {
    const Index room = (n + 3) / 4 * 4;
    Buffer<double> padded;
    if (!padded.reserve_zeros(3 * room)) return NO_MEMORY;
    for (Index row = 0; row < 3; ++row) std::copy(points + row * n, points + (row + 1) * n, padded.data() + row * room);
    const double* x = padded.data();
    *settled = student_moments({x, x + room, x + 2 * room, room}, nu, extent, *moments);
    return OK;
}

}  // namespace

#define RADONCDT_FOR_PRECISION(T, SUFFIX)                                                                             \
    RADONCDT_EXPORT int radoncdt_image_moments_##SUFFIX(Index n, const Image* images, Moments* out, Index* status) {  \
        return image_moments<T>(n, images, out, status);                                                              \
    }                                                                                                                 \
    RADONCDT_EXPORT int radoncdt_image_masses_##SUFFIX(Index n, const Image* images, Index n_angles,                  \
                                                       const double* cosines, const double* sines, Index n_bins,      \
                                                       T* out, double* origins, Index* status) {                      \
        return image_masses<T>(n, images, n_angles, cosines, sines, n_bins, out, origins, status);                    \
    }                                                                                                                 \
    RADONCDT_EXPORT int radoncdt_image_quantiles_##SUFFIX(                                                            \
        Index n, const Image* images, Index n_angles, const double* cosines, const double* sines, Index n_levels,     \
        const double* levels, int options, double nu, double* out, Moments* moments, Index* status) {                 \
        return image_quantiles<T>(n, images, n_angles, cosines, sines, n_levels, levels, options, nu, out, moments,   \
                                  status);                                                                            \
    }                                                                                                                 \
    RADONCDT_EXPORT int radoncdt_back_project_##SUFFIX(const T* values, const double* centres, Index n_angles,        \
                                                       const double* cosines, const double* sines, Index n_bins,      \
                                                       Index height, Index width, T* image) {                         \
        return back_project<T>(values, centres, n_angles, cosines, sines, n_bins, height, width, image);              \
    }

RADONCDT_FOR_PRECISION(float, f32)
RADONCDT_FOR_PRECISION(double, f64)

RADONCDT_EXPORT int radoncdt_bin_quantiles(Index n, Index n_bins, const double* masses, Index n_levels,
                                           const double* levels, double* out) {
    return bin_quantiles(n, n_bins, masses, n_levels, levels, out);
}

RADONCDT_EXPORT int radoncdt_student_moments(Index n, const double* points, double nu, double extent, Moments* moments,
                                             int* settled) {
    return student_moments_of_points(n, points, nu, extent, moments, settled);
}

}  // namespace radoncdt
