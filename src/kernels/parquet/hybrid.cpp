// SPDX-License-Identifier: Apache-2.0
#include "parquet/hybrid.h"

#include <algorithm>

namespace daliesque::parquet {

HybridReader::HybridReader(Bytes bytes, int bits) : cursor_(bytes), bits_(bits) {
  if (bits < 0 || bits > 32) throw Undecoded("numbers of more than 32 bits");
}

void HybridReader::next_run() {
  constexpr uint64_t kMostNumbers = uint64_t{1} << 32;
  const uint64_t lead = cursor_.varint();
  const uint64_t count = lead >> 1;
  packed_ = lead & 1;
  if (count == 0 || count > kMostNumbers) throw Undecoded("a run is empty or too long");
  if (packed_) {
    // Eight numbers take as many bytes as one has bits.
    group_ = cursor_.take(count * static_cast<size_t>(bits_));
    bit_ = 0;
    left_ = static_cast<int64_t>(8 * count);
    return;
  }
  value_ = 0;
  const Bytes bytes = cursor_.take(static_cast<size_t>(bits_ + 7) / 8);
  for (size_t k = 0; k < bytes.size(); k++) value_ |= static_cast<uint32_t>(bytes[k]) << (8 * k);
  left_ = static_cast<int64_t>(count);
}

void HybridReader::unpack(std::span<uint32_t> out) {
  const uint64_t mask = (uint64_t{1} << bits_) - 1;
  const auto step = static_cast<size_t>(bits_);
  size_t k = 0;
  for (; k < out.size() && (bit_ >> 3) + 8 <= group_.size(); k++, bit_ += step) {
    out[k] = static_cast<uint32_t>(load64(group_.data() + (bit_ >> 3)) >> (bit_ & 7) & mask);
  }
  for (; k < out.size(); k++, bit_ += step) {
    uint8_t last[8] = {};
    const size_t at = std::min(bit_ >> 3, group_.size());
    if (at < group_.size()) std::memcpy(last, group_.data() + at, group_.size() - at);
    out[k] = static_cast<uint32_t>(load64(last) >> (bit_ & 7) & mask);
  }
}

void HybridReader::read(std::span<uint32_t> out) {
  while (!out.empty()) {
    if (left_ == 0) next_run();
    const size_t count = std::min(out.size(), static_cast<size_t>(left_));
    if (packed_) {
      unpack(out.first(count));
    } else {
      std::fill_n(out.begin(), count, value_);
    }
    left_ -= static_cast<int64_t>(count);
    out = out.subspan(count);
  }
}

bool HybridReader::are_all(uint32_t value, int64_t count) {
  while (count > 0) {
    if (left_ == 0) next_run();
    if (packed_) {
      uint32_t numbers[256];
      const auto some = static_cast<size_t>(std::min<int64_t>({count, left_, 256}));
      unpack({numbers, some});
      if (std::any_of(numbers, numbers + some, [&](uint32_t x) { return x != value; })) {
        return false;
      }
      left_ -= static_cast<int64_t>(some);
      count -= static_cast<int64_t>(some);
    } else {
      if (value_ != value) return false;
      const int64_t some = std::min(count, left_);
      left_ -= some;
      count -= some;
    }
  }
  return true;
}

}  // namespace daliesque::parquet
