// SPDX-License-Identifier: Apache-2.0
#include "audio/vorbis_mdct.h"

#include <bit>
#include <cmath>
#include <mutex>
#include <numbers>
#include <optional>

#include "audio/roots.h"

namespace daliesque::audio {

VorbisBlock::VorbisBlock(int size) : half_(size / 2) {
  const int64_t count = half_ / 2, rows = count / kMdctColumns;
  std::vector<float> imaginary;
  for (int64_t k = 0; k < count; k++) {
    const auto [re, im] = root_of_unity(8 * k + 1, 16 * half_);
    twist_.push_back(re);
    imaginary.push_back(im);
  }
  twist_.insert(twist_.end(), imaginary.begin(), imaginary.end());
  for (int64_t length = rows; length > 1;) {
    const int64_t radix = length % 4 == 0 ? 4 : 2;
    for (int64_t p = 0; p < length / radix; p++) {
      for (int64_t k = 1; k < radix; k++) {
        const auto [re, im] = root_of_unity(p * k, length);
        column_roots_.insert(column_roots_.end(), {re, im});
      }
    }
    length /= radix;
  }
  row_factors_.resize(static_cast<size_t>(2 * count));
  for (int64_t i = 0; i < count; i++) {
    const auto [re, im] = root_of_unity(i / kMdctColumns * (i % kMdctColumns), count);
    row_factors_[static_cast<size_t>(i)] = re;
    row_factors_[static_cast<size_t>(count + i)] = im;
  }
  for (int64_t i = 0; i < half_; i++) {
    const double sine =
        std::sin((static_cast<double>(i) + 0.5) / static_cast<double>(size) * std::numbers::pi);
    slope_.push_back(static_cast<float>(std::sin(std::numbers::pi / 2 * sine * sine)));
  }
}

MdctTables VorbisBlock::tables() const {
  const int64_t count = half_ / 2;
  return {half_,
          count / kMdctColumns,
          twist_.data(),
          twist_.data() + count,
          column_roots_.data(),
          row_factors_.data(),
          row_factors_.data() + count};
}

const VorbisBlock& vorbis_block(int size) {
  static std::mutex mutex;
  static std::optional<VorbisBlock> blocks[std::bit_width(unsigned{kMostVorbisBlock})];
  const std::lock_guard lock(mutex);
  auto& block = blocks[std::bit_width(static_cast<unsigned>(size)) - 1];
  if (!block) block.emplace(size);
  return *block;
}

}  // namespace daliesque::audio
