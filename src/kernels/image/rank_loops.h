// SPDX-License-Identifier: Apache-2.0
// The inner loops behind rank_filters.h, one set for each instruction set. They compare unsigned
// keys, which numbers of every type are mapped to such that their order stays.
#pragma once

#include <cstdint>

namespace daliesque::image {

/// Loops may read and write up to the next multiple of this many keys.
constexpr int64_t kRankPadding = 64;

enum class KeyKind { natural, integer, floating };

using ConvertKeys = void (*)(void* out, const void* in, int64_t count);
using PickKeys = void (*)(void* out, const void* const* rows, int64_t taps, int64_t count);
/// The medians of squares of 3x3 pixels, of two rows: out[0] from rows 0 to 2, out[1] from rows 1
/// to 3, which begin one pixel before it. Reads and writes no further than `count` results need.
/// `streamed` results are written past the caches: rows of them must be multiples of kRankPadding
/// bytes apart.
using PickSquare = void (*)(void* const* out, const void* const* rows, int64_t channels,
                            int64_t count, bool streamed);

/// For keys of 1, 2, 4 or 8 bytes, of values that are as wide or narrower.
struct RankLoops {
  ConvertKeys (*find_to_keys)(KeyKind kind, int key_size, int value_size);
  ConvertKeys (*find_to_values)(KeyKind kind, int value_size, int key_size);
  PickSquare (*find_median_3x3)(int key_size);
  /// Of n keys, the one that exactly n / 2 others precede in sorted order; n must fit a key.
  PickKeys (*find_median)(int key_size);
};

namespace portable {
extern const RankLoops rank_loops;
}
namespace avx2 {
extern const RankLoops rank_loops;
}
namespace avx512 {
extern const RankLoops rank_loops;
}

}  // namespace daliesque::image
