// SPDX-License-Identifier: Apache-2.0
// Codebooks of Vorbis streams.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "audio/vorbis_bits.simd.h"
#include "audio/vorbis_setup.h"

namespace daliesque::audio {

namespace {

// A longer index finds more words at once, but takes more of the cache.
constexpr uint32_t kMostIndexBits = 10;
constexpr int kMostLength = 32;
// More than any encoder needs; a few bits can claim any number of entries.
constexpr int64_t kMostValues = 1 << 18;

uint32_t width_of(uint32_t value) { return static_cast<uint32_t>(std::bit_width(value)); }

/// A number of 21 bits, times a power of two.
double unpack_number(uint32_t packed) {
  const double mantissa = packed & 0x1fffff;
  const int exponent = static_cast<int>(packed >> 21 & 0x3ff) - 788;
  return std::ldexp(packed >> 31 ? -mantissa : mantissa, exponent);
}

/// The largest number whose power does not exceed `limit`.
int64_t root_of(int64_t limit, int power) {
  const auto fits = [&](int64_t root) {
    int64_t product = 1;
    for (int k = 0; k < power; k++) {
      if (product > limit / root) return false;
      product *= root;
    }
    return true;
  };
  int64_t low = 1, high = limit + 1;
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

/// Gives out codewords of given lengths, each time the lowest that is free, its first bit on top.
class CodewordTree {
 public:
  /// False if no word is free.
  bool take(int length, uint32_t& word) {
    int depth = length;
    while (depth >= 0 && !is_free_[depth]) depth--;
    if (depth < 0) return false;
    word = free_[depth];
    is_free_[depth] = false;
    // Of the branch that was free, the right part of each fork remains.
    for (int k = depth + 1; k <= length; k++) {
      free_[k] = word | uint32_t{1} << (kMostLength - k);
      is_free_[k] = true;
    }
    return true;
  }

  bool is_complete() const {
    return std::ranges::none_of(is_free_, [](bool is_free) { return is_free; });
  }

 private:
  // There is never more than one free branch at a depth.
  uint32_t free_[kMostLength + 1] = {};
  bool is_free_[kMostLength + 1] = {true};
};

}  // namespace

bool VorbisCodebook::parse(VorbisBits& bits) {
  constexpr uint32_t kMark = 0x564342;
  if (vorbis_number(bits, 24) != kMark) return false;
  const uint32_t dimensions = vorbis_number(bits, 16), entries = vorbis_number(bits, 24);
  if (dimensions == 0 || entries == 0 || int64_t{dimensions} * entries > kMostValues) return false;
  book_.dimensions = static_cast<int>(dimensions);
  if (!read_lengths(bits, entries) || !make_table()) return false;
  const uint32_t type = vorbis_number(bits, 4);
  if (type > 2 || (type > 0 && !read_vectors(bits, static_cast<int>(type)))) return false;
  book_.table = table_.data();
  book_.spans = spans_.data();
  book_.long_codes = long_codes_.data();
  book_.vectors = vectors_.data();
  return bits.left >= 0;
}

bool VorbisCodebook::read_lengths(VorbisBits& bits, size_t entries) {
  if (vorbis_number(bits, 1)) {
    uint32_t length = vorbis_number(bits, 5) + 1;
    for (; lengths_.size() < entries; length++) {
      const auto left = static_cast<uint32_t>(entries - lengths_.size());
      const uint32_t count = vorbis_number(bits, width_of(left));
      if (count > left || length > kMostLength || bits.left < 0) return false;
      lengths_.insert(lengths_.end(), count, static_cast<uint8_t>(length));
    }
    return true;
  }
  // Each entry takes a bit at least.
  if (static_cast<int64_t>(entries) > 8 * (bits.end - bits.at) + bits.left) return false;
  const bool sparse = vorbis_number(bits, 1);
  for (size_t i = 0; i < entries; i++) {
    const bool used = !sparse || vorbis_number(bits, 1);
    lengths_.push_back(static_cast<uint8_t>(used ? vorbis_number(bits, 5) + 1 : 0));
  }
  return bits.left >= 0;
}

bool VorbisCodebook::make_table() {
  const int longest = *std::ranges::max_element(lengths_);
  const auto used = std::ranges::count_if(lengths_, [](uint8_t length) { return length > 0; });
  if (used == 0 || (used == 1 && longest != 1)) return false;
  book_.index_bits = std::min(static_cast<uint32_t>(longest), kMostIndexBits);
  table_.resize(size_t{1} << book_.index_bits);
  CodewordTree tree;
  std::vector<VorbisLongCode> long_codes;
  for (uint32_t number = 0; number < lengths_.size(); number++) {
    const uint32_t length = lengths_[number];
    if (length == 0) continue;
    uint32_t word = 0;
    if (!tree.take(static_cast<int>(length), word)) return false;
    if (length > book_.index_bits) {
      long_codes.push_back({word, number, length});
      continue;
    }
    const size_t step = size_t{1} << length;
    for (size_t k = vorbis_reversed(word); k < table_.size(); k += step) {
      table_[k] = number << 8 | length;
    }
  }
  // A single word may be read from either bit.
  if (used == 1) table_[1] = table_[0];
  if (used > 1 && !tree.is_complete()) return false;
  add_long_codes(long_codes);
  return true;
}

void VorbisCodebook::add_long_codes(std::vector<VorbisLongCode>& codes) {
  std::ranges::sort(codes, {}, &VorbisLongCode::bits);
  long_codes_ = std::move(codes);
  for (uint32_t k = 0; k < long_codes_.size();) {
    const auto begin_of = [&](uint32_t i) {
      return long_codes_[i].bits >> (kMostLength - book_.index_bits);
    };
    const uint32_t begin = k;
    while (k < long_codes_.size() && begin_of(k) == begin_of(begin)) k++;
    const uint32_t slot = vorbis_reversed(begin_of(begin)) >> (kMostLength - book_.index_bits);
    table_[slot] = static_cast<uint32_t>(spans_.size()) << 8;
    spans_.push_back({begin, k});
  }
}

bool VorbisCodebook::read_vectors(VorbisBits& bits, int type) {
  const double least = unpack_number(vorbis_number(bits, 32));
  const double step = unpack_number(vorbis_number(bits, 32));
  const uint32_t width = vorbis_number(bits, 4) + 1;
  const bool sequence = vorbis_number(bits, 1);
  const int64_t dimensions = book_.dimensions;
  const int64_t count = type == 1 ? root_of(entries(), book_.dimensions) : entries() * dimensions;
  if (count * width > 8 * (bits.end - bits.at) + bits.left) return false;
  std::vector<double> values;
  for (int64_t k = 0; k < count; k++) values.push_back(vorbis_number(bits, width));
  vectors_.reserve(static_cast<size_t>(entries() * dimensions));
  for (int64_t entry = 0; entry < entries(); entry++) {
    int64_t rest = entry;
    float last = 0;
    for (int64_t k = 0; k < dimensions; k++) {
      const int64_t chosen = type == 1 ? rest % count : entry * dimensions + k;
      rest /= count;
      const double value = values[static_cast<size_t>(chosen)] * step + least + last;
      if (std::abs(value) > std::numeric_limits<float>::max()) return false;
      vectors_.push_back(static_cast<float>(value));
      if (sequence) last = vectors_.back();
    }
  }
  return true;
}

}  // namespace daliesque::audio
