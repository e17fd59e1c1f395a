// Calls every kernel with pseudo-random arguments, and checks properties that hold for all of them. It is meant to run
// under sanitizers (see run.py), so arrays are heap allocations of exactly the size that a kernel may access, and gaps
// between the rows of an image contain NaN.
//
// Usage: driver [seed [rounds [file]]]. The file receives results that depend continuously on the arguments, so that
// platforms can be compared. `driver --cpu` prints the instruction sets beyond the baseline that this machine has.
// Compiled with -DRADONCDT_DLOPEN, the driver loads a library, whose path is then the first argument.

#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#if defined(RADONCDT_DLOPEN)
#define RADONCDT_TYPES_ONLY
#endif
#include "kernels.h"

using namespace radoncdt;

#define KERNELS_OF_PRECISION(KERNEL, T, SUFFIX)                                                                        \
    KERNEL(int, image_moments_##SUFFIX, (Index, const Image*, Moments*, Index*))                                       \
    KERNEL(int, image_masses_##SUFFIX,                                                                                 \
           (Index, const Image*, Index, const double*, const double*, Index, T*, double*, Index*))                     \
    KERNEL(int, image_quantiles_##SUFFIX,                                                                              \
           (Index, const Image*, Index, const double*, const double*, Index, const double*, int, double, double*,      \
            Moments*, Index*))                                                                                         \
    KERNEL(int, back_project_##SUFFIX,                                                                                 \
           (const T*, const double*, Index, const double*, const double*, Index, Index, Index, T*))                    \
    KERNEL(int, least_distances_##SUFFIX,                                                                              \
           (const Waves*, const Waves*, const Matching*, int, Index, Index, Index, Index, Index, double*, Index*))     \
    KERNEL(int, within_##SUFFIX,                                                                                       \
           (const Waves*, Index, const Waves*, Index, const Matching*, const double*, Index, double, double*))         \
    KERNEL(int, nearest_##SUFFIX,                                                                                      \
           (const Waves*, Index, const Waves*, Index, const Matching*, const double*, const Index*, Index, Index,      \
            double*, Index*))

// All functions that the library exports.
#define KERNELS(KERNEL)                                                                                                \
    KERNELS_OF_PRECISION(KERNEL, float, f32)                                                                           \
    KERNELS_OF_PRECISION(KERNEL, double, f64)                                                                          \
    KERNEL(int, bin_quantiles, (Index, Index, const double*, Index, const double*, double*))                           \
    KERNEL(int, student_moments, (Index, const double*, double, double, Moments*, int*))                               \
    KERNEL(int, quantile_masses, (Index, Index, const double*, const double*, Index, const double*, double*))          \
    KERNEL(int, transport,                                                                                             \
           (Index, Index, const double*, const double*, int, Index, const double*, const double*, int, double,         \
            double*))                                                                                                  \
    KERNEL(int, plausible_turns, (const double*, const double*, const Limits*, Index, double*))                        \
    KERNEL(int, distortions,                                                                                           \
           (const Image*, const Image*, Index, const Index*, double*, const double*, Index, double, const Bending*,     \
            double*))                                                                                                  \
    KERNEL(int, fit,                                                                                                   \
           (Index, Index, const double*, const double*, Index, const double*, Index, const Index*, Index,              \
            const Index*, const double*, double, double, Index, double*, double*))                                     \
    KERNEL(int, strokes, (double*, Index, Index, Index, const double*, double))                                        \
    KERNEL(int, has_avx2, ())                                                                                          \
    KERNEL(int, has_avx512, ())                                                                                        \
    KERNEL(const char*, source_hash, ())

#if defined(RADONCDT_DLOPEN)
#include <dlfcn.h>
#define DECLARE(TYPE, NAME, PARAMETERS) static TYPE(*radoncdt_##NAME) PARAMETERS = nullptr;
KERNELS(DECLARE)
#endif

// Calls the kernel for pixels, or values, of type T, which has to succeed.
#define CALL(T, NAME, ...)                                                                                             \
    [&] {                                                                                                              \
        if constexpr (std::is_same_v<T, float>) {                                                                      \
            succeed(radoncdt_##NAME##_f32(__VA_ARGS__), #NAME);                                                        \
        } else {                                                                                                       \
            succeed(radoncdt_##NAME##_f64(__VA_ARGS__), #NAME);                                                        \
        }                                                                                                              \
    }()

void succeed(int result, const char* kernel) {
    if (result == OK) return;
    std::fprintf(stderr, "%s returned %d\n", kernel, result);
    std::exit(1);
}

namespace {

constexpr double PI = 3.14159265358979323846;
constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double UNTOUCHED = -12345.678;  // value of all results before a call
constexpr Index KEPT = 32, WIDTH = 8;     // as in matching.cpp
constexpr int N_THREADS = 3;
constexpr std::size_t RECORDED = 256;  // largest number of results of one case that are written to the file

using Doubles = std::vector<double>;
using Indices = std::vector<Index>;

template <class T>
constexpr const char* suffix() {
    return std::is_same_v<T, float> ? "_f32" : "_f64";
}

Index length_of(const auto& vector) { return static_cast<Index>(vector.size()); }

Moments* as_moments(Doubles& five) { return reinterpret_cast<Moments*>(five.data()); }

// ---------------------------------------------------------------- random numbers

// splitmix64: the same numbers on every platform, which std::uniform_real_distribution does not guarantee. For the same
// reason, no expression may draw two numbers in an order that the language does not specify.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    double uniform(double low, double high) { return low + (high - low) * uniform(); }
    bool chance(double share) { return uniform() < share; }
    // An integer from `first` to `last`, both included.
    Index between(Index first, Index last) {
        return first + static_cast<Index>(next() % static_cast<std::uint64_t>(last - first + 1));
    }
    // An integer from `first` to `last`; small numbers are as likely as large ones.
    Index any_size(Index most) { return between(1, chance(0.5) ? std::min<Index>(most, 9) : most); }
    template <class T, std::size_t N>
    T one_of(const T (&choices)[N]) {
        return choices[between(0, N - 1)];
    }
    Doubles uniforms(Index n, double low, double high) {
        Doubles numbers(static_cast<std::size_t>(n));
        for (double& number : numbers) number = uniform(low, high);
        return numbers;
    }

private:
    std::uint64_t state_;
};

// ---------------------------------------------------------------- cases, and what is printed of them

struct Tally {
    Index passed = 0, failed = 0;
    double weighted = 0, size = 0;  // Σ w x and Σ |x| of the recorded results x, with pseudo-random weights |w| ≤ 1
    Random weights{7};
};

std::map<std::string, Tally> tallies;
std::FILE* results = nullptr;

// One call of a kernel, and the checks of its results.
class Case {
public:
    Case(std::string kernel, Index round) : kernel_(std::move(kernel)), round_(round) {}
    Case(const Case&) = delete;
    Case& operator=(const Case&) = delete;
    ~Case() {
        Tally& tally = tallies[kernel_];
        ++(failed_ ? tally.failed : tally.passed);
    }

    Index round() const { return round_; }

    void expect(bool condition, const char* what) {
        if (condition) return;
        if (!failed_) std::printf("FAILED %s, round %" PRId64 ": %s\n", kernel_.c_str(), round_, what);
        failed_ = true;
    }

    void expect_near(double value, double expected, double tolerance, const char* what) {
        if (std::abs(value - expected) <= tolerance) return;
        if (!failed_) {
            std::printf("FAILED %s, round %" PRId64 ": %s: %.17g, not %.17g to %.3g\n", kernel_.c_str(), round_, what,
                        value, expected, tolerance);
        }
        failed_ = true;
    }

    // Keep results for the comparison with other platforms.
    template <class T>
    void record(const std::vector<T>& values) {
        Tally& tally = tallies[kernel_];
        const std::size_t step = values.size() / RECORDED + 1;
        for (std::size_t k = 0; k < values.size(); k += step) {
            const auto value = std::isfinite(values[k]) ? static_cast<double>(values[k]) : 0.0;
            tally.weighted += value * tally.weights.uniform(-1, 1);
            tally.size += std::abs(value);
            if (results) std::fprintf(results, "%s %" PRId64 " %.17g\n", kernel_.c_str(), round_, value);
        }
    }

private:
    std::string kernel_;
    Index round_;
    bool failed_ = false;
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class... V>
bool same_bits(const std::tuple<V...>& a, const std::tuple<V...>& b) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
        return (same_bits(std::get<K>(a), std::get<K>(b)) && ...);
    }(std::index_sequence_for<V...>{});
}

// Return the result of a call, a tuple of vectors. It must be the same in a second call, and in several threads at
// once.
template <class Call>
auto checked(Case& the_case, Call call) {
    const auto result = call();
    the_case.expect(same_bits(result, call()), "a repeated call returns different results");
    if (the_case.round() % 3 == 0) {
        std::vector<std::remove_const_t<decltype(result)>> others(N_THREADS);
        std::vector<std::thread> threads;
        for (auto& other : others) threads.emplace_back([&other, &call] { other = call(); });
        for (std::thread& thread : threads) thread.join();
        for (const auto& other : others) the_case.expect(same_bits(result, other), "threads return different results");
    }
    return result;
}

template <class T>
bool all_finite(const std::vector<T>& values) {
    return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
}

template <class T>
double product(const std::vector<T>& a, const std::vector<T>& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
    return sum;
}

// ---------------------------------------------------------------- images

template <class T>
struct Picture {
    Index height, width;
    std::vector<T> pixels;
    bool is_wild = false;  // has pixels whose sums may overflow or underflow

    Picture(Index h, Index w) : height(h), width(w), pixels(static_cast<std::size_t>(h * w)) {}
    T& at(Index i, Index j) { return pixels[static_cast<std::size_t>(i * width + j)]; }
    const T& at(Index i, Index j) const { return pixels[static_cast<std::size_t>(i * width + j)]; }

    Index status() const {
        const auto any = [&](auto condition) { return std::any_of(pixels.begin(), pixels.end(), condition); };
        Index bits = any([](T p) { return !std::isfinite(p); }) ? Index(NOT_FINITE) : 0;
        if (any([](T p) { return p < 0; })) bits |= NEGATIVE;
        if (!any([](T p) { return p != 0; })) bits |= EMPTY;
        return bits;
    }
    double mass() const {
        return std::accumulate(pixels.begin(), pixels.end(), 0.0, [](double sum, T p) { return sum + double(p); });
    }
    double absolute_mass() const {
        return std::accumulate(pixels.begin(), pixels.end(), 0.0,
                               [](double sum, T p) { return sum + std::abs(double(p)); });
    }
};

enum Kind { BLANK, ONE_PIXEL, DENSE, DRAWING, SPECKS, STRIPES, WILD, FAULTY, N_KINDS };

template <class T>
Picture<T> draw(Random& random, Index kind) {
    const bool is_small = random.chance(0.6);
    const Index height = random.any_size(is_small ? 40 : 200), width = random.any_size(is_small ? 40 : 300);
    Picture<T> picture(height, width);
    const auto grey = [&] { return static_cast<T>(1 - random.uniform()); };
    const auto row = [&] { return random.between(0, height - 1); };
    const auto column = [&] { return random.between(0, width - 1); };
    const auto set_any = [&](T value) {
        picture.pixels[static_cast<std::size_t>(random.between(0, height * width - 1))] = value;
    };
    switch (kind) {
        case ONE_PIXEL: set_any(grey()); break;
        case DENSE:
            for (T& pixel : picture.pixels) pixel = grey();
            break;
        case DRAWING: {  // lines of constant grey value
            const T ink = random.chance(0.5) ? T(1) : grey();
            for (Index line = random.between(1, 4); line > 0; --line) {
                const Index i0 = row(), j0 = column(), i1 = row(), j1 = column();
                const Index n = std::max<Index>(1, std::max(std::abs(i1 - i0), std::abs(j1 - j0)));
                for (Index k = 0; k <= n; ++k) picture.at(i0 + (i1 - i0) * k / n, j0 + (j1 - j0) * k / n) = ink;
            }
            break;
        }
        case STRIPES:  // some rows and columns, often the first and last
            for (Index line = random.between(1, 4); line > 0; --line) {
                const Index i = random.chance(0.3) ? 0 : random.chance(0.3) ? height - 1 : row();
                const Index j = random.chance(0.3) ? 0 : random.chance(0.3) ? width - 1 : column();
                if (random.chance(0.5)) {
                    for (Index k = 0; k < width; ++k) picture.at(i, k) = grey();
                } else {
                    for (Index k = 0; k < height; ++k) picture.at(k, j) = grey();
                }
            }
            break;
        case WILD: {
            picture.is_wild = true;
            using Limit = std::numeric_limits<T>;
            const T sizes[] = {Limit::denorm_min(), Limit::min(), Limit::max(), Limit::max() / T(1e6), T(1), T(-0.0)};
            const T main = random.one_of(sizes), other = random.one_of(sizes);
            for (T& pixel : picture.pixels) pixel = random.chance(0.5) ? main : random.chance(0.5) ? other : T(0);
            break;
        }
        case SPECKS:
        case FAULTY:
            for (Index k = random.between(1, 20); k > 0; --k) set_any(grey());
            break;
        default: break;
    }
    if (kind == FAULTY) {
        const T faults[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity(), T(-1), -std::numeric_limits<T>::denorm_min()};
        for (Index k = random.between(1, 3); k > 0; --k) set_any(random.one_of(faults));
    }
    return picture;
}

template <class T>
Picture<T> draw(Random& random) {
    return draw<T>(random, random.between(0, N_KINDS - 1));
}

template <class T>
Picture<T> framed(const Picture<T>& inner, Index above, Index below, Index left, Index right) {
    Picture<T> outer(above + inner.height + below, left + inner.width + right);
    for (Index i = 0; i < inner.height; ++i) {
        for (Index j = 0; j < inner.width; ++j) outer.at(above + i, left + j) = inner.at(i, j);
    }
    return outer;
}

// Images in memory: rows are contiguous, apart, upside down, or all in the same place.
template <class T>
class Held {
public:
    // Changes the pictures whose rows are all in the same place.
    Held(std::vector<Picture<T>>& pictures, Random& random) {
        for (Picture<T>& picture : pictures) {
            if (random.chance(0.05)) {
                add(repeated(picture), random, 0);  // NumPy repeats a row by a stride of 0
            } else {
                add(picture, random, picture.width + (random.chance(0.5) ? random.between(1, 40) : 0));
            }
        }
    }
    Held(const Picture<T>& picture, Random& random) { add(picture, random, picture.width + random.between(0, 3)); }
    Index count() const { return length_of(images_); }
    const Image* images() const { return images_.data(); }

private:
    std::vector<std::vector<T>> memory_;
    std::vector<Image> images_;

    static Picture<T>& repeated(Picture<T>& picture) {
        for (Index i = 1; i < picture.height; ++i) std::copy_n(&picture.at(0, 0), picture.width, &picture.at(i, 0));
        return picture;
    }

    void add(const Picture<T>& picture, Random& random, Index distance) {
        const Index height = picture.height, width = picture.width;
        const bool is_upside_down = random.chance(0.3);
        const Index size = (height - 1) * distance + width;
        std::vector<T> memory(static_cast<std::size_t>(size), std::numeric_limits<T>::quiet_NaN());
        T* first = memory.data() + (is_upside_down ? (height - 1) * distance : 0);
        const Index stride = is_upside_down ? -distance : distance;
        for (Index i = 0; i < height; ++i) std::copy_n(&picture.at(i, 0), width, first + i * stride);
        images_.push_back({first, height, width, stride});
        memory_.push_back(std::move(memory));
    }
};

template <class T>
std::vector<Picture<T>> some_pictures(Random& random) {
    std::vector<Picture<T>> pictures;
    for (Index n = random.between(1, 3); n > 0; --n) {
        pictures.push_back(draw<T>(random));
        if (random.chance(0.3)) pictures.push_back(pictures.back());  // frames of the same shape are used again
    }
    return pictures;
}

struct Directions {
    Doubles cosines, sines;
    Index count() const { return length_of(cosines); }
};

Directions some_directions(Random& random) {
    const Index n = random.any_size(130), kind = random.between(0, 2);
    Directions directions;
    for (Index w = 0; w < n; ++w) {
        double angle = PI * static_cast<double>(w) / static_cast<double>(n);
        if (kind == 1) angle = random.uniform(-10, 10);
        if (kind == 2) {  // axes and diagonals, and directions next to them
            const double offsets[] = {0.0, 0.0, 1e-13, -1e-13, 1e-9, 1e-300};
            angle = random.one_of(offsets);
            angle += PI / 4 * static_cast<double>(random.between(-8, 8));
        }
        directions.cosines.push_back(std::cos(angle));
        directions.sines.push_back(std::sin(angle));
    }
    return directions;
}

Doubles some_levels(Random& random, Index least = 1) {
    const Index n = std::max(least, random.any_size(100)), kind = random.between(0, 3);
    Doubles levels;
    for (Index k = 0; k < n; ++k) {
        const double middle = (static_cast<double>(k) + 0.5) / static_cast<double>(n);
        const double with_ends = n > 1 ? static_cast<double>(k) / static_cast<double>(n - 1) : 0.5;
        levels.push_back(kind == 0 ? middle : kind == 1 ? with_ends : random.uniform());
    }
    if (kind == 3) levels.front() = 0, levels.back() = 1, levels[levels.size() / 2] = levels.front();
    std::sort(levels.begin(), levels.end());
    return levels;
}

// ---------------------------------------------------------------- kernels for images

template <class T>
auto moments_of(const Held<T>& held) {
    Doubles moments(5 * static_cast<std::size_t>(held.count()), UNTOUCHED);
    Indices status(static_cast<std::size_t>(held.count()), -1);
    CALL(T, image_moments, held.count(), held.images(), as_moments(moments), status.data());
    return std::tuple(moments, status);
}

// The definition, in long double, which does not overflow.
template <class T>
std::array<double, 5> slow_moments(const Picture<T>& picture) {
    long double total = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    const auto each = [&](auto visit) {
        for (Index i = 0; i < picture.height; ++i) {
            for (Index j = 0; j < picture.width; ++j) {
                const auto column = static_cast<long double>(2 * j + 1 - picture.width) / 2;
                const auto row = static_cast<long double>(picture.height - 1 - 2 * i) / 2;
                visit(static_cast<long double>(picture.at(i, j)), column, row);
            }
        }
    };
    each([&](auto mass, auto, auto) { total += mass; });
    each([&](auto mass, auto column, auto row) { x += mass / total * column, y += mass / total * row; });
    each([&](auto mass, auto column, auto row) {
        const auto share = mass / total, u = column - x, v = row - y;
        xx += share * u * u, xy += share * u * v, yy += share * v * v;
    });
    const double square = 1.0 / 12;
    return {double(x), double(y), double(xx) + square, double(xy), double(yy) + square};
}

template <class T>
void test_moments(Random& random, Index round) {
    Case the_case(std::string("image_moments") + suffix<T>(), round);
    auto pictures = some_pictures<T>(random);
    const Held<T> held(pictures, random);
    const auto [moments, status] = checked(the_case, [&] { return moments_of(held); });
    for (std::size_t n = 0; n < pictures.size(); ++n) {
        const Picture<T>& picture = pictures[n];
        the_case.expect(status[n] == picture.status(), "the status is wrong");
        if (status[n] != 0) continue;
        const auto expected = slow_moments(picture);
        const auto size = static_cast<double>(std::max(picture.height, picture.width));
        for (std::size_t k = 0; k < 5; ++k) {
            the_case.expect_near(moments[5 * n + k], expected[k], 1e-12 * size * (k < 2 ? 1 : size),
                                 "the moments are wrong");
        }
        const double* own = &moments[5 * n];
        if (std::count(picture.pixels.begin(), picture.pixels.end(), T(0)) + 1 == length_of(picture.pixels)) {
            the_case.expect(own[2] == 1.0 / 12 && own[3] == 0 && own[4] == 1.0 / 12, "one pixel is a unit square");
        }
        const Index above = random.between(0, 9), left = random.between(0, 70);
        const Held<T> larger(framed(picture, above, above, left, left), random);
        the_case.expect(same_bits(std::get<0>(moments_of(larger)), Doubles(own, own + 5)),
                        "a larger frame changes the moments");
        the_case.record(Doubles(own, own + 5));
    }
}

template <class T>
auto masses_of(const Held<T>& held, const Directions& directions, Index n_bins) {
    const auto n = static_cast<std::size_t>(held.count()), n_angles = directions.cosines.size();
    std::vector<T> masses(n * n_angles * static_cast<std::size_t>(n_bins), T(UNTOUCHED));
    Doubles origins(n * n_angles, UNTOUCHED);
    Indices status(n, -1);
    CALL(T, image_masses, held.count(), held.images(), directions.count(), directions.cosines.data(),
         directions.sines.data(), n_bins, masses.data(), origins.data(), status.data());
    return std::tuple(masses, origins, status);
}

template <class T>
auto back_projected(const std::vector<T>& values, const Doubles& centres, const Directions& directions, Index n_bins,
                    Index height, Index width) {
    std::vector<T> image(static_cast<std::size_t>(height * width), T(UNTOUCHED));
    CALL(T, back_project, values.data(), centres.data(), directions.count(), directions.cosines.data(),
         directions.sines.data(), n_bins, height, width, image.data());
    return std::tuple(image);
}

template <class T>
void test_masses(Random& random, Index round) {
    Case the_case(std::string("image_masses") + suffix<T>(), round);
    auto pictures = some_pictures<T>(random);
    const Directions directions = some_directions(random);
    const Held<T> held(pictures, random);
    Index n_bins = 0;
    for (const Picture<T>& picture : pictures) {
        n_bins = std::max(n_bins, picture.height + picture.width + 2);  // as in Python
    }
    const bool holds_all = random.chance(0.8);
    if (!holds_all) n_bins = random.between(1, n_bins);
    const auto [masses, origins, status] = checked(the_case, [&] { return masses_of(held, directions, n_bins); });
    const auto n_angles = directions.cosines.size(), bins = static_cast<std::size_t>(n_bins);
    const double rounding = std::is_same_v<T, float> ? 2e-5 : 1e-12;
    for (std::size_t n = 0; n < pictures.size(); ++n) {
        const Picture<T>& picture = pictures[n];
        the_case.expect(status[n] == picture.status(), "the status is wrong");
        const double size = picture.absolute_mass();
        if (status[n] & NOT_FINITE || !(size < 0.1 * static_cast<double>(std::numeric_limits<T>::max()))) continue;
        const auto first = static_cast<std::ptrdiff_t>(n * n_angles * bins);
        const std::vector<T> own(masses.begin() + first, masses.begin() + first + std::ptrdiff_t(n_angles * bins));
        const Doubles own_origins(origins.begin() + std::ptrdiff_t(n * n_angles),
                                  origins.begin() + std::ptrdiff_t((n + 1) * n_angles));
        the_case.expect(all_finite(own) && all_finite(own_origins), "masses are not finite");
        // every mass may be rounded to a denormal number
        const double least = static_cast<double>(bins) * static_cast<double>(std::numeric_limits<T>::denorm_min());
        for (std::size_t w = 0; holds_all && w < n_angles; ++w) {
            double sum = 0;
            for (std::size_t b = 0; b < bins; ++b) sum += static_cast<double>(own[w * bins + b]);
            the_case.expect_near(sum, picture.mass(), rounding * size + least, "masses do not sum up to the image");
        }
        const Index above = random.between(0, 9), left = random.between(0, 70);
        const Held<T> larger(framed(picture, above, above, left, left), random);
        if (!(status[n] & EMPTY)) {  // the box of an empty image is its frame
            const auto [again, origins_again, status_again] = masses_of(larger, directions, n_bins);
            the_case.expect(same_bits(own, again) && same_bits(own_origins, origins_again),
                            "a larger frame changes the masses");
        }
        if (picture.is_wild) continue;
        the_case.record(own);
        std::vector<T> values(n_angles * bins);
        for (T& value : values) value = static_cast<T>(random.uniform(-1, 1));
        const auto [image] =
            back_projected<T>(values, own_origins, directions, n_bins, picture.height, picture.width);
        // A direction within 1e-12 of a diagonal is projected as if it were the diagonal: by `image_masses` around the
        // centre of the ink, by `back_project` around the centre of the image.
        const double shift = 1.5e-12 * static_cast<double>(picture.height + picture.width);
        the_case.expect_near(product(picture.pixels, image), product(own, values),
                             ((rounding + shift) * size + least) * static_cast<double>(n_angles),
                             "the back projection is not the adjoint");
    }
}

template <class T>
void test_back_projection(Random& random, Index round) {
    Case the_case(std::string("back_project") + suffix<T>(), round);
    const Directions directions = some_directions(random);
    const Index height = random.any_size(120), width = random.any_size(120), n_bins = random.any_size(400);
    const auto n_angles = directions.cosines.size();
    const double reach = random.chance(0.5) ? static_cast<double>(n_bins) : 1e5;  // also far outside of the bins
    const Doubles centres = random.uniforms(directions.count(), -reach, 2 * reach);
    std::vector<T> values(n_angles * static_cast<std::size_t>(n_bins));
    for (T& value : values) value = static_cast<T>(random.uniform(-1, 1));
    const auto [image] = checked(
        the_case, [&] { return back_projected<T>(values, centres, directions, n_bins, height, width); });
    const double most = static_cast<double>(n_angles) * (1 + 1e-5);
    for (T pixel : image) the_case.expect(std::abs(static_cast<double>(pixel)) <= most, "a pixel is too large");
    the_case.record(image);
    // the weights of a pixel sum up to 1 in every direction
    const Index enough = height + width + 8;
    const std::vector<T> ones(n_angles * static_cast<std::size_t>(enough), T(1));
    const Doubles middle(n_angles, 0.5 * static_cast<double>(enough));
    const auto [counts] = back_projected<T>(ones, middle, directions, enough, height, width);
    const double rounding = std::is_same_v<T, float> ? 1e-5 : 1e-12;
    for (T count : counts) {
        the_case.expect_near(static_cast<double>(count), static_cast<double>(n_angles),
                             rounding * static_cast<double>(n_angles), "the weights of a pixel do not sum up to 1");
    }
}

template <class T>
auto quantiles_of(const Held<T>& held, const Directions& directions, const Doubles& levels, int options, double nu) {
    const auto n = static_cast<std::size_t>(held.count());
    Doubles values(n * (options & EXTREMES ? 2 : directions.cosines.size()) * levels.size(), UNTOUCHED);
    Doubles moments(5 * n, UNTOUCHED);
    Indices status(n, -1);
    CALL(T, image_quantiles, held.count(), held.images(), directions.count(), directions.cosines.data(),
         directions.sines.data(), length_of(levels), levels.data(), options, nu, values.data(), as_moments(moments),
         status.data());
    return std::tuple(values, moments, status);
}

// The direction Σ^{-1/2}η of length 1 for a covariance Σ = (xx, xy, yy); Σ^{1/2} is a multiple of Σ + √det.
std::pair<double, double> whitened(double c, double s, const double* covariance) {
    const double xx = covariance[0], xy = covariance[1], yy = covariance[2], root = std::sqrt(xx * yy - xy * xy);
    const double x = (yy + root) * c - xy * s, y = (xx + root) * s - xy * c;
    return {x / std::hypot(x, y), y / std::hypot(x, y)};
}

// The largest values over directions and their opposites, and the smallest.
Doubles extremes_of(const double* values, std::size_t n_angles, std::size_t n_levels) {
    Doubles out(2 * n_levels, -INFINITE);
    for (std::size_t k = 0; k < n_levels; ++k) {
        for (std::size_t w = 0; w < n_angles; ++w) {
            const double *row = values + w * n_levels, opposite = -row[n_levels - 1 - k];
            out[k] = std::max(out[k], std::max(row[k], opposite));
        }
    }
    for (std::size_t k = 0; k < n_levels; ++k) out[n_levels + k] = -out[n_levels - 1 - k];
    return out;
}

template <class T>
void test_quantiles(Random& random, Index round) {
    Case the_case(std::string("image_quantiles") + suffix<T>(), round);
    auto pictures = some_pictures<T>(random);
    const Directions directions = some_directions(random);
    const Doubles levels = some_levels(random);
    const Held<T> held(pictures, random);
    const int kinds[] = {0, NORMALISE, WHITEN, NORMALISE | WHITEN};
    const int options = random.one_of(kinds);
    const double freedoms[] = {0.0, 0.0, 0.5, 1.0, 3.0, 1e6};
    const double nu = random.one_of(freedoms);
    const auto [values, moments, status] =
        checked(the_case, [&] { return quantiles_of(held, directions, levels, options, nu); });
    const auto [extremes, moments_too, status_too] =
        checked(the_case, [&] { return quantiles_of(held, directions, levels, options | EXTREMES, nu); });
    the_case.expect(same_bits(status, status_too) && same_bits(moments, moments_too),
                    "extremes have different moments");
    const auto [plain, centres, status_of_plain] = quantiles_of(held, directions, levels, options & WHITEN, nu);
    const std::size_t n_angles = directions.cosines.size(), n_levels = levels.size();
    for (std::size_t n = 0; n < pictures.size(); ++n) {
        const Picture<T>& picture = pictures[n];
        the_case.expect((status[n] & ~Index(UNSETTLED)) == picture.status(), "the status is wrong");
        if (status[n] != 0) continue;
        const double *own = &values[n * n_angles * n_levels], *five = &moments[5 * n];
        const double half_width = 0.5 * static_cast<double>(picture.width);
        const double half_height = 0.5 * static_cast<double>(picture.height);
        for (std::size_t w = 0; w < n_angles; ++w) {
            const double *row = own + w * n_levels, *unscaled = &plain[(n * n_angles + w) * n_levels];
            double c = directions.cosines[w], s = directions.sines[w];
            if (options & WHITEN) std::tie(c, s) = whitened(c, s, five + 2);
            the_case.expect(std::is_sorted(row, row + n_levels), "quantiles do not ascend");
            the_case.expect(std::isfinite(row[0]) && std::isfinite(row[n_levels - 1]), "quantiles are not finite");
            // mass is spread evenly inside a bin, so it may reach as far out as a bin is wide
            const double bin = std::max(std::abs(c), std::abs(s));
            const double edge = std::abs(c) * half_width + std::abs(s) * half_height + bin + 1e-9;
            the_case.expect(-edge <= unscaled[0] && unscaled[n_levels - 1] <= edge, "quantiles are outside the frame");
            for (std::size_t k = 0; options & NORMALISE && k < n_levels; ++k) {
                const double deviation = std::sqrt(c * c * five[2] + 2 * c * s * five[3] + s * s * five[4]);
                const double expected = (unscaled[k] - c * five[0] - s * five[1]) / deviation;
                the_case.expect_near(row[k], expected, 1e-11 * (half_width + half_height),
                                     "a quantile is not normalised");
            }
        }
        const Doubles expected = extremes_of(own, n_angles, n_levels);
        for (std::size_t k = 0; k < 2 * n_levels; ++k) {
            the_case.expect(extremes[2 * n * n_levels + k] == expected[k], "extremes are wrong");
        }
        const Index above = random.between(0, 9), left = random.between(0, 70);
        const bool is_even = !(options & NORMALISE) || random.chance(0.5);
        const Index below = above + (is_even ? 0 : 3), right = left + (is_even ? 0 : 20);
        const Held<T> larger(framed(picture, above, below, left, right), random);
        const auto [again, moments_again, status_again] = quantiles_of(larger, directions, levels, options, nu);
        const Index skipped = is_even ? 0 : 2;  // the mean is relative to the centre of the frame
        the_case.expect(std::memcmp(again.data(), own, again.size() * sizeof(double)) == 0,
                        "a larger frame changes the quantiles");
        the_case.expect(std::equal(moments_again.begin() + skipped, moments_again.end(), five + skipped),
                        "a larger frame changes the moments");
        // quantiles are continuous where no level meets a gap in the ink
        const auto is_ink = [](T pixel) { return pixel > T(1e-3) && pixel <= T(1); };
        if (std::all_of(picture.pixels.begin(), picture.pixels.end(), is_ink)) {
            the_case.record(Doubles(own, own + n_angles * n_levels));
        }
    }
}

void test_bin_quantiles(Random& random, Index round) {
    Case the_case("bin_quantiles", round);
    const Index rows = random.between(0, 4), n_bins = random.any_size(400);
    const Doubles levels = some_levels(random);
    const Index kind = random.between(0, 3);
    Doubles masses = random.uniforms(rows * n_bins, 0, 1);
    for (double& mass : masses) {
        if (kind == 1 && random.chance(0.7)) mass = 0;
        if (kind == 2) mass = 0;
        const double faults[] = {std::nan(""), INFINITE, -1.0, 1e308, 5e-324};
        if (kind == 3 && random.chance(0.1)) mass = random.one_of(faults);
    }
    const auto [values] = checked(the_case, [&] {
        Doubles out(static_cast<std::size_t>(rows) * levels.size(), UNTOUCHED);
        succeed(radoncdt_bin_quantiles(rows, n_bins, masses.data(), length_of(levels), levels.data(), out.data()),
                "bin_quantiles");
        return std::tuple(out);
    });
    for (Index row = 0; kind < 2 && row < rows; ++row) {
        const double* own = masses.data() + row * n_bins;
        const double* found = values.data() + row * length_of(levels);
        const double total = std::accumulate(own, own + n_bins, 0.0);
        if (total == 0) continue;
        for (std::size_t k = 0; k < levels.size(); ++k) {
            the_case.expect(found[k] >= 0 && found[k] <= static_cast<double>(n_bins), "a quantile is outside the bins");
            the_case.expect(k == 0 || found[k - 1] <= found[k], "quantiles do not ascend");
            const auto bin = std::min(static_cast<Index>(found[k]), n_bins - 1);
            const double part = found[k] - static_cast<double>(bin);
            const double below = std::accumulate(own, own + bin, 0.0) + part * own[bin];
            the_case.expect_near(below, levels[k] * total, 1e-12 * static_cast<double>(n_bins) * total,
                                 "the mass below a quantile is wrong");
        }
    }
    if (kind == 0) the_case.record(values);
}

void test_student_moments(Random& random, Index round) {
    Case the_case("student_moments", round);
    const Index n = random.any_size(200);
    Doubles points = random.uniforms(3 * n, -20, 20);
    for (auto mass = points.begin() + 2 * n; mass != points.end(); ++mass) {
        *mass = random.chance(0.1) ? 0 : random.uniform();
    }
    points.back() = 1;  // some mass
    const double freedoms[] = {0.5, 1.0, 3.0, 100.0}, extents[] = {1.0 / 12, 1.0, 0.0};
    const double nu = random.one_of(freedoms), extent = random.one_of(extents);
    const Doubles begin{0, 0, 30, random.uniform(-5, 5), 40};
    const auto fitted = [&](const Doubles& start) {
        Doubles moments = start;
        Indices settled(1);
        int flag = -1;
        succeed(radoncdt_student_moments(n, points.data(), nu, extent, as_moments(moments), &flag),
                "student_moments");
        settled[0] = flag;
        return std::tuple(moments, settled);
    };
    const auto [moments, settled] = checked(the_case, [&] { return fitted(begin); });
    the_case.expect(settled[0] == 0 || settled[0] == 1, "`settled` is neither true nor false");
    if (settled[0] == 0) return;
    the_case.expect(moments[2] > 0 && moments[2] * moments[4] > moments[3] * moments[3], "the scatter is not positive");
    const auto [again, still] = fitted(moments);
    for (std::size_t k = 0; k < 5; ++k) the_case.expect_near(again[k], moments[k], 1e-8,
                                                             "the moments are not a fixed point");
    if (extent > 0) the_case.record(moments);
}

// ---------------------------------------------------------------- measures on the line

void test_quantile_masses(Random& random, Index round) {
    Case the_case("quantile_masses", round);
    const Index rows = random.between(0, 4), n_edges = random.between(2, 120);
    const Doubles levels = some_levels(random, 2);
    const Index n_levels = length_of(levels);
    Doubles values, edges;
    for (Index row = 0; row < rows; ++row) {
        const Index kind = random.between(0, 3);
        Doubles own = random.uniforms(n_levels, -10, 10), ends = random.uniforms(n_edges, -20, 20);
        for (double& value : own) {
            if (kind == 1 && random.chance(0.5)) value = std::round(value / 4) * 4;  // jumps
            if (kind == 2) value = 3;
        }
        std::sort(own.begin(), own.end());
        if (kind == 3) ends[static_cast<std::size_t>(n_edges / 2)] = own.front();  // an edge on a value
        if (kind == 3) ends.back() = own.back();
        std::sort(ends.begin(), ends.end());
        ends.front() = -1e9, ends.back() = 1e9;  // beyond the longest tail
        values.insert(values.end(), own.begin(), own.end());
        edges.insert(edges.end(), ends.begin(), ends.end());
    }
    values.shrink_to_fit();
    edges.shrink_to_fit();
    const auto [masses] = checked(the_case, [&] {
        Doubles out(static_cast<std::size_t>(rows * (n_edges - 1)), UNTOUCHED);
        succeed(radoncdt_quantile_masses(rows, n_levels, values.data(), levels.data(), n_edges, edges.data(),
                out.data()), "quantile_masses");
        return std::tuple(out);
    });
    for (Index row = 0; row < rows; ++row) {
        const double* own = masses.data() + row * (n_edges - 1);
        the_case.expect(std::all_of(own, own + n_edges - 1, [](double mass) { return mass >= 0; }), "negative mass");
        the_case.expect_near(std::accumulate(own, own + n_edges - 1, 0.0), 1, 1e-9, "masses do not sum up to 1");
    }
    the_case.record(masses);
}

// Measures on the line, one per row, as arguments of `transport`.
struct Pieces {
    Index rows, count;
    bool wide;
    Doubles mass, places;
};

Pieces some_pieces(Random& random, Index rows) {
    Pieces pieces{rows, random.any_size(60), random.chance(0.5), {}, {}};
    for (Index row = 0; row < rows; ++row) {
        Doubles mass = random.uniforms(pieces.count, 0.01, 1);
        Doubles places = random.uniforms(pieces.count + pieces.wide, -5, 5);
        for (double& one : mass) one = random.chance(0.3) ? 0 : one;
        mass[static_cast<std::size_t>(random.between(0, pieces.count - 1))] = 0.5;
        if (random.chance(0.3)) {
            for (double& place : places) place = std::round(place);  // equal places
        }
        std::sort(places.begin(), places.end());
        pieces.mass.insert(pieces.mass.end(), mass.begin(), mass.end());
        pieces.places.insert(pieces.places.end(), places.begin(), places.end());
    }
    pieces.mass.shrink_to_fit();
    pieces.places.shrink_to_fit();
    return pieces;
}

auto transported(const Pieces& a, const Pieces& b, double p) {
    Doubles out(static_cast<std::size_t>(a.rows), UNTOUCHED);
    succeed(radoncdt_transport(a.rows, a.count, a.mass.data(), a.places.data(), a.wide, b.count, b.mass.data(),
            b.places.data(), b.wide, p, out.data()), "transport");
    return std::tuple(out);
}

void test_transport(Random& random, Index round) {
    Case the_case("transport", round);
    const Index rows = random.between(0, 4);
    const Pieces a = some_pieces(random, rows), b = some_pieces(random, rows);
    const double shift = random.uniform(-100, 100);
    Pieces moved = a;
    for (double& place : moved.places) place += shift;
    Doubles last(static_cast<std::size_t>(rows), 0.0);
    for (const double p : {1.0, 2.0, 3.5, INFINITE}) {
        const auto [distances] = checked(the_case, [&] { return transported(a, b, p); });
        const auto [backwards] = transported(b, a, p);
        const auto [to_itself] = transported(a, a, p);
        const auto [to_moved] = transported(a, moved, p);
        for (std::size_t row = 0; row < last.size(); ++row) {
            the_case.expect(distances[row] >= last[row] * (1 - 1e-9), "distances do not grow with p");
            the_case.expect(distances[row] <= 10, "a distance is larger than all distances of places");
            the_case.expect_near(backwards[row], distances[row], 1e-9, "the distance is not symmetric");
            the_case.expect(to_itself[row] == 0, "the distance to itself is not 0");
            the_case.expect_near(to_moved[row], std::abs(shift), 1e-11 * std::abs(shift) + 1e-12,
                                 "the distance to a shifted measure is wrong");
        }
        last = distances;
        if (p < INFINITE) the_case.record(distances);
    }
    // sizes that nearly overflow or underflow
    Pieces wild = a;
    const double sizes[] = {5e-324, 1e-300, 1e300, 0.5};
    for (double& mass : wild.mass) mass = mass == 0 ? 0 : random.one_of(sizes);
    const auto [distances] = checked(the_case, [&] { return transported(wild, b, 2); });
    the_case.expect(all_finite(distances), "a distance is not finite");
}

// ---------------------------------------------------------------- matching

struct TurnTable {
    std::vector<float> table;
    Indices codes;

    explicit TurnTable(Index n) {  // as `_make_turns` of radoncdt._native
        const Index half = n / 2 + 1, padded = (half + WIDTH - 1) / WIDTH * WIDTH;
        const auto step = [half](Index k) { return std::min(k, half - 1); };
        for (Index block = 0; block < padded; block += WIDTH) {
            for (Index k = 0; k < KEPT; ++k) {
                const Index frequency = k < KEPT / 2 ? 2 * k + 1 : 2 * (k - KEPT / 2) + 2;
                const auto phase = [&](Index lane) {
                    return PI / double(n) * static_cast<double>(frequency * step(block + lane) % (2 * n));
                };
                for (Index lane = 0; lane < WIDTH; ++lane) table.push_back(float(std::cos(phase(lane))));
                for (Index lane = 0; lane < WIDTH; ++lane) table.push_back(float(std::sin(phase(lane))));
            }
        }
        for (const Index mirrored : {0, 1}) {
            for (Index kind = 0; kind < 4; ++kind) {
                for (Index k = 0; k < padded; ++k) {
                    const Index s = step(k), rows[] = {s, n + s, n - s, 2 * n - s};
                    const Index code = rows[kind] % (2 * n) + mirrored * 2 * n;
                    const bool is_new = std::find(codes.begin(), codes.end(), code) == codes.end();
                    codes.push_back(is_new ? code : -1);
                }
            }
        }
        table.shrink_to_fit();
        codes.shrink_to_fit();
    }
};

template <class T>
class Descriptors {
public:
    const Index count, n_angles, n_levels;
    std::vector<T> values;
    std::vector<float> waves;
    Doubles norms, covariances;

    Descriptors(Index n, Index angles, Index levels, Random& random) : count(n), n_angles(angles), n_levels(levels) {
        values.resize(static_cast<std::size_t>(n * angles * levels));
        const bool is_even = random.chance(0.2);  // all turns are equal, or nearly so
        for (T& value : values) value = static_cast<T>(is_even ? 1 : random.uniform(-2, 2));
        for (Index i = 1; i < n; ++i) {
            if (random.chance(0.3)) turn(i - 1, i, random.between(0, 2 * angles - 1));
        }
        pack();
        for (Index i = 0; i < n; ++i) {
            const double sizes[] = {1.0, 1.0, 1.0, 1e-100, 1e100};
            const double size = random.one_of(sizes), xx = random.uniform(0.1, 10), yy = random.uniform(0.1, 10);
            const double xy = random.uniform(-0.95, 0.95) * std::sqrt(xx * yy);
            for (const double entry : {xx, xy, yy}) covariances.push_back(entry * size);
        }
        covariances.shrink_to_fit();
    }

    Waves view() const { return {values.data(), waves.data(), norms.data(), covariances.data()}; }

    // Values of descriptor i in direction k of the circle.
    double circle(Index i, Index k, Index level) const {
        k = (k % (2 * n_angles) + 2 * n_angles) % (2 * n_angles);
        const T* own = values.data() + i * n_angles * n_levels;
        if (k < n_angles) return static_cast<double>(own[k * n_levels + level]);
        return -static_cast<double>(own[(k - n_angles) * n_levels + n_levels - 1 - level]);
    }

private:
    void turn(Index from, Index to, Index by) {
        std::vector<T> turned;
        for (Index k = 0; k < n_angles; ++k) {
            for (Index level = 0; level < n_levels; ++level) turned.push_back(T(circle(from, k - by, level)));
        }
        std::copy(turned.begin(), turned.end(), values.begin() + to * n_angles * n_levels);
    }

    // The waves, as in radoncdt.matching.descriptors, by the definition of the Fourier transform.
    void pack() {
        const Index halves = (n_levels + 1) / 2, period = 2 * n_angles;
        waves.assign(static_cast<std::size_t>(count * KEPT * 2 * halves), 0.0f);
        norms.assign(static_cast<std::size_t>(2 * count), 0.0);
        Doubles cosines, sines;
        for (Index k = 0; k < period; ++k) {
            cosines.push_back(std::cos(2 * PI * static_cast<double>(k) / static_cast<double>(period)));
            sines.push_back(std::sin(2 * PI * static_cast<double>(k) / static_cast<double>(period)));
        }
        Doubles around(static_cast<std::size_t>(period));
        for (Index i = 0; i < count; ++i) {
            double squares[2] = {0, 0};
            for (Index level = 0; level < halves; ++level) {
                double scale = std::sqrt(4 / static_cast<double>(n_levels)) / static_cast<double>(period);
                if (2 * level + 1 == n_levels) scale /= std::sqrt(2);  // the middle level is its own mirror image
                for (Index k = 0; k < period; ++k) around[static_cast<std::size_t>(k)] = scale * circle(i, k, level);
                for (Index frequency = 1; frequency <= n_angles; ++frequency) {
                    double real = 0, imaginary = 0;
                    for (Index k = 0; k < period; ++k) {
                        const auto phase = static_cast<std::size_t>(frequency * k % period);
                        real += around[static_cast<std::size_t>(k)] * cosines[phase];
                        imaginary -= around[static_cast<std::size_t>(k)] * sines[phase];
                    }
                    if (frequency == n_angles) real /= std::sqrt(2), imaginary /= std::sqrt(2);
                    squares[frequency > KEPT] += real * real + imaginary * imaginary;
                    if (frequency > KEPT) continue;
                    const Index parity = (frequency - 1) % 2, place = (frequency - 1) / 2;
                    const Index group = place / WIDTH, lane = place % WIDTH;
                    const Index at = ((i * 2 + parity) * (KEPT / 2 / WIDTH) + group) * halves + level;
                    waves[static_cast<std::size_t>(at * 2 * WIDTH + lane)] = static_cast<float>(real);
                    waves[static_cast<std::size_t>((at * 2 + 1) * WIDTH + lane)] = static_cast<float>(imaginary);
                }
            }
            for (Index k = 0; k < 2; ++k) norms[static_cast<std::size_t>(2 * i + k)] = std::sqrt(squares[k]);
        }
    }
};

Limits some_limits(Random& random) {
    const double shears[] = {PI / 2, random.uniform(0, PI / 2), 0.1}, scales[] = {1e300, random.uniform(1, 4)};
    return {random.uniform(1, 8), random.one_of(shears), random.one_of(scales)};
}

auto plausible(const double* moving, const double* fixed, const Limits& limits, Index n_angles) {
    Doubles angles(static_cast<std::size_t>(4 * n_angles), UNTOUCHED);
    succeed(radoncdt_plausible_turns(moving, fixed, &limits, n_angles, angles.data()), "plausible_turns");
    return std::tuple(angles);
}

// Σ^{1/2} of a covariance xx, xy, yy.
std::array<double, 4> square_root(const double* covariance) {
    const double size = covariance[0] + covariance[2];
    const double xx = covariance[0] / size, xy = covariance[1] / size, yy = covariance[2] / size;
    const double root = std::sqrt(xx * yy - xy * xy), scale = std::sqrt(size / (1 + 2 * root));
    return {scale * (xx + root), scale * xy, scale * xy, scale * (yy + root)};
}

// The penalty of the map of a turn, from the map itself.
double slow_penalty(const double* moving, const double* fixed, const Prior& prior, Index turn, Index n_angles) {
    const bool mirrored = turn >= 2 * n_angles;
    const double angle = PI * static_cast<double>(turn) / static_cast<double>(n_angles), sign = mirrored ? -1 : 1;
    const auto root = square_root(fixed), other = square_root(moving);
    const double determinant = other[0] * other[3] - other[1] * other[2];
    const double inverse[] = {other[3] / determinant, -other[1] / determinant, -other[2] / determinant,
                              other[0] / determinant};
    const double c = std::cos(angle), s = std::sin(angle), turned[] = {c, -sign * s, s, sign * c};
    const auto multiply = [](const double* a, const double* b) {
        return std::array<double, 4>{a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                                     a[2] * b[1] + a[3] * b[3]};
    };
    auto map = multiply(root.data(), multiply(turned, inverse).data());
    if (mirrored) map[0] = -map[0], map[2] = -map[2];
    // (a, b; c, d): sum and difference of the singular values
    const double sum = std::hypot(map[0] + map[3], map[2] - map[1]);
    const double difference = std::hypot(map[0] - map[3], map[2] + map[1]);
    const double aspect = std::log((sum + difference) / (sum - difference));
    const double penalty = prior.aspect * aspect * aspect + prior.rotation * (1 - (map[0] + map[3]) / sum);
    return penalty + (mirrored ? prior.mirror : 0);
}

// The root mean square distance at the best of all plausible turns, found by trying all of them.
template <class T>
double slow_distance(const Descriptors<T>& x, Index i, const Descriptors<T>& y, Index j, const Matching& matching) {
    const Index n = x.n_angles;
    Doubles allowed(static_cast<std::size_t>(4 * n), 0.0);
    if (matching.limits) {
        std::tie(allowed) = plausible(&x.covariances[static_cast<std::size_t>(3 * i)],
                                      &y.covariances[static_cast<std::size_t>(3 * j)], *matching.limits, n);
    }
    double best = INFINITE;
    for (Index turn = 0; turn < (matching.reflections ? 4 : 2) * n; ++turn) {
        if (std::isnan(allowed[static_cast<std::size_t>(turn)])) continue;
        double sum = 0;
        if (matching.prior) {
            sum = slow_penalty(&x.covariances[static_cast<std::size_t>(3 * i)],
                             &y.covariances[static_cast<std::size_t>(3 * j)], *matching.prior, turn, n) *
                  static_cast<double>(n * x.n_levels);
        }
        for (Index k = 0; k < n && sum < best; ++k) {
            for (Index level = 0; level < x.n_levels; ++level) {
                const double d = y.circle(j, k, level) - x.circle(i, turn < 2 * n ? k - turn : turn - k, level);
                sum += d * d;
            }
        }
        best = std::min(best, sum);
    }
    return std::sqrt(best / static_cast<double>(n * x.n_levels));
}

template <class T>
void test_matching(Random& random, Index round) {
    Case all(std::string("least_distances") + suffix<T>(), round);
    const Index n_angles = random.any_size(70), n_levels = random.any_size(70);
    const Descriptors<T> x(random.between(1, 3), n_angles, n_levels, random);
    const Descriptors<T> y(random.between(1, 6), n_angles, n_levels, random);
    const TurnTable turns(n_angles);
    const Limits limits = some_limits(random);
    const Prior prior{random.uniform(0, 0.05), random.uniform(0, 0.1), random.uniform(0, 0.05)};
    const Matching matching{n_angles,
                            n_levels,
                            {turns.table.data(), turns.codes.data()},
                            random.chance(0.5),
                            random.chance(0.5) ? &limits : nullptr,
                            random.chance(0.5) ? &prior : nullptr};
    const Waves from = x.view(), to = y.view();

    const Index rows[] = {random.between(0, x.count), x.count}, columns[] = {random.between(0, y.count), y.count};
    const int ascending = random.chance(0.3);
    const auto between = [&](Index first_row, Index first_column, int only_ascending) {
        Doubles distances(static_cast<std::size_t>(x.count * y.count), UNTOUCHED);
        CALL(T, least_distances, &from, &to, &matching, only_ascending, first_row, rows[1], first_column, columns[1],
             y.count, distances.data(), nullptr);
        return std::tuple(distances);
    };
    const auto [distances] = checked(all, [&] { return between(0, 0, 0); });
    const auto [some] = checked(all, [&] { return between(rows[0], columns[0], ascending); });
    const double rounding = std::is_same_v<T, float> ? 1e-5 : 1e-13;
    for (Index i = 0; i < x.count; ++i) {
        for (Index j = 0; j < y.count; ++j) {
            const auto pair = static_cast<std::size_t>(i * y.count + j);
            const bool is_asked = i >= rows[0] && j >= columns[0] && (!ascending || j > i);
            all.expect(some[pair] == (is_asked ? distances[pair] : UNTOUCHED),
                       "a part of the pairs has different distances");
            const double expected = slow_distance(x, i, y, j, matching);
            if (expected == INFINITE) {
                all.expect(distances[pair] == INFINITE, "the distance is finite although no turn is plausible");
            } else {  // squares of small distances are rounded
                all.expect_near(distances[pair], expected, rounding * (1 + expected),
                                "the distance is not the least one");
            }
        }
    }
    all.record(distances);

    Case ball(std::string("within") + suffix<T>(), round), neighbours(std::string("nearest") + suffix<T>(), round);
    const Index i = random.between(0, x.count - 1), left_out = random.between(-1, y.count - 1);
    const double* own = distances.data() + i * y.count;
    Doubles bounds;
    for (Index j = 0; j < y.count; ++j) bounds.push_back((own[j] == INFINITE ? 3 : own[j]) * random.uniform(-0.1, 1));
    bounds.shrink_to_fit();
    const double radii[] = {INFINITE, random.uniform(0, 2)};
    const double radius = random.one_of(radii);
    const auto [near] = checked(ball, [&] {
        Doubles out(static_cast<std::size_t>(y.count), UNTOUCHED);
        CALL(T, within, &from, i, &to, y.count, &matching, bounds.data(), left_out, radius, out.data());
        return std::tuple(out);
    });
    for (std::size_t j = 0; j < near.size(); ++j) {
        const bool may_be_near = bounds[j] <= radius && static_cast<Index>(j) != left_out;
        ball.expect(near[j] == (may_be_near ? own[j] : INFINITE), "a distance differs");
    }
    ball.record(near);

    Indices order(static_cast<std::size_t>(y.count));
    std::iota(order.begin(), order.end(), 0);
    const auto at = [](const auto& numbers, Index k) { return numbers[static_cast<std::size_t>(k)]; };
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return at(bounds, a) < at(bounds, b); });
    const Index room = random.between(1, y.count + 2);
    const auto [nearest, numbers] = checked(neighbours, [&] {
        Doubles found(static_cast<std::size_t>(room), UNTOUCHED);
        Indices which(static_cast<std::size_t>(room), -7);
        CALL(T, nearest, &from, i, &to, y.count, &matching, bounds.data(), order.data(), left_out, room, found.data(),
             which.data());
        return std::tuple(found, which);
    });
    Indices expected;
    for (Index j = 0; j < y.count; ++j) {
        if (j != left_out && own[j] < INFINITE) expected.push_back(j);
    }
    std::stable_sort(expected.begin(), expected.end(), [&](Index a, Index b) { return own[a] < own[b]; });
    for (Index k = 0; k < room; ++k) {
        const bool is_found = k < length_of(expected);
        const Index number = is_found ? at(expected, k) : -7;
        neighbours.expect(at(numbers, k) == number, "the neighbour is not the nearest");
        neighbours.expect(at(nearest, k) == (is_found ? own[number] : UNTOUCHED),
                          "the distance of a neighbour is wrong");
    }
    neighbours.record(Doubles(nearest.begin(), nearest.begin() + std::min(room, length_of(expected))));
}

