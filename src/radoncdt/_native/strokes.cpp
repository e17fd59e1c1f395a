// The kernel that draws lines.

#include <algorithm>
#include <cmath>

#include "kernels.h"

namespace radoncdt {
namespace {

// The part of a unit square around 0 whose projection on the axis (c, s) is below a place. The projection of the square
// is the sum of two intervals of lengths |c| and |s|.
double part_below(double place, double c, double s) {
    const double a = std::max(std::abs(c), 1e-6), b = std::max(std::abs(s), 1e-6);
    const double outer = (a + b) / 2, inner = (a - b) / 2;
    const auto square = [&](double shift) {
        const double above = std::max(place + shift, 0.0);
        return above * above;
    };
    const double total = square(outer) - square(inner) - square(-inner) + square(-outer);
    return std::min(std::max(total / (2 * a * b), 0.0), 1.0);
}

// Convert to an index from −1 to `most`; −1 for NaN. A place far outside the image must not overflow.
Index clamp_to(double value, Index most) {
    if (!(value > -1)) return -1;
    return value < static_cast<double>(most) ? static_cast<Index>(value) : most;
}

// Draw a segment. Beyond its ends, the normal is the direction from the end, so ends are round.
void stroke(double* image, Index height, Index width, double x0, double y0, double x1, double y1, double thickness) {
    const double reach = thickness / 2 + 1, dx = x1 - x0, dy = y1 - y0, length = std::hypot(dx, dy);
    const double square = std::max(length * length, 1e-300);
    const Index first = clamp_to(std::ceil(std::min(y0, y1) - reach), height);
    const Index last = clamp_to(std::floor(std::max(y0, y1) + reach), height - 1);
    const Index left = clamp_to(std::ceil(std::min(x0, x1) - reach), width);
    const Index right = clamp_to(std::floor(std::max(x0, x1) + reach), width - 1);
    for (Index row = std::max<Index>(first, 0); row <= last; ++row) {
        for (Index column = std::max<Index>(left, 0); column <= right; ++column) {
            const double x = static_cast<double>(column) - x0, y = static_cast<double>(row) - y0;
            const double along = std::min(std::max((x * dx + y * dy) / square, 0.0), 1.0);
            const double across_x = x - along * dx, across_y = y - along * dy;
            const double distance = std::hypot(across_x, across_y);
            if (distance > reach) continue;
            double c, s;
            if (distance < 1e-9) {  // on the line itself, where the normal is that of the line
                c = dy / std::max(length, 1e-300), s = dx / std::max(length, 1e-300);
            } else {
                c = across_x / distance, s = across_y / distance;
            }
            const double half = thickness / 2;
            const double covered = part_below(half - distance, c, s) - part_below(-half - distance, c, s);
            double& pixel = image[row * width + column];
            if (covered > pixel) pixel = covered;
        }
    }
}

}  // namespace

// Brighten the pixels of an image (height, width) to the part of them that the line through corners (n, 2), each
// (column, row), covers.
RADONCDT_EXPORT int radoncdt_strokes(double* image, Index height, Index width, Index n, const double* corners,
                                     double thickness) {
    for (Index k = 0; k + 1 < n; ++k) {
        const double* c = corners + 2 * k;
        stroke(image, height, width, c[0], c[1], c[2], c[3], thickness);
    }
    return OK;
}

}  // namespace radoncdt
