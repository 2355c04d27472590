// SPDX-License-Identifier: Apache-2.0
#include "parquet/snappy.h"

#include <algorithm>

namespace daliesque::parquet {

namespace {

/// Reads a block: elements that are either literals or copies of what has been written.
class SnappyBlock {
 public:
  SnappyBlock(Bytes block, uint8_t* out, size_t size)
      : in_(block.data()),
        in_end_(in_ + block.size()),
        out_(out),
        begin_(out),
        out_end_(out + size) {}

  void decode() {
    while (in_ < in_end_) {
      const uint8_t tag = *in_++;
      if ((tag & 3) == 0) {
        copy_literal(static_cast<size_t>(tag >> 2) + 1);
      } else {
        read_copy(tag);
      }
    }
    if (out_ != out_end_) throw CutShort();
  }

 private:
  static constexpr size_t kStep = 16;

  size_t left_in() const { return static_cast<size_t>(in_end_ - in_); }
  size_t left_out() const { return static_cast<size_t>(out_end_ - out_); }

  size_t read_little(size_t bytes) {
    if (bytes > left_in()) throw CutShort();
    size_t value = 0;
    for (size_t k = 0; k < bytes; k++) value |= static_cast<size_t>(in_[k]) << (8 * k);
    in_ += bytes;
    return value;
  }

  /// Lengths above 60 say how many bytes hold the length.
  void copy_literal(size_t length) {
    if (length <= kStep && left_in() >= kStep && length <= left_out()) {
      std::memcpy(out_, in_, kStep);
    } else {
      if (length > 60) length = read_little(length - 60) + 1;
      if (length > left_in() || length > left_out()) throw CutShort();
      std::memcpy(out_, in_, length);
    }
    in_ += length;
    out_ += length;
  }

  void read_copy(uint8_t tag) {
    size_t length = static_cast<size_t>(tag >> 2) + 1, distance;
    if ((tag & 3) == 1) {
      length = (tag >> 2 & 7) + 4;
      distance = static_cast<size_t>(tag >> 5) << 8 | read_little(1);
    } else {
      distance = read_little((tag & 3) == 2 ? 2 : 4);
    }
    if (distance == 0 || distance > static_cast<size_t>(out_ - begin_)) {
      throw Undecoded("a copy begins before the data");
    }
    if (length > left_out()) throw CutShort();
    const uint8_t* from = out_ - distance;
    if (distance >= kStep) {
      for (size_t k = 0; k < length; k += kStep) std::memcpy(out_ + k, from + k, kStep);
    } else {
      // It repeats what it writes.
      for (size_t k = 0; k < length; k++) out_[k] = from[k];
    }
    out_ += length;
  }

  const uint8_t *in_, *in_end_;
  uint8_t *out_, *begin_, *out_end_;
};

}  // namespace

void decompress_snappy(Bytes block, uint8_t* out, size_t size) {
  Cursor cursor(block);
  if (cursor.varint() != size) throw Undecoded("a block has another size than its page");
  SnappyBlock(cursor.rest(), out, size).decode();
}

}  // namespace daliesque::parquet
