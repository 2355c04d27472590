// SPDX-License-Identifier: Apache-2.0
// Memory for the time of decoding one image.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/memory.h"

namespace daliesque::codecs {

/// Memory that a thread keeps, so that a stream of small images needs no allocation.
class KeptScratch {
 public:
  /// At least `bytes` bytes, of arbitrary contents: the kept ones or, if those would be too many,
  /// a buffer that the caller owns.
  uint8_t* require(size_t bytes, Buffer& own) {
    constexpr size_t kMostKept = size_t{1} << 18;
    if (bytes > kMostKept) {
      own = allocate(bytes);
      return static_cast<uint8_t*>(own.get());
    }
    if (bytes > size_) {
      const size_t size = std::bit_ceil(bytes);
      kept_ = std::make_unique_for_overwrite<Line[]>(size / sizeof(Line) + 1);
      size_ = size;
    }
    return kept_[0].bytes;
  }

 private:
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  std::unique_ptr<Line[]> kept_;
  size_t size_ = 0;
};

}  // namespace daliesque::codecs
