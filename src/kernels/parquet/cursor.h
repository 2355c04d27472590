// SPDX-License-Identifier: Apache-2.0
// Bytes of a file, read one after the other.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>

namespace daliesque::parquet {

using Bytes = std::span<const uint8_t>;

/// Data that are not decoded here: they are damaged, or of a kind that is left to others.
class Undecoded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What is being read goes on behind the last byte.
class CutShort : public Undecoded {
 public:
  CutShort() : Undecoded("cut short") {}
};

inline uint32_t load32(const uint8_t* data) {
  uint32_t value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

inline uint64_t load64(const uint8_t* data) {
  uint64_t value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

/// Takes bytes from the front; throws CutShort where there are none.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : bytes_(bytes) {}

  size_t left() const { return bytes_.size(); }
  Bytes rest() const { return bytes_; }

  Bytes take(size_t count) {
    if (count > bytes_.size()) throw CutShort();
    const Bytes taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  uint8_t byte() { return take(1)[0]; }
  uint32_t number32() { return load32(take(4).data()); }

  /// A number in groups of seven bits, the lowest first.
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t next = byte();
      value |= static_cast<uint64_t>(next & 127) << shift;
      if (next < 128) return value;
    }
    throw Undecoded("a number is too long");
  }

 private:
  Bytes bytes_;
};

}  // namespace daliesque::parquet
