// SPDX-License-Identifier: Apache-2.0
// Tables: from integers to values of any type.
#pragma once

#include <cstdint>

#include "samples.h"

namespace daliesque {

/// out[k] = table[in[k]]; what is negative or beyond the table becomes `otherwise`. `table` is a
/// 1-D array and `otherwise` a single element, both of the output's type; `in` has integers.
void look_up(Samples& out, const Samples& in, const Samples& table, const Samples& otherwise);

/// out[k] = table[in[k]] for bytes. `streamed` results are written past the caches: a
/// stream_fence() must follow.
void look_up_bytes(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t table[256],
                   bool streamed = false);

}  // namespace daliesque