void test_plausible_turns(Random& random, Index round) {
    Case the_case("plausible_turns", round);
    const Index n_angles = random.any_size(130);
    const auto covariance = [&](double size) {
        const double xx = random.uniform(0.1, 10), yy = random.uniform(0.1, 10);
        return Doubles{size * xx, size * random.uniform(-0.95, 0.95) * std::sqrt(xx * yy), size * yy};
    };
    const double sizes[] = {1.0, 1.0, 1e-100, 1e100, 1e-300, 1e300};
    const Doubles moving = covariance(random.one_of(sizes)), fixed = covariance(random.one_of(sizes));
    const Limits limits = some_limits(random);
    const auto [angles] = checked(the_case, [&] { return plausible(moving.data(), fixed.data(), limits, n_angles); });
    const double step = PI / static_cast<double>(n_angles);
    for (Index code = 0; code < 4 * n_angles; ++code) {
        const double angle = angles[static_cast<std::size_t>(code)];
        const double turn = step * static_cast<double>(code % (2 * n_angles));
        if (!std::isnan(angle)) the_case.expect_near(angle, turn, step / 2 + 1e-12,
                                                     "the angle is too far from the turn");
    }
    const auto [of_all] = plausible(moving.data(), moving.data(), {INFINITE, PI / 2, INFINITE}, n_angles);
    the_case.expect(all_finite(of_all), "a turn is implausible without limits");
    const auto [of_same] = plausible(moving.data(), moving.data(), limits, n_angles);
    the_case.expect(!std::isnan(of_same[0]), "the identity is implausible");
    // a plausible angle is one of several, so only whether there is one can be compared between platforms
    Doubles is_plausible;
    for (const double angle : angles) is_plausible.push_back(std::isnan(angle) ? 0 : 1);
    the_case.record(is_plausible);
}

