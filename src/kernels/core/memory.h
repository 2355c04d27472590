// SPDX-License-Identifier: Apache-2.0
// The buffer pool. Fresh pages cost more than most kernels, so buffers are kept and reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>

namespace daliesque {

/// Thrown when a buffer cannot be allocated; becomes MemoryError in Python.
struct OutOfMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Buffer = std::shared_ptr<void>;

/// Returns at least `bytes` uninitialized bytes, 64-byte aligned. The memory goes back to the pool
/// when the last copy of the returned pointer dies, and never earlier.
Buffer allocate(size_t bytes);

struct MemoryInfo {
  int64_t used_bytes;      ///< held by live buffers
  int64_t used_buffers;    ///< live buffers
  int64_t cached_bytes;    ///< kept for reuse
  int64_t cached_buffers;  ///< kept for reuse
  int64_t peak_bytes;      ///< highest used_bytes so far, or since reset_memory_peak()
  int64_t peak_buffers;    ///< highest used_buffers, likewise
  int64_t limit_bytes;     ///< most bytes kept for reuse
};

MemoryInfo memory_info();

/// Counts the peak from now on.
void reset_memory_peak();

/// Sets how many bytes may be kept for reuse, and frees what exceeds it.
void set_memory_limit(int64_t bytes);

/// Frees all cached buffers.
void release_memory();

}  // namespace daliesque
