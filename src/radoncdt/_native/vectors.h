// Vectors, in the notation that GCC and clang share.
//
// `Vector` has 32 bytes for every instruction set, so that sums over lanes have the same order everywhere; the compiler
// uses two registers if they are shorter. `Register` has the size of a register, for loops in which lanes are
// independent. `Block` is the same, except that eight doubles are one block for AVX-512. `Wide` has 64 bytes for AVX-512
// and 32 otherwise, for loops over float in which lanes are independent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace radoncdt {

template <class T>
struct IntegerOf;
template <>
struct IntegerOf<float> {
    using type = std::int32_t;
};
template <>
struct IntegerOf<double> {
    using type = std::int64_t;
};
template <class T>
using Integer = typename IntegerOf<T>::type;  // as wide as T

template <class T, int BYTES>
struct VectorOf {
    typedef T type __attribute__((vector_size(BYTES)));
};

template <class T>
using Vector = typename VectorOf<T, 32>::type;
template <class T>
inline constexpr std::int64_t LANES = 32 / sizeof(T);

#if defined(__AVX__)
inline constexpr int REGISTER = 32;  // bytes
#else
inline constexpr int REGISTER = 16;
#endif
template <class T>
using Register = typename VectorOf<T, REGISTER>::type;
template <class T>
using BitRegister = typename VectorOf<Integer<T>, REGISTER>::type;
template <class T>
inline constexpr std::int64_t REGISTER_LANES = REGISTER / sizeof(T);

#if defined(__AVX512F__)
template <class T>
using Block = typename VectorOf<T, 8 * sizeof(T)>::type;
using Wide = VectorOf<float, 64>::type;
#else
template <class T>
using Block = Register<T>;
using Wide = Vector<float>;
#endif

#define RADONCDT_INLINE inline __attribute__((always_inline))

