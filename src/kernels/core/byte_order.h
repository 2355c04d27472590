// SPDX-License-Identifier: Apache-2.0
// Elements in non-native byte order.
#pragma once

#include <cstdint>
#include <span>

#include "core/samples.h"

namespace daliesque {

/// Copies `count` elements and reverses the bytes of each; `out` and `in` may be the same.
void copy_swapped(void* out, const void* in, int64_t count, size_t itemsize);

/// Sample i of `out` gets its elements from the bytes of sample i of `in` (1-D, uint8), from
/// offsets[i] on, where they are in big-endian order. Throws std::out_of_range if there are not
/// enough.
void copy_big_endian(Samples& out, const Samples& in, std::span<const int64_t> offsets);

}  // namespace daliesque
