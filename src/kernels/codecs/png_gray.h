// SPDX-License-Identifier: Apache-2.0
// Gray of a PNG that states its gamma: weighted in linear light, as libpng does it.
#pragma once

#include <cstdint>
#include <vector>

#include "codecs/png_header.h"

namespace daliesque::codecs {

/// Whether the gamma of an image matters for its gray.
bool has_linear_gray(const PngHeader& header);

class LinearGray {
 public:
  /// `header` states a gamma that matters.
  explicit LinearGray(const PngHeader& header);

  /// Gray of `count` pixels of `channels` bytes or, if the image is of 16 bits, 16-bit numbers.
  void convert(void* gray, const void* pixels, int64_t count, int64_t channels) const;

 private:
  bool is_wide_;
  // What light a value stands for, which value stands for a light, and what a gray value becomes.
  const std::vector<uint16_t>&to_light_, &from_light_, &unchanged_;
};

}  // namespace daliesque::codecs
