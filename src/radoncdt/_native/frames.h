// From an image to lines of ink.
//
// Frame. An image is first copied into a frame with ABOVE rows of zeros above it, BEFORE columns of zeros on its left
// and BEHIND columns on its right, so that later loops need no checks at the ends of lines.
//
// Lines. A line is a row of the bounding box of the ink, or a column of it, which is copied to be contiguous.
//
// Runs. Lines are cut into blocks of BLOCK bins, and blocks that no ink reaches are left out. The remaining blocks form
// runs. The time for a drawing is therefore proportional to its ink. A dense image has one run per line.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels.h"
#include "memory.h"
#include "vectors.h"

namespace radoncdt {

inline constexpr Index BLOCK = 8;       // bins per block: one vector of float, two of double
inline constexpr Index WORD = 64;       // pixels examined together when searching for ink
inline constexpr std::int32_t END = -1;  // marks the end of the runs of a line
inline constexpr Index ABOVE = BLOCK, BEFORE = 2, BEHIND = WORD + BLOCK;

// The bounding box of the ink, in rows and columns of the frame; `bottom` and `right` are just outside.
struct Box {
    Index top, bottom, left, right;
    Index height() const { return bottom - top; }
    Index width() const { return right - left; }
};

// Parallel lines of pixels: pixel k of line r is pixels[r · pitch + k]. `runs` lists, for each run of blocks, its first
// bin and the first bin after it, with END after each line. Pixel k reaches the bins k, k + 1 and k + 2.
template <class T>
struct Lines {
    const T* pixels;
    Index pitch, count, length;
    const std::int32_t* runs;
};

template <class T>
class Frame {
public:
    Index status = 0;
    Box box{};

    // Copy an image, and find its status and the bounding box of its ink, which is the whole image if there is no ink.
    // Returns false if there is no memory.
    [[nodiscard]] bool read(const Image& image) {
        if (!prepare(image.height, image.width)) return false;
        scan(static_cast<const T*>(image.pixels), image.stride);
        return true;
    }

    // Multiply by a power of two, which is exact, if sums could overflow or underflow. Returns the exponent taken out.
    int rescale() {
        int exponent;
        std::frexp(static_cast<double>(largest_), &exponent);
        if (-64 < exponent && exponent < 64) return 0;
        for (Index i = 0; i < height_ * pitch_; ++i) {
            T& pixel = pixels_[ABOVE * pitch_ + i];
            pixel = std::ldexp(pixel, -exponent);
        }
        return exponent;
    }

    // The centre of the box in the coordinates of the image.
    double centre_x() const { return 0.5 * static_cast<double>(box.left + box.right - 2 * BEFORE - width_); }
    double centre_y() const { return 0.5 * static_cast<double>(height_ + 2 * ABOVE - box.top - box.bottom); }

    // Pixel (i, j) of the box.
    T pixel(Index i, Index j) const { return pixels_[(box.top + i) * pitch_ + box.left + j]; }

    // The rows of the box, from the top down; pixels from left to right. False if there is no memory.
    [[nodiscard]] bool rows(Lines<T>& lines) {
        const Index height = box.height(), width = box.width();
        if (!row_runs_.reserve(room_for_runs(height, width))) return false;
        const T* first = pixels_.data() + box.top * pitch_ + box.left;
        cut(first, pitch_, height, width, row_runs_.data());
        lines = {first, pitch_, height, width, row_runs_.data()};
        return true;
    }

    // The columns of the box, from the left; pixels from the bottom to the top. False if there is no memory.
    [[nodiscard]] bool columns(Lines<T>& lines) {
        const Index height = box.height(), width = box.width(), step = height + BEFORE + BEHIND;
        if (!column_runs_.reserve(room_for_runs(width, height))) return false;
        if (!turned_.reserve((width + BLOCK) * step + BEFORE)) return false;
        T* target = turned_.data() + BEFORE;
        std::fill(turned_.data(), target, T(0));
        std::int32_t* runs = column_runs_.data();
        for (Index j = 0; j < width; j += BLOCK) {
            T* into = target + j * step;
            for (Index i = 0; i < height; i += BLOCK) {
                turn_block(pixels_.data() + (box.bottom - 1 - i) * pitch_ + box.left + j, into + i, step);
            }
            // the zeros after a line are also those before the next
            for (Index k = 0; k < BLOCK; ++k) std::fill(into + k * step + height, into + (k + 1) * step, T(0));
            runs = cut(into, step, std::min(BLOCK, width - j), height, runs);
        }
        lines = {target, step, width, height, column_runs_.data()};
        return true;
    }

private:
    Index height_ = -1, width_ = -1, pitch_ = 0;
    T largest_ = 0;
    Buffer<T> pixels_, turned_;
    Buffer<Integer<T>> inked_;
    Buffer<std::int32_t> row_runs_, column_runs_;

    static Index room_for_runs(Index count, Index length) {
        return count * (2 * ((length + 2 + BLOCK - 1) / BLOCK) + 1);
    }