// ---------------------------------------------------------------- drawings

void test_fit(Random& random, Index round) {
    Case the_case("fit", round);
    const Index n_points = random.any_size(60), n_targets = random.any_size(60), n_terms = random.between(1, 6);
    const bool is_exact = n_terms >= 3 && random.chance(0.5);  // the targets are an affine image of the points
    const Doubles base = random.uniforms(2 * n_points, -1, 1);
    const Doubles coefficients = random.uniforms(2 * n_terms, -0.1, 0.1);
    Doubles terms, targets = random.uniforms(2 * n_targets, -1, 1);
    for (Index i = 0; i < n_points; ++i) {
        const double x = base[static_cast<std::size_t>(2 * i)], y = base[static_cast<std::size_t>(2 * i + 1)];
        const double powers[] = {1, x, y, x * x, x * y, y * y};
        terms.insert(terms.end(), powers, powers + n_terms);
    }
    terms.shrink_to_fit();
    if (is_exact) {
        targets.clear();
        for (Index i = 0; i < n_points; ++i) {
            for (Index axis = 0; axis < 2; ++axis) {
                double place = base[static_cast<std::size_t>(2 * i + axis)];
                for (Index k = 0; k < n_terms; ++k) {
                    place += terms[static_cast<std::size_t>(i * n_terms + k)] *
                             coefficients[static_cast<std::size_t>(2 * k + axis)];
                }
                targets.push_back(place);
            }
        }
        targets.shrink_to_fit();
    }
    const Index n_aims = length_of(targets) / 2;
    const auto chosen = [&](Index n) {
        Indices numbers(static_cast<std::size_t>(random.between(1, n)));
        for (Index& number : numbers) number = random.between(0, n - 1);
        return numbers;
    };
    const Indices some = chosen(n_points), few = chosen(n_aims);
    const Doubles ridge(static_cast<std::size_t>(n_terms), is_exact ? 0 : 1e-3);
    const Index iterations = random.between(0, 5);
    const auto fitted = [&](const Doubles& all_terms, const Doubles& all_ridge, int expected) {
        Doubles found = coefficients, misfit(1, UNTOUCHED);
        const int result = radoncdt_fit(n_points, n_terms, base.data(), all_terms.data(), n_aims, targets.data(),
                                        length_of(some), some.data(), length_of(few), few.data(), all_ridge.data(), 2.0,
                                        0.5, iterations, found.data(), misfit.data());
        Indices as_expected(1, result == expected);
        return std::tuple(found, misfit, as_expected);
    };
    const auto [found, misfit, is_ok] = checked(the_case, [&] { return fitted(terms, ridge, OK); });
    the_case.expect(is_ok[0], "the result is not OK");
    the_case.expect(all_finite(found), "coefficients are not finite");
    the_case.expect(misfit[0] >= 0 && misfit[0] <= 0.5, "the misfit is out of range");
    if (is_exact) the_case.expect(misfit[0] < 1e-6, "an exact fit was lost");
    the_case.record(misfit);
    if (iterations > 0) {
        const auto [kept, none, is_singular] =
            fitted(Doubles(terms.size(), 0.0), Doubles(ridge.size(), 0.0), SINGULAR);
        the_case.expect(is_singular[0], "terms that are all 0 are not singular");
    }
}

