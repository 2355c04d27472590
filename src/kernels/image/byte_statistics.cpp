// SPDX-License-Identifier: Apache-2.0
#include "image/byte_statistics.h"

#include <cstddef>

#include "core/simd.h"
#include "image/byte_statistics_loops.h"

namespace daliesque::image {

namespace {

const ByteStatisticsLoops& byte_loops() { return DALIESQUE_CHOOSE_512(byte_statistics_loops); }

/// Several sets of counters alternate: incrementing what was just incremented would have to wait.
template <int channels>
void count_pixels(ByteCounts* counts, const uint8_t* bytes, int64_t pixels) {
  constexpr int kSets = 4;
  ByteCounts sets[kSets][channels] = {};
  int64_t i = 0;
  for (; i + kSets <= pixels; i += kSets) {
    for (auto& set : sets) {
      for (ByteCounts& own : set) own[*bytes++]++;
    }
  }
  for (; i < pixels; i++) {
    for (ByteCounts& own : sets[0]) own[*bytes++]++;
  }
  for (int c = 0; c < channels; c++) {
    for (size_t k = 0; k < 256; k++) {
      counts[c][k] = sets[0][c][k] + sets[1][c][k] + sets[2][c][k] + sets[3][c][k];
    }
  }
}

}  // namespace

std::vector<ByteCounts> count_bytes(const uint8_t* bytes, int64_t pixels, int64_t channels) {
  std::vector<ByteCounts> counts(static_cast<size_t>(channels));
  if (channels == 1) {
    count_pixels<1>(counts.data(), bytes, pixels);
  } else if (channels == 3) {
    count_pixels<3>(counts.data(), bytes, pixels);
  } else {
    for (int64_t i = 0; i < pixels * channels; i++) {
      counts[static_cast<size_t>(i % channels)][bytes[i]]++;
    }
  }
  return counts;
}

std::vector<ByteRange> find_ranges(const uint8_t* bytes, int64_t pixels, int64_t channels) {
  std::vector<uint8_t> low(static_cast<size_t>(channels), 255), high(low.size(), 0);
  byte_loops().find_ranges(low.data(), high.data(), bytes, pixels, channels);
  std::vector<ByteRange> ranges(low.size());
  for (size_t c = 0; c < ranges.size(); c++) ranges[c] = {low[c], high[c]};
  return ranges;
}

std::vector<int64_t> sum_bytes(const uint8_t* bytes, int64_t pixels, int64_t channels) {
  std::vector<int64_t> sums(static_cast<size_t>(channels));
  byte_loops().sum_bytes(sums.data(), bytes, pixels, channels);
  return sums;
}

}  // namespace daliesque::image
