// The C interface of the kernels, which Python loads with ctypes (__init__.py). Nothing else is exported.
//
// Every function returns OK, or NO_MEMORY when it could not allocate its workspace. Arrays are contiguous, in the order
// of C, unless a parameter says otherwise. Functions keep no state between calls, so threads may call them at will.
// _f32 and _f64 tell the precision of the pixels; moments, cumulative sums and quantiles are always in double.
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

// What can be wrong with an image: the bits of its status. UNSETTLED: the robust moments did not converge.
enum Status : Index { NOT_FINITE = 1, NEGATIVE = 2, EMPTY = 4, UNSETTLED = 8 };

// What `image_quantiles` computes: the bits of its options.
enum Options : int { NORMALISE = 1, WHITEN = 2, EXTREMES = 4 };

// An image: pixel (i, j) is pixels[i * stride + j].
struct Image {
    const void* pixels;
    Index height, width, stride;
};

// Maps are plausible if the ratio of their two scales is at most `aspect`, the images of the axes are within `shear`
// radians of being perpendicular, and the mean scale is between 1 / scale and scale.
struct Limits {
    double aspect, shear, scale;
};

// Descriptors as matching reads them: values (n, n_angles, n_levels), float or double; waves as matching.cpp describes
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
    Index n_codes;
};

// What all comparisons of descriptors need. `limits` is null if all maps are plausible.
struct Matching {
    Index n_angles, n_levels;
    Turns turns;
    int reflections;
    const Limits* limits;
};

}  // namespace radoncdt
