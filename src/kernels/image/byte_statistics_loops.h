// SPDX-License-Identifier: Apache-2.0
// The inner loops behind byte_statistics.h, one set for each instruction set.
#pragma once

#include <cstdint>

namespace daliesque::image {

struct ByteStatisticsLoops {
  /// Lowers `low` and raises `high`, one byte for each channel, by those of the image.
  void (*find_ranges)(uint8_t* low, uint8_t* high, const uint8_t* bytes, int64_t pixels,
                      int64_t channels);
  /// Adds to `sums`, one for each channel.
  void (*sum_bytes)(int64_t* sums, const uint8_t* bytes, int64_t pixels, int64_t channels);
};

namespace portable {
extern const ByteStatisticsLoops byte_statistics_loops;
}
namespace avx2 {
extern const ByteStatisticsLoops byte_statistics_loops;
}
namespace avx512 {
extern const ByteStatisticsLoops byte_statistics_loops;
}

}  // namespace daliesque::image
