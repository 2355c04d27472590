// SPDX-License-Identifier: Apache-2.0
// Moves items of any size between dense and strided rows: the loops under flip, transpose and crop.
#pragma once

#include <cstdint>

namespace daliesque {

/// One set of loops for each instruction set. Sizes, strides and offsets are in bytes.
struct RearrangeLoops {
  /// dst[i] = src[count - 1 - i] for items of `size` bytes. The first writes in ascending order and
  /// reads backwards, the second the other way round.
  void (*reverse)(void* dst, const void* src, int64_t count, int64_t size);
  void (*reverse_ascending)(void* dst, const void* src, int64_t count, int64_t size);

  /// Splits pixels of `channels` items into planes: item c of pixel i goes to plane c, index i.
  void (*split)(void* dst, int64_t plane_stride, const void* src, int64_t pixels, int64_t channels,
                int64_t size);

  /// Inverse of split: interleaves planes into pixels.
  void (*join)(void* dst, const void* src, int64_t plane_stride, int64_t pixels, int64_t channels,
               int64_t size);

  /// Transposes a matrix whose source rows and destination rows lie at the given offsets:
  /// item r of destination row c = item c of source row r.
  void (*transpose)(void* dst, const int64_t* dst_offsets, const void* src,
                    const int64_t* src_offsets, int64_t rows, int64_t columns, int64_t size);

  /// Copies `count` runs of `bytes` bytes between offsets `dst_step` and `src_step` apart.
  void (*copy_runs)(void* dst, int64_t dst_step, const void* src, int64_t src_step, int64_t bytes,
                    int64_t count);
};

/// The loops for this processor.
const RearrangeLoops& rearrange_loops();

/// Rows that are read backwards, one after the other, look like no pattern to the processor: this
/// asks for the next one while the current one is worked on. Any address is safe.
inline void prefetch_row(const void* row, int64_t bytes) {
  constexpr int64_t kLine = 64, kLongest = 16384;  // longer rows are a pattern of their own
  if (bytes > kLongest) return;
  for (int64_t k = 0; k < bytes; k += kLine) {
    __builtin_prefetch(static_cast<const char*>(row) + k);
  }
}

namespace portable {
extern const RearrangeLoops rearrange_loops;
}
namespace avx2 {
extern const RearrangeLoops rearrange_loops;
}

}  // namespace daliesque
