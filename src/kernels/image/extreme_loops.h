// SPDX-License-Identifier: Apache-2.0
// The inner loops behind extreme_filter.h, one set for each instruction set. They compare signed or
// unsigned integers.
#pragma once

#include <cstdint>

namespace daliesque::image {

/// How many parts of a row are compared at once, at most.
constexpr int kMostExtremeInputs = 6;

/// out[i] = the extreme of inputs[0][i], ..., inputs[parts - 1][i] for i below `count`. Inputs may
/// overlap each other; one may be `out` itself, unless the result is `streamed` past the caches.
using CombineParts = void (*)(void* out, const void* const* inputs, int parts, int64_t count,
                              bool streamed);

/// The extremes of `height` rows each, for the extreme_rows(height) windows that begin in
/// rows[0], rows[1] and so on; to rows `stride` bytes apart.
using CombineRows = void (*)(void* out, int64_t stride, const void* const* rows, int64_t height,
                             int64_t count);

/// How many windows of a height share what is compared, each beginning a row after the one before.
constexpr int kMostExtremeRows = 8;
constexpr int extreme_rows(int64_t height) {
  return height >= 8 ? 8 : height >= 4 ? 4 : height >= 2 ? 2 : 1;
}

/// prefix[i] = the extreme of itself and row[i], out[i] = the extreme of prefix[i] and suffix[i].
using ExtendRows = void (*)(void* out, void* prefix, const void* row, const void* suffix,
                            int64_t count);

/// What is done with integers of one type, to find the largest or the smallest.
struct ExtremeLoops {
  CombineParts combine;
  CombineRows combine_rows;
  ExtendRows extend;
  /// Maps floating-point numbers to integers in the same order, or back.
  void (*flip)(void* out, const void* in, int64_t count, bool streamed);
  /// Writes the value that is never picked.
  void (*fill)(void* out, int64_t count);
};

/// The loops for values of 1, 2, 4 or 8 bytes.
using FindExtremeLoops = const ExtremeLoops&(int size, bool is_signed, bool largest);

namespace portable {
FindExtremeLoops find_extreme_loops;
}
namespace avx2 {
FindExtremeLoops find_extreme_loops;
}
namespace avx512 {
FindExtremeLoops find_extreme_loops;
}

}  // namespace daliesque::image
