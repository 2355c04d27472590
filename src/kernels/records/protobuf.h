// SPDX-License-Identifier: Apache-2.0
// Reading messages in the encoding of protocol buffers, without a schema and without copies.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string_view>

namespace daliesque::records::protobuf {

/// The bytes are no message.
class Malformed : public std::exception {
 public:
  const char* what() const noexcept override { return "malformed message"; }
};

enum class Wire { varint = 0, fixed64 = 1, bytes = 2, group = 3, end_group = 4, fixed32 = 5 };

inline uint64_t little_endian(const uint8_t* data, size_t size) {
  uint64_t value = 0;
  for (size_t k = 0; k < size; k++) value |= static_cast<uint64_t>(data[k]) << (8 * k);
  return value;
}

/// Part of a message that has not been looked at yet.
class Cursor {
 public:
  Cursor() = default;
  Cursor(const void* data, size_t size)
      : next_(static_cast<const uint8_t*>(data)), end_(next_ + size) {}

  bool done() const { return next_ == end_; }
  const uint8_t* data() const { return next_; }
  size_t size() const { return static_cast<size_t>(end_ - next_); }
  std::string_view text() const { return {reinterpret_cast<const char*>(next_), size()}; }

  uint64_t varint() {
    if (next_ != end_ && *next_ < 0x80) return *next_++;
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (next_ == end_) throw Malformed();
      const uint8_t byte = *next_++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw Malformed();
  }

  /// The next `size` bytes, which are left behind.
  Cursor take(uint64_t size) {
    if (size > this->size()) throw Malformed();
    const Cursor part(next_, static_cast<size_t>(size));
    next_ += size;
    return part;
  }

  Cursor bytes() { return take(varint()); }

  float fixed_float() {
    return std::bit_cast<float>(static_cast<uint32_t>(little_endian(take(4).data(), 4)));
  }

 private:
  const uint8_t *next_ = nullptr, *end_ = nullptr;
};

/// The fields of a message, one after the other:
///
///     for (Fields field(message); field.next();) switch (field.number()) ...
///
/// A field whose value is not asked for is skipped.
class Fields {
 public:
  explicit Fields(Cursor message) : rest_(message) {}

  /// Goes to the next field, if there is one.
  bool next() {
    if (pending_) skip(wire_, 0);
    pending_ = false;
    if (rest_.done()) return false;
    const uint64_t tag = rest_.varint();
    number_ = tag >> 3;
    wire_ = static_cast<Wire>(tag & 7);
    if (number_ == 0 || number_ >> 29 != 0 || (tag & 7) > 5 || wire_ == Wire::end_group) {
      throw Malformed();
    }
    pending_ = true;
    return true;
  }

  uint64_t number() const { return number_; }
  bool is(uint64_t number, Wire wire) const { return number_ == number && wire_ == wire; }

  /// The value; only for fields of this kind.
  uint64_t varint() {
    pending_ = false;
    return rest_.varint();
  }
  Cursor bytes() {
    pending_ = false;
    return rest_.bytes();
  }
  float fixed_float() {
    pending_ = false;
    return rest_.fixed_float();
  }

 private:
  void skip(Wire wire, int depth) {
    switch (wire) {
      case Wire::varint:
        rest_.varint();
        return;
      case Wire::fixed64:
        rest_.take(8);
        return;
      case Wire::bytes:
        rest_.bytes();
        return;
      case Wire::fixed32:
        rest_.take(4);
        return;
      default:
        break;
    }
    // The limit that other readers have for messages inside messages.
    if (wire != Wire::group || depth == 100) throw Malformed();
    while (true) {
      const auto inner = static_cast<Wire>(rest_.varint() & 7);
      if (inner == Wire::end_group) return;
      skip(inner, depth + 1);
    }
  }

  Cursor rest_;
  uint64_t number_ = 0;
  Wire wire_ = Wire::varint;
  bool pending_ = false;
};

}  // namespace daliesque::records::protobuf
