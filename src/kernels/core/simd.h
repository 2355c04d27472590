// SPDX-License-Identifier: Apache-2.0
// Instruction sets: what this processor can do, and which build of the hot loops runs.
//
// Files named *.simd.cpp are compiled once for any processor and once for AVX2, some of them also
// for AVX-512. Each build is in a namespace of its own, DALIESQUE_ISA, which is `portable`, `avx2`
// or `avx512`; a header *_loops.h declares what it offers.
//
// Rule: such an object defines no symbol that other objects may define as well. The linker keeps
// one of several equal definitions of an inline function or a template's instance, and if it kept
// the one for AVX2, older processors would meet instructions that they do not have. So these files
// call nothing of the standard library that is not a macro, a builtin or constexpr, their own
// functions are in the namespace of the build or without a name, and helpers from headers are
// DALIESQUE_INLINE. tests/test_native.py looks at the symbols of the objects.
#pragma once

namespace daliesque {

/// True if the AVX2 builds may run (AVX2, FMA, F16C and BMI2 present, and not switched off by
/// `set_simd_enabled(false)`).
bool cpu_has_avx2();

/// True if the AVX-512 builds may run as well (with the instructions that permute bytes, and those
/// that add up products).
bool cpu_has_avx512();

/// Switches these paths off, all or just those of AVX-512 (or on again, where the processor has
/// them); for tests.
void set_simd_enabled(bool enabled, bool avx512 = true);

}  // namespace daliesque

/// `what`, which may be a table of loops, a function or a call of one, from the best build that
/// this processor runs. A macro, because other processors have no avx2::what that a function could
/// take.
#if defined(__x86_64__)
#define DALIESQUE_CHOOSE(what) (::daliesque::cpu_has_avx2() ? avx2::what : portable::what)
#define DALIESQUE_CHOOSE_512(what) \
  (::daliesque::cpu_has_avx512() ? avx512::what : DALIESQUE_CHOOSE(what))
#else
#define DALIESQUE_CHOOSE(what) (portable::what)
#define DALIESQUE_CHOOSE_512(what) (portable::what)
#endif
