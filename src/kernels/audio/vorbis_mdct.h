// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "audio/vorbis_loops.h"

namespace daliesque::audio {

/// What blocks of one size need for becoming samples.
class VorbisBlock {
 public:
  /// `size`: a power of two from kLeastVorbisBlock to kMostVorbisBlock.
  explicit VorbisBlock(int size);

  int size() const { return static_cast<int>(2 * half_); }
  MdctTables tables() const;
  /// The rising half of the window: size() / 2 numbers.
  const float* slope() const { return slope_.data(); }

 private:
  int64_t half_;
  std::vector<float> twist_, column_roots_, row_factors_, slope_;
};

/// The one for this size, which is made once.
const VorbisBlock& vorbis_block(int size);

}  // namespace daliesque::audio
