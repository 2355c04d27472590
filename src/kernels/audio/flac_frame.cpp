// SPDX-License-Identifier: Apache-2.0
#include "audio/flac_frame.h"

#include <array>
#include <bit>
#include <cstring>

#include "audio/flac_bits.simd.h"

namespace daliesque::audio {

namespace {

/// Checksums whose highest bit comes first: tables[k][b] is what byte b does, followed by k zero
/// bytes.
constexpr std::array<std::array<uint16_t, 256>, 8> make_flac_tables() {
  std::array<std::array<uint16_t, 256>, 8> tables{};
  for (unsigned byte = 0; byte < 256; byte++) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x8000 ? 0x8005 : 0);
    tables[0][byte] = static_cast<uint16_t>(crc);
  }
  for (size_t k = 1; k < 8; k++) {
    for (size_t byte = 0; byte < 256; byte++) {
      const unsigned before = tables[k - 1][byte];
      tables[k][byte] = static_cast<uint16_t>(before << 8 ^ tables[0][before >> 8]);
    }
  }
  return tables;
}

const FlacLoops& loops() { return DALIESQUE_CHOOSE(flac_loops); }

constexpr auto kFrameTables = make_flac_tables();

uint16_t frame_checksum(const uint8_t* data, int64_t size) {
  const auto& t = kFrameTables;
  unsigned crc = 0;
  for (; size >= 8; data += 8, size -= 8) {
    crc = t[7][data[0] ^ crc >> 8] ^ t[6][data[1] ^ (crc & 0xff)] ^ t[5][data[2]] ^ t[4][data[3]] ^
          t[3][data[4]] ^ t[2][data[5]] ^ t[1][data[6]] ^ t[0][data[7]];
  }
  for (; size > 0; data++, size--) crc = (crc << 8 & 0xffff) ^ t[0][*data ^ crc >> 8];
  return static_cast<uint16_t>(crc);
}

uint8_t header_checksum(const uint8_t* data, int64_t size) {
  unsigned crc = 0;
  for (int64_t i = 0; i < size; i++) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x80 ? 0x107 : 0);
  }
  return static_cast<uint8_t>(crc);
}

}  // namespace

/// Bits, the highest of each byte first. After the last byte there are zeros, and `cut` is true as
/// soon as one of them was used.
class FlacFrame::Bits {
 public:
  Bits(const uint8_t* data, int64_t size) : state_{data, data + size, 0, 0, 0}, begin_(data) {}

  /// Up to 32 bits.
  uint32_t take(int count) {
    if (count == 0) return 0;
    flac_refill(state_);
    const auto value = static_cast<uint32_t>(state_.cache >> (64 - count));
    flac_skip(state_, count);
    return value;
  }
  int32_t take_signed(int count) {
    if (count == 0) return 0;
    return static_cast<int32_t>(take(count) << (32 - count)) >> (32 - count);
  }
  /// How many zeros there are before the next one bit, which is taken as well; -1 if too many.
  int take_zeros() {
    flac_refill(state_);
    const int zeros = std::countl_zero(state_.cache);
    if (zeros > 32) return -1;
    flac_skip(state_, zeros + 1);
    return zeros;
  }
  void to_next_byte() { flac_skip(state_, state_.left % 8); }
  /// How many bytes were used, or begun.
  int64_t used() const { return state_.at - begin_ + state_.beyond - state_.left / 8; }
  bool cut() const { return used() > state_.end - begin_; }
  FlacBits& state() { return state_; }

 private:
  FlacBits state_;
  const uint8_t* begin_;
};

bool FlacFrame::read_header(const FlacFormat& format, Bits& bits, const uint8_t* data) {
  constexpr uint32_t kSync = 0x7ffc;
  constexpr int kWidths[] = {0, 8, 12, -1, 16, 20, 24, 32};
  if (bits.take(15) != kSync) return false;
  const bool variable = bits.take(1) != 0;
  const uint32_t size_code = bits.take(4), rate_code = bits.take(4), assignment = bits.take(4);
  const int width = kWidths[bits.take(3)];
  if (bits.take(1) != 0 || size_code == 0 || rate_code == 15 || assignment > 10) return false;
  stereo_ = assignment < 8 ? Stereo::separate : static_cast<Stereo>(assignment - 7);
  channels_ = assignment < 8 ? static_cast<int>(assignment) + 1 : 2;
  if (channels_ != format.channels || (width != 0 && width != format.bits)) return false;
  // The number of the frame, or of its first sample, in the manner of UTF-8.
  uint64_t number = bits.take(8);
  const int ones = std::countl_one(static_cast<uint8_t>(number));
  if (ones == 1 || ones == 8) return false;
  if (ones > 0) number &= 0x3fu >> (ones - 1);
  for (int i = 1; i < ones; i++) {
    const uint32_t part = bits.take(8);
    if (part >> 6 != 2) return false;
    number = number << 6 | (part & 0x3f);
  }
  samples_ = size_code == 1  ? 192
             : size_code < 6 ? 576 << (size_code - 2)
             : size_code < 8 ? bits.take(size_code == 6 ? 8 : 16) + int64_t{1}
                             : 256 << (size_code - 8);
  if (rate_code >= 12) bits.take(rate_code == 12 ? 8 : 16);
  first_ = static_cast<int64_t>(number) * (variable ? 1 : format.block_size);
  const int64_t used = bits.used();
  const uint32_t checksum = bits.take(8);
  return !bits.cut() && checksum == header_checksum(data, used);
}

