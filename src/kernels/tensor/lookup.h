// SPDX-License-Identifier: Apache-2.0
// Tables: from integers to values of any type.
#pragma once

#include <array>
#include <cstdint>

#include "core/samples.h"

namespace daliesque::tensor {

/// out[k] = table[in[k]]; what is negative or beyond the table becomes `otherwise`. `table` is a
/// 1-D array and `otherwise` a single element, both of the output's type; `in` has integers.
void look_up(Samples& out, const Samples& in, const Samples& table, const Samples& otherwise);

/// What becomes of each byte.
using ByteTable = std::array<uint8_t, 256>;

/// Looks up the bytes of pixels: channel c in tables[c]. `out` may be `in`. `streamed` results are
/// written past the caches: a stream_fence() must follow.
void look_up_bytes(uint8_t* out, const uint8_t* in, int64_t pixels, int64_t channels,
                   const ByteTable* tables, bool streamed);

}  // namespace daliesque::tensor