void test_distortions(Random& random, Index round) {
    Case the_case("distortions", round);
    const Index side = round == 0 ? 256 : random.between(3, 80), n_images = random.between(1, 4);
    const Index n = round == 0 ? 1 : random.between(1, 8);
    const double reach = random.uniform(0.5, 4), size = random.uniform(0.1, 20);
    std::vector<std::vector<float>> pixels;
    std::vector<Image> images;
    for (Index k = 0; k < n_images; ++k) {
        const Index height = random.between(1, 40), width = random.between(1, 40), stride = width + random.between(0, 3);
        pixels.emplace_back(static_cast<std::size_t>(height * stride));
        for (float& pixel : pixels.back()) pixel = random.chance(0.5) ? 0 : static_cast<float>(random.uniform(0, 1));
        images.push_back({pixels.back().data(), height, width, stride});
    }
    std::vector<Index> pairs;
    Doubles moving, fixed;
    for (Index k = 0; k < 6 * n_images; ++k) fixed.push_back(random.uniform(-size, size));
    for (Index k = 0; k < n; ++k) {
        const Index i = random.between(0, n_images - 1), j = random.between(0, n_images - 1);
        pairs.insert(pairs.end(), {i, j});
        for (Index m = 0; m < 6; ++m) {
            moving.push_back(i == j ? fixed[static_cast<std::size_t>(6 * j + m)] : random.uniform(-size, size));
        }
    }
    const Index window = random.between(0, 8);
    const auto compare = [&](int polish) {
        const Bending bending{window, 1e-3, 0.02, polish};
        Doubles maps = moving, distances(static_cast<std::size_t>(n), UNTOUCHED);
        succeed(radoncdt_distortions(images.data(), images.data(), n, pairs.data(), maps.data(), fixed.data(), side, reach,
                                     &bending, distances.data()),
                "distortions");
        return std::tuple(distances, maps);
    };
    const auto [plain, same_maps] = checked(the_case, [&] { return compare(0); });
    const auto [polished, maps] = checked(the_case, [&] { return compare(1); });
    the_case.expect(same_maps == moving, "a map changed without a polish");
    for (std::size_t k = 0; k < plain.size(); ++k) {
        the_case.expect(plain[k] >= 0 && plain[k] < 40, "the distance is out of range");
        the_case.expect(polished[k] <= plain[k], "the polish makes the distance larger");
        if (pairs[2 * k] == pairs[2 * k + 1]) {
            the_case.expect(plain[k] == 0 || plain[k] == 18, "an image has a distance from itself");
        }
    }
    the_case.record(plain);
}

