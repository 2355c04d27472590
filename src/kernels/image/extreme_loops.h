// SPDX-License-Identifier: Apache-2.0
// The inner loops behind extreme_filter.h, one set for each instruction set. They compare signed or
// unsigned integers.
#pragma once

#include <cstdint>

namespace daliesque::image {

/// How many rows are compared at once, at most.
constexpr int kMostExtremeRows = 6;

/// out[i] = the extreme of rows[0][i], ..., rows[inputs - 1][i] for i below `count`. Rows may
/// overlap each other; one may be `out` itself.
using CombineRows = void (*)(void* out, const void* const* rows, int inputs, int64_t count);

/// prefix[i] = the extreme of itself and row[i], out[i] = the extreme of prefix[i] and suffix[i].
using ExtendRows = void (*)(void* out, void* prefix, const void* row, const void* suffix,
                            int64_t count);

/// What is done with integers of one type, to find the largest or the smallest.
struct ExtremeLoops {
  CombineRows combine;
  ExtendRows extend;
  /// Maps floating-point numbers to integers in the same order, or back; in place.
  void (*flip)(void* values, int64_t count);
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
