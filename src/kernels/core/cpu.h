// SPDX-License-Identifier: Apache-2.0
// What this processor can do, asked once.
#pragma once

namespace daliesque {

/// True if the AVX2 builds of the `.simd.cpp` files may run (AVX2, FMA, F16C and BMI2 present, and
/// not switched off by `set_simd_enabled(false)`).
bool cpu_has_avx2();

/// True if the AVX-512 builds of some of these files may run as well (with the instructions that
/// permute bytes).
bool cpu_has_avx512();

/// Switches these paths off, all or just those of AVX-512 (or on again, where the processor has
/// them); for tests.
void set_simd_enabled(bool enabled, bool avx512 = true);

}  // namespace daliesque
