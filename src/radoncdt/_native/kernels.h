// The C interface of the kernels, which Python loads with ctypes (__init__.py). Nothing else is exported.
//
// Every kernel returns a `Result`: OK, NO_MEMORY if it could not allocate its workspace, or SINGULAR if `fit` finds no
// solution. Arrays are contiguous, in C order, unless a parameter says otherwise. Functions keep no state between
// calls, so several threads may call them at once. The suffixes _f32 and _f64 state the precision of the pixels.
// Moments, cumulative sums and quantiles are always in double.
#pragma once

#include <cstdint>

#if defined(_WIN32)
#define RADONCDT_EXPORT extern "C" __declspec(dllexport)
#else
#define RADONCDT_EXPORT extern "C" __attribute__((visibility("default")))
#endif

namespace radoncdt {

using Index = std::int64_t;

enum Result : int { OK = 0, NO_MEMORY = 1, SINGULAR = 2 };

// Problems of an image: the bits of its status. UNSETTLED means that the robust moments did not converge.
enum Status : Index { NOT_FINITE = 1, NEGATIVE = 2, EMPTY = 4, UNSETTLED = 8 };

// Options of `image_quantiles`, as bits.
enum Options : int { NORMALISE = 1, WHITEN = 2, EXTREMES = 4 };

// An image: pixel (i, j) is pixels[i * stride + j].
struct Image {
    const void* pixels;
    Index height, width, stride;
};

// Mean (x, y) and covariance.
struct Moments {
    double x, y, xx, xy, yy;
};

// Maps are plausible if the ratio of their two scales is at most `aspect`, the images of the axes are within `shear`
// radians of being perpendicular, and the mean scale is between 1 / scale and scale.
struct Limits {
    double aspect, shear, scale;
};

// The penalty of a map, which is added to the squared distance: aspect · (log of the ratio of its two scales)² +
// rotation · (1 − cos ψ), where ψ is the angle of the rotation in its polar decomposition, plus mirror, if the map mirrors.
// A map that mirrors is composed with a reflection of x before its decomposition.
struct Prior {
    double aspect, rotation, mirror;
};

// Descriptors for matching: values (n, n_angles, n_levels), float or double; waves as matching.cpp describes
// them; norms (n, 2); covariances (n, 3): xx, xy, yy.
struct Waves {
    const void* values;
    const float* waves;
    const double* norms;
    const double* covariances;
};

// The turns of a circle, computed in Python; matching.cpp describes both arrays.
struct Turns {
    const float* table;
    const std::int64_t* codes;
};

// Parameters that all comparisons of descriptors share. `limits` is null if all maps are plausible, and `prior` if they
// have no penalty.
struct Matching {
    Index n_angles, n_levels;
    Turns turns;
    int reflections;
    const Limits* limits;
    const Prior* prior;
};

// How much an image may bend in a comparison: the largest displacement of a patch in points of the frame, its penalty per
// squared point, and whether and with which ridge the displacements are fitted by an affine map.
struct Bending {
    Index window;
    double penalty, ridge;
    int polish;
};

// ---------------------------------------------------------------- functions
//
// `radoncdt._interface` documents what the kernels compute. The integers before an array are its shape. A program that
// loads the library itself defines RADONCDT_TYPES_ONLY.

#if !defined(RADONCDT_TYPES_ONLY)

RADONCDT_EXPORT int radoncdt_has_avx2();
RADONCDT_EXPORT int radoncdt_has_avx512();
RADONCDT_EXPORT const char* radoncdt_source_hash();

#define RADONCDT_DECLARE(T, SUFFIX)                                                                                   \
    RADONCDT_EXPORT int radoncdt_image_moments_##SUFFIX(Index n, const Image* images, Moments* out, Index* status);   \
    RADONCDT_EXPORT int radoncdt_image_masses_##SUFFIX(Index n, const Image* images, Index n_angles,                  \
                                                       const double* cosines, const double* sines, Index n_bins,      \
                                                       T* out, double* origins, Index* status);                       \
    RADONCDT_EXPORT int radoncdt_image_quantiles_##SUFFIX(                                                            \
        Index n, const Image* images, Index n_angles, const double* cosines, const double* sines, Index n_levels,     \
        const double* levels, int options, double nu, double* out, Moments* moments, Index* status);                  \
    RADONCDT_EXPORT int radoncdt_back_project_##SUFFIX(const T* values, const double* centres, Index n_angles,        \
                                                       const double* cosines, const double* sines, Index n_bins,      \
                                                       Index height, Index width, T* image);                          \
    RADONCDT_EXPORT int radoncdt_least_distances_##SUFFIX(                                                            \
        const Waves* x, const Waves* y, const Matching* matching, int ascending, Index first_row, Index last_row,     \
        Index first_column, Index last_column, Index n_columns, double* distances, Index* turns);                     \
    RADONCDT_EXPORT int radoncdt_within_##SUFFIX(const Waves* x, Index i, const Waves* y, Index n,                    \
                                                 const Matching* matching, const double* bounds, Index left_out,      \
                                                 double radius, double* distances);                                   \
    RADONCDT_EXPORT int radoncdt_nearest_##SUFFIX(                                                                    \
        const Waves* x, Index i, const Waves* y, Index n, const Matching* matching, const double* bounds,             \
        const Index* order, Index left_out, Index room, double* distances, Index* numbers);

RADONCDT_DECLARE(float, f32)
RADONCDT_DECLARE(double, f64)
#undef RADONCDT_DECLARE

RADONCDT_EXPORT int radoncdt_bin_quantiles(Index n, Index n_bins, const double* masses, Index n_levels,
                                           const double* levels, double* out);
RADONCDT_EXPORT int radoncdt_student_moments(Index n, const double* points, double nu, double extent, Moments* moments,
                                             int* settled);
RADONCDT_EXPORT int radoncdt_quantile_masses(Index rows, Index n_levels, const double* values, const double* levels,
                                             Index n_edges, const double* edges, double* out);
RADONCDT_EXPORT int radoncdt_transport(Index rows, Index n_a, const double* mass_a, const double* places_a, int wide_a,
                                       Index n_b, const double* mass_b, const double* places_b, int wide_b, double p,
                                       double* out);
RADONCDT_EXPORT int radoncdt_plausible_turns(const double* moving, const double* fixed, const Limits* limits,
                                             Index n_angles, double* angles);
RADONCDT_EXPORT int radoncdt_distortions(const Image* moving, const Image* fixed, Index n, const Index* pairs,
                                         double* moving_maps, const double* fixed_maps, Index side, double reach,
                                         const Bending* bending, double* distances);
RADONCDT_EXPORT int radoncdt_fit(Index n_points, Index n_terms, const double* base, const double* terms, Index n_targets,
                                 const double* targets, Index n_some, const Index* some, Index n_few, const Index* few,
                                 const double* ridge, double size, double most, Index iterations, double* coefficients,
                                 double* misfit);
RADONCDT_EXPORT int radoncdt_strokes(double* image, Index height, Index width, Index n, const double* corners,
                                     double thickness);

#endif

}  // namespace radoncdt
