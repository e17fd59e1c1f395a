// The information from which Python chooses a library.

#include "kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if !defined(RADONCDT_SOURCE_HASH)
#define RADONCDT_SOURCE_HASH "unknown"
#endif

namespace radoncdt {
namespace {

// Whether the processor has the given features, and whether the operating system saves the registers that they need,
// which are bits of XCR0. __builtin_cpu_supports needs a part of the compiler's runtime library that zig lacks.
bool has([[maybe_unused]] unsigned features_of_leaf_7, [[maybe_unused]] unsigned registers) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    const unsigned needed = bit_OSXSAVE | bit_AVX | bit_FMA;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & needed) != needed) return false;
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & registers) != registers) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & features_of_leaf_7) == features_of_leaf_7;
#else
    return false;
#endif
}

#if defined(__x86_64__)
constexpr unsigned AVX2 = bit_AVX2;
constexpr unsigned AVX512 = AVX2 | bit_AVX512F | bit_AVX512VL | bit_AVX512DQ | bit_AVX512BW;
#else
constexpr unsigned AVX2 = 0, AVX512 = 0;
#endif
constexpr unsigned YMM = 0x06, ZMM = 0xe6;  // 16- and 32-byte registers; also masks and 64-byte registers

}  // namespace

// Whether this machine can run the libraries compiled for AVX2 and for AVX-512; both use FMA.
RADONCDT_EXPORT int radoncdt_has_avx2() { return has(AVX2, YMM); }
RADONCDT_EXPORT int radoncdt_has_avx512() { return has(AVX512, ZMM); }

// The hash of the sources that the library was compiled from.
RADONCDT_EXPORT const char* radoncdt_source_hash() { return RADONCDT_SOURCE_HASH; }

}  // namespace radoncdt