void test_strokes(Random& random, Index round) {
    Case the_case("strokes", round);
    const bool is_empty = random.chance(0.1);
    const Index height = is_empty ? 0 : random.any_size(120);
    const Index width = is_empty && random.chance(0.5) ? 0 : random.any_size(120);
    const Index n = random.between(0, 5);
    const double reaches[] = {100.0, 100.0, 100.0, 1e6, 1e300};
    const double reach = random.one_of(reaches);
    Doubles corners = random.uniforms(2 * n, -reach, reach);
    if (random.chance(0.3)) {
        for (double& corner : corners) corner = std::round(corner);
    }
    if (n > 1 && random.chance(0.3)) std::copy_n(corners.begin(), 2, corners.begin() + 2);  // a point
    const double widths[] = {0.0, 1e-9, 1.0, random.uniform(0, 20), 1e6};
    const double thickness = random.one_of(widths);
    const Doubles before = random.uniforms(height * width, 0, 0.3);
    const auto drawn = [&](const Doubles& image) {
        Doubles brighter = image;
        succeed(radoncdt_strokes(brighter.data(), height, width, n, corners.data(), thickness), "strokes");
        return std::tuple(brighter);
    };
    const auto [image] = checked(the_case, [&] { return drawn(before); });
    for (std::size_t k = 0; k < image.size(); ++k) {
        the_case.expect(image[k] >= before[k] && image[k] <= 1, "a pixel is darker, or brighter than 1");
    }
    the_case.expect(same_bits(drawn(image), std::tuple(image)), "the same line brightens again");
    if (reach < 1000) the_case.record(image);
    if (is_empty) return;
    // a line as wide as a pixel along a row covers that row, and no other
    const Index row = random.between(0, height - 1);
    const Doubles ends{-50, static_cast<double>(row), static_cast<double>(width) + 50, static_cast<double>(row)};
    Doubles blank(static_cast<std::size_t>(height * width));
    succeed(radoncdt_strokes(blank.data(), height, width, 2, ends.data(), 1.0), "strokes");
    for (Index k = 0; k < height * width; ++k) {
        the_case.expect_near(blank[static_cast<std::size_t>(k)], k / width == row, 1e-5, "a line along a row is wrong");
    }
}