bool FlacFrame::read_residual(Bits& bits, int32_t* out, int order) const {
  const uint32_t method = bits.take(2);
  const auto partitions = int64_t{1} << bits.take(4);
  if (method > 1 || samples_ % partitions != 0 || samples_ / partitions < order) return false;
  const int parameter_bits = method == 0 ? 4 : 5;
  int32_t* to = out + order;
  for (int64_t p = 0; p < partitions; p++) {
    const int64_t count = samples_ / partitions - (p == 0 ? order : 0);
    const auto parameter = static_cast<int>(bits.take(parameter_bits));
    if (parameter == (1 << parameter_bits) - 1) {
      const auto width = static_cast<int>(bits.take(5));
      for (int64_t i = 0; i < count; i++) to[i] = bits.take_signed(width);
    } else if (!loops().read_rice(bits.state(), to, count, parameter)) {
      return false;
    }
    if (bits.cut()) return false;
    to += count;
  }
  return true;
}

bool FlacFrame::read_predicted(Bits& bits, int32_t* out, int order, int width) const {
  for (int i = 0; i < order; i++) out[i] = bits.take_signed(width);
  const auto precision = static_cast<int>(bits.take(4)) + 1;
  const int shift = bits.take_signed(5);
  if (precision == 16 || shift < 0) return false;
  int32_t coefficients[kMostFlacOrder];
  for (int i = 0; i < order; i++) coefficients[i] = bits.take_signed(precision);
  if (!read_residual(bits, out, order)) return false;
  loops().restore_predicted(out, samples_, {coefficients, order, shift});
  return true;
}

bool FlacFrame::read_channel(Bits& bits, int32_t* out, int width) const {
  constexpr uint32_t kConstant = 0, kVerbatim = 1, kFixed = 8, kPredicted = 32;
  if (bits.take(1) != 0) return false;
  const uint32_t type = bits.take(6);
  int wasted = 0;
  if (bits.take(1) != 0) {
    wasted = bits.take_zeros() + 1;
    if (wasted == 0 || wasted >= width) return false;
    width -= wasted;
  }
  if (type == kConstant) {
    const int32_t value = bits.take_signed(width);
    for (int64_t i = 0; i < samples_; i++) out[i] = value;
  } else if (type == kVerbatim) {
    for (int64_t i = 0; i < samples_; i++) out[i] = bits.take_signed(width);
  } else if (type >= kPredicted) {
    const auto order = static_cast<int>(type - kPredicted) + 1;
    if (order > samples_ || !read_predicted(bits, out, order, width)) return false;
  } else if (type >= kFixed && type <= kFixed + 4) {
    const auto order = static_cast<int>(type - kFixed);
    if (order > samples_) return false;
    for (int i = 0; i < order; i++) out[i] = bits.take_signed(width);
    if (!read_residual(bits, out, order)) return false;
    loops().restore_fixed(out, samples_, order);
  } else {
    return false;
  }
  if (wasted > 0) {
    for (int64_t i = 0; i < samples_; i++) {
      out[i] = static_cast<int32_t>(static_cast<uint32_t>(out[i]) << wasted);
    }
  }
  return !bits.cut();
}

void FlacFrame::restore_stereo() {
  // Unsigned, since the values of damaged files may wrap around.
  auto* a = reinterpret_cast<uint32_t*>(values_.data());
  auto* b = a + samples_;
  if (stereo_ == Stereo::left_side) {
    for (int64_t i = 0; i < samples_; i++) b[i] = a[i] - b[i];
  } else if (stereo_ == Stereo::side_right) {
    for (int64_t i = 0; i < samples_; i++) a[i] += b[i];
  } else if (stereo_ == Stereo::mid_side) {
    for (int64_t i = 0; i < samples_; i++) {
      const uint32_t sum = a[i] << 1 | (b[i] & 1), difference = b[i];
      a[i] = static_cast<uint32_t>(static_cast<int32_t>(sum + difference) >> 1);
      b[i] = static_cast<uint32_t>(static_cast<int32_t>(sum - difference) >> 1);
    }
  }
}

FlacOutcome FlacFrame::decode(const FlacFormat& format, const uint8_t* data, int64_t size) {
  Bits bits(data, size);
  if (!read_header(format, bits, data)) return bits.cut() ? FlacOutcome::cut : FlacOutcome::damaged;
  values_.resize(static_cast<size_t>(channels_ * samples_));
  for (int c = 0; c < channels_; c++) {
    // The difference of two channels has one bit more.
    const bool side = c == (stereo_ == Stereo::side_right ? 0 : 1);
    const int width = format.bits + (stereo_ != Stereo::separate && side ? 1 : 0);
    if (!read_channel(bits, values_.data() + c * samples_, width)) {
      return bits.cut() ? FlacOutcome::cut : FlacOutcome::damaged;
    }
  }
  bits.to_next_byte();
  const int64_t used = bits.used();
  const uint32_t checksum = bits.take(16);
  if (bits.cut()) return FlacOutcome::cut;
  if (checksum != frame_checksum(data, used)) return FlacOutcome::damaged;
  restore_stereo();
  bytes_ = used + 2;
  return FlacOutcome::decoded;
}

}  // namespace daliesque::audio
