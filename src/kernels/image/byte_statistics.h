// SPDX-License-Identifier: Apache-2.0
// What is to be known of the bytes of an image, channel by channel. Images have `pixels` times
// `channels` bytes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace daliesque::image {

/// How often each byte occurs.
using ByteCounts = std::array<int32_t, 256>;

std::vector<ByteCounts> count_bytes(const uint8_t* bytes, int64_t pixels, int64_t channels);

/// The lowest and the highest byte; of no byte at all, 255 and 0.
struct ByteRange {
  uint8_t lowest = 255, highest = 0;
};

std::vector<ByteRange> find_ranges(const uint8_t* bytes, int64_t pixels, int64_t channels);

std::vector<int64_t> sum_bytes(const uint8_t* bytes, int64_t pixels, int64_t channels);

}  // namespace daliesque::image
