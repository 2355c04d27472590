// SPDX-License-Identifier: Apache-2.0
// Writing large results past the caches. Ordinary stores fetch each cache line before they change
// it, and the result is gone from the caches anyway before anybody reads it.
#pragma once

#include <cstddef>

namespace daliesque {

/// From this size on, results do not fit into the caches of common processors.
constexpr size_t kStreamBytes = size_t{32} << 20;

/// Copies from a small buffer to memory that will not be read soon.
void stream_copy(void* out, const void* in, size_t bytes);

/// Makes earlier stream_copy() calls of this thread visible to others; needed before returning.
void stream_fence();

}  // namespace daliesque