    // Make a frame for images of this shape, with zeros around the image. The last frame is kept if it has the shape.
    bool prepare(Index height, Index width) {
        if (height == height_ && width == width_) return true;
        height_ = width_ = -1;
        pitch_ = BEFORE + width + BEHIND;
        if (!pixels_.reserve((ABOVE + height) * pitch_)) return false;
        std::fill(pixels_.data(), pixels_.data() + ABOVE * pitch_, T(0));
        for (Index i = ABOVE; i < ABOVE + height; ++i) {
            T* row = pixels_.data() + i * pitch_;
            std::fill(row, row + BEFORE, T(0));
            std::fill(row + BEFORE + width, row + pitch_, T(0));
        }
        height_ = height, width_ = width;
        return inked_.reserve(width + REGISTER_LANES<T>);
    }

    void scan(const T* image, Index stride) {
        using R = Register<T>;
        using Bits = BitRegister<T>;
        constexpr Index lanes = REGISTER_LANES<T>;
        constexpr Integer<T> without_sign = std::numeric_limits<Integer<T>>::max();
        const Index padded = (width_ + lanes - 1) / lanes * lanes;
        std::fill(inked_.data(), inked_.data() + padded, Integer<T>(0));
        const R most_finite = R{} + std::numeric_limits<T>::max();
        R largest{};
        Bits negative{}, finite = ~Bits{};
        box = {ABOVE + height_, ABOVE, BEFORE + width_, BEFORE};
        for (Index i = 0; i < height_; ++i) {
            T* row = pixels_.data() + (ABOVE + i) * pitch_ + BEFORE;
            std::copy(image + i * stride, image + i * stride + width_, row);
            // separate variables for this row, because those that live across the call above are kept in memory
            Bits any{}, below{}, within = ~Bits{};
            R most{};
            for (Index k = 0; k < padded; k += lanes) {  // there are zeros beyond the width
                const R values = load_as<R>(row + k);
                const Bits sizes = Bits(values) & without_sign;
                store(inked_.data() + k, load_as<Bits>(inked_.data() + k) | sizes);
                any |= sizes;
                most = R(sizes) > most ? R(sizes) : most;
                within &= R(sizes) <= most_finite;
                below |= values < R{};
            }
            largest = most > largest ? most : largest;
            finite &= within;
            negative |= below;
            if (any_bit(any)) {
                box.top = std::min(box.top, ABOVE + i);
                box.bottom = ABOVE + i + 1;
            }
        }
        for (Index k = 0; k < width_; ++k) {
            if (inked_[k] != 0) {
                box.left = std::min(box.left, BEFORE + k);
                box.right = BEFORE + k + 1;
            }
        }
        status = any_bit(negative) ? Index(NEGATIVE) : 0;
        if (any_bit(~finite)) status |= NOT_FINITE;
        largest_ = max_lane<T>(largest);
        if (box.bottom == ABOVE) {
            status |= EMPTY;
            box = {ABOVE, ABOVE + height_, BEFORE, BEFORE + width_};
        }
    }

    // target[j · step + i] = source[j − i · pitch] for i, j < BLOCK.
    void turn_block(const T* source, T* target, Index step) const {
        constexpr Index lanes = REGISTER_LANES<T>;
        BitRegister<T> any{};
        for (Index i = 0; i < BLOCK; ++i) {
            for (Index j = 0; j < BLOCK; j += lanes) any |= load_as<BitRegister<T>>(source - i * pitch_ + j);
        }
        if (!any_bit(any)) {
            for (Index j = 0; j < BLOCK; ++j) std::fill(target + j * step, target + j * step + BLOCK, T(0));
            return;
        }
        for (Index i = 0; i < BLOCK; i += lanes) {
            for (Index j = 0; j < BLOCK; j += lanes) {
                transpose(source - i * pitch_ + j, -pitch_, target + j * step + i, step);
            }
        }
    }

    // Cut lines into runs of blocks that ink reaches. Returns the end of the list of runs.
    static std::int32_t* cut(const T* pixels, Index pitch, Index count, Index length, std::int32_t* runs) {
        for (Index r = 0; r < count; ++r) {
            const T* line = pixels + r * pitch;
            Index done = -2;  // all bins of the pixels before this one are in runs
            for (Index first = 0; first < length; first += WORD) {
                if (done >= first + WORD) continue;
                std::uint64_t ink = bits_where<WORD>(line + first, [](Register<T> v) { return v != Register<T>{}; });
                while (done < first + WORD) {
                    const Index known = std::max<Index>(done - first, 0);
                    ink = ink >> known << known;
                    if (ink == 0) break;
                    Index k = std::max<Index>(first + std::countr_zero(ink), done + 2);
                    if (done < 0 || k > done + 2) {
                        *runs = static_cast<std::int32_t>(k);
                        runs += 2;
                    }
                    while (line[k + BLOCK] != 0) k += BLOCK;  // block by block where everything is ink
                    runs[-1] = static_cast<std::int32_t>(k + BLOCK);
                    done = k + BLOCK - 2;
                }
            }
            *runs++ = END;
        }
        return runs;
    }
};

}  // namespace radoncdt
