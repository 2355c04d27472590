// SPDX-License-Identifier: Apache-2.0
// Writing large results past the caches. Ordinary stores fetch each cache line before they change
// it, and the result is gone from the caches anyway before anybody reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/samples.h"

namespace daliesque {

/// What fits into the caches of common processors.
constexpr size_t kCacheBytes = size_t{32} << 20;

/// Whether results should be streamed: all that a kernel reads and writes, together, does not fit
/// into the caches.
template <class... Batches>
bool exceeds_caches(const Batches&... samples) {
  return ((static_cast<size_t>(samples.total_volume()) * samples.itemsize()) + ...) >= kCacheBytes;
}

/// Shorter runs of bytes gain nothing.
constexpr size_t kLeastStreamed = 256;

/// Copies to memory that will not be read soon.
void stream_copy(void* out, const void* in, size_t bytes);

/// Copies memory, many bytes of `streamed` results past the caches.
inline void copy_bytes(void* out, const void* in, size_t bytes, bool streamed) {
  if (streamed && bytes >= kLeastStreamed) {
    stream_copy(out, in, bytes);
  } else {
    std::memcpy(out, in, bytes);
  }
}

/// Repeats a word over memory that will not be read soon; at the end, as much of it as fits.
void stream_fill(void* out, uint64_t word, size_t bytes);

/// Makes earlier calls of these by this thread visible to others; needed before returning.
void stream_fence();

}  // namespace daliesque
