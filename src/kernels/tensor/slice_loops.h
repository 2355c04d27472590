// SPDX-License-Identifier: Apache-2.0
// The conversions of slice, one set for each instruction set.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace daliesque::tensor {

/// Converts `count` dense elements.
using ConvertRow = void (*)(void* out, const void* in, int64_t count);

/// A conversion that clamps and cuts off fractions, or null if there is none for these types.
namespace portable {
ConvertRow find_truncation(DType out, DType in);
}
namespace avx2 {
ConvertRow find_truncation(DType out, DType in);
}

}  // namespace daliesque::tensor