void test_cpu() {
    Case avx2("has_avx2", 0), avx512("has_avx512", 0), hash("source_hash", 0);
    const int has_avx2 = radoncdt_has_avx2(), has_avx512 = radoncdt_has_avx512();
    avx2.expect(has_avx2 == 0 || has_avx2 == 1, "the result is neither true nor false");
    avx512.expect(has_avx512 == 0 || (has_avx512 == 1 && has_avx2 == 1), "AVX-512 is reported without AVX2");
    hash.expect(std::strlen(radoncdt_source_hash()) > 0, "the hash is empty");
}

// ---------------------------------------------------------------- all cases

void test_all(std::uint64_t seed, Index rounds) {
    using Test = void (*)(Random&, Index);
    const Test tests[] = {test_moments<float>,
                          test_moments<double>,
                          test_masses<float>,
                          test_masses<double>,
                          test_back_projection<float>,
                          test_back_projection<double>,
                          test_quantiles<float>,
                          test_quantiles<double>,
                          test_bin_quantiles,
                          test_student_moments,
                          test_quantile_masses,
                          test_transport,
                          test_matching<float>,
                          test_matching<double>,
                          test_plausible_turns,
                          test_fit,
                          test_distortions,
                          test_strokes};
    for (std::size_t t = 0; t < std::size(tests); ++t) {
        for (Index round = 0; round < rounds; ++round) {  // each round has its own random numbers
            Random random(Random(seed + 1000003 * t).next() + static_cast<std::uint64_t>(round));
            tests[t](random, round);
        }
    }
    test_cpu();
}

