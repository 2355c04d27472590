// SPDX-License-Identifier: Apache-2.0
// Conversion of whole arrays between element types, with the rules of saturate.h.
#pragma once

#include <cstdint>

#include "core/samples.h"

namespace daliesque {

/// Converts `count` elements from `in` to `out`, which do not overlap.
using ConvertLoop = void (*)(void* out, const void* in, int64_t count);

/// The loop for a pair of types; enum types count as the int32 that stores them.
ConvertLoop convert_loop(DType to, DType from);

/// Throws UsageError if the reference forbids this cast: enum types and floating-point
/// types do not mix.
void check_cast(DType to, DType from);

/// Converts every element of `in` to the type of `out`, which has the same shapes.
void cast(Samples& out, const Samples& in);

}  // namespace daliesque