template <class V, class T>
RADONCDT_INLINE V load_as(const T* from) {
    V vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

template <class T>
RADONCDT_INLINE Vector<T> load(const T* from) {
    return load_as<Vector<T>>(from);
}

template <class V, class T>
RADONCDT_INLINE void store(T* to, V vector) {
    std::memcpy(to, &vector, sizeof vector);
}

template <class T>
RADONCDT_INLINE Vector<T> spread(T value) {
    return Vector<T>{} + value;
}

// a · b + c, rounded once if the instruction set has such an instruction, and twice otherwise. This is the only place
// where a product and a sum are fused; build.py tells the compiler not to fuse them elsewhere.
template <class V>
RADONCDT_INLINE V multiply_add(V a, V b, V c) {
    [[maybe_unused]] constexpr bool is_float = sizeof(a[0]) == sizeof(float);
#if defined(__FMA__)
#if defined(__AVX512F__)
    static_assert(sizeof(V) == 32 || sizeof(V) == 64);
#else
    static_assert(sizeof(V) == 32);
#endif
    if constexpr (sizeof(V) == 32 && is_float) {
        return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
    } else if constexpr (sizeof(V) == 32) {
        return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
    } else {
#if defined(__AVX512F__)
        if constexpr (is_float) {
            return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
        } else {
            return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
        }
#endif
    }
#elif defined(__aarch64__)
    if constexpr (sizeof(V) == 16 && is_float) {
        return (V)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
    } else if constexpr (sizeof(V) == 16) {
        return (V)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
    } else {  // by halves
        using Half = typename VectorOf<std::remove_cvref_t<decltype(a[0])>, sizeof(V) / 2>::type;
        Half x[2], y[2], z[2];
        std::memcpy(x, &a, sizeof a), std::memcpy(y, &b, sizeof b), std::memcpy(z, &c, sizeof c);
        for (int half = 0; half < 2; ++half) z[half] = multiply_add(x[half], y[half], z[half]);
        return load_as<V>(z);
    }
#else
    return a * b + c;
#endif
}

// Sum of the lanes, always in the same order.
RADONCDT_INLINE double sum(Vector<double> v) { return (v[0] + v[1]) + (v[2] + v[3]); }
RADONCDT_INLINE float sum(Vector<float> v) {
    return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

// The largest lane. This goes through memory, because a variable that is indexed is not kept in registers.
template <class T, class V>
RADONCDT_INLINE T max_lane(V v) {
    T lanes[sizeof(V) / sizeof(T)];
    store(lanes, v);
    return *std::max_element(lanes, lanes + sizeof(V) / sizeof(T));
}

// Whether any bit of a vector is set.
template <class V>
RADONCDT_INLINE bool any_bit(V v) {
    std::uint64_t words[sizeof(V) / 8], some = 0;
    std::memcpy(words, &v, sizeof v);
    for (std::uint64_t word : words) some |= word;
    return some != 0;
}

// Load four numbers as doubles.
RADONCDT_INLINE Vector<double> load_doubles(const double* from) { return load(from); }
RADONCDT_INLINE Vector<double> load_doubles(const float* from) {
#if defined(__AVX__)
    return (Vector<double>)_mm256_cvtps_pd(_mm_loadu_ps(from));  // GCC converts vectors by halves
#else
    return __builtin_convertvector((load_as<VectorOf<float, 16>::type>(from)), Vector<double>);
#endif
}

// One bit per lane of a register: the sign bit of each.
RADONCDT_INLINE std::uint64_t sign_bits(BitRegister<float> v) {
#if defined(__AVX__)
    return static_cast<std::uint32_t>(_mm256_movemask_ps((__m256)v));
#elif defined(__SSE2__)
    return static_cast<std::uint32_t>(_mm_movemask_ps((__m128)v));
#else
    std::uint64_t bits = 0;
    for (int lane = 0; lane < 4; ++lane) bits |= std::uint64_t(v[lane] < 0) << lane;
    return bits;
#endif
}

RADONCDT_INLINE std::uint64_t sign_bits(BitRegister<double> v) {
#if defined(__AVX__)
    return static_cast<std::uint32_t>(_mm256_movemask_pd((__m256d)v));
#elif defined(__SSE2__)
    return static_cast<std::uint32_t>(_mm_movemask_pd((__m128d)v));
#else
    return std::uint64_t(v[0] < 0) | std::uint64_t(v[1] < 0) << 1;
#endif
}

// Which of N numbers satisfy a condition on registers: one bit per number.
template <int N, class T, class Condition>
RADONCDT_INLINE std::uint64_t bits_where(const T* numbers, Condition condition) {
    std::uint64_t bits = 0;
    for (int first = 0; first < N; first += REGISTER_LANES<T>) {
        bits |= sign_bits(BitRegister<T>(condition(load_as<Register<T>>(numbers + first)))) << first;
    }
    return bits;
}

// zip_low: lanes 0, N, 1, N + 1, … of two registers of N lanes. zip_high: the other half of the lanes.
template <class V, int... LANE>
RADONCDT_INLINE V shuffle(V a, V b) {
#if defined(__clang__)
    return __builtin_shufflevector(a, b, LANE...);
#else
    using Lanes = typename VectorOf<Integer<std::remove_cvref_t<decltype(a[0])>>, sizeof(V)>::type;
    return __builtin_shuffle(a, b, Lanes{LANE...});
#endif
}
template <class V>
RADONCDT_INLINE V zip_low(V a, V b) {
    constexpr int n = sizeof(V) / sizeof(a[0]);
    if constexpr (n == 8) return shuffle<V, 0, 8, 1, 9, 2, 10, 3, 11>(a, b);
    if constexpr (n == 4) return shuffle<V, 0, 4, 1, 5>(a, b);
    if constexpr (n == 2) return shuffle<V, 0, 2>(a, b);
}
template <class V>
RADONCDT_INLINE V zip_high(V a, V b) {
    constexpr int n = sizeof(V) / sizeof(a[0]);
    if constexpr (n == 8) return shuffle<V, 4, 12, 5, 13, 6, 14, 7, 15>(a, b);
    if constexpr (n == 4) return shuffle<V, 2, 6, 3, 7>(a, b);
    if constexpr (n == 2) return shuffle<V, 1, 3>(a, b);
}

// target[j · step + i] = source[i · pitch + j] for i, j < REGISTER_LANES.
template <class T>
RADONCDT_INLINE void transpose(const T* source, std::int64_t pitch, T* target, std::int64_t step) {
    using R = Register<T>;
    constexpr int N = REGISTER_LANES<T>;
    R rows[N];
    for (int i = 0; i < N; ++i) rows[i] = load_as<R>(source + i * pitch);
    for (int bits = N; bits > 1; bits /= 2) {  // zipping the first half with the second rotates the bits of (i, j)
        R zipped[N];
        for (int i = 0; i < N / 2; ++i) {
            zipped[2 * i] = zip_low(rows[i], rows[i + N / 2]);
            zipped[2 * i + 1] = zip_high(rows[i], rows[i + N / 2]);
        }
        for (int i = 0; i < N; ++i) rows[i] = zipped[i];
    }
    for (int j = 0; j < N; ++j) store(target + j * step, rows[j]);
}

}  // namespace radoncdt