// One line per kernel and the totals; returns the number of failures.
Index report() {
    Index passed = 0, failed = 0;
#define LINE(TYPE, NAME, PARAMETERS)                                                                                   \
    {                                                                                                                  \
        Tally& tally = tallies[#NAME];                                                                                 \
        if (tally.passed + tally.failed == 0) ++tally.failed; /* a kernel that is not called */                        \
        std::printf("%-20s %6" PRId64 " cases  checksum %+.12e of %.12e\n", #NAME, tally.passed + tally.failed,        \
                    tally.weighted, tally.size);                                                                       \
        passed += tally.passed, failed += tally.failed;                                                                \
    }
    KERNELS(LINE)
    std::printf("%" PRId64 " passed, %" PRId64 " failed\n", passed, failed);
    return failed;
}

#if defined(RADONCDT_DLOPEN)
void load(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(2);
    }
#define LOAD(TYPE, NAME, PARAMETERS)                                                                                   \
    radoncdt_##NAME = std::bit_cast<TYPE(*) PARAMETERS>(dlsym(library, "radoncdt_" #NAME));                            \
    if (!radoncdt_##NAME) {                                                                                            \
        std::fprintf(stderr, "%s does not export radoncdt_" #NAME "\n", path);                                         \
        std::exit(2);                                                                                                  \
    }
    KERNELS(LOAD)
}
#endif

}  // namespace

int main(int argc, char** argv) {
#if defined(RADONCDT_DLOPEN)
    if (argc < 2) return 2;
    load(argv[1]);
    --argc, ++argv;
#endif
    if (argc > 1 && std::strcmp(argv[1], "--cpu") == 0) {
        std::printf("%s %s\n", radoncdt_has_avx2() ? "avx2" : "", radoncdt_has_avx512() ? "avx512" : "");
        return 0;
    }
    const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
    const Index rounds = argc > 2 ? std::strtoll(argv[2], nullptr, 10) : 400;
    if (argc > 3) results = std::fopen(argv[3], "w");
    test_all(seed, rounds);
    if (results) std::fclose(results);
    return report() == 0 ? 0 : 1;
}
