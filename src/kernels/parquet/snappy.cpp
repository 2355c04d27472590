// SPDX-License-Identifier: Apache-2.0
#include "parquet/snappy.h"

#include <algorithm>
#include <memory>

namespace daliesque::parquet {

namespace {

// What follows a long literal is read in small pieces, since the next one may be as long, and
// other parts in large ones. Where literals have so many bytes more, these are read directly.
constexpr size_t kSmallPiece = 1 << 10, kLargePiece = 1 << 15, kLeastDirect = 1 << 12;
// No element has more bytes without its literal, nor has the size in front of all.
constexpr size_t kLongestElement = 10;

/// Reads a block: elements that are either literals or copies of what has been written.
class SnappyBlock {
 public:
  SnappyBlock(const SnappyInput& block, uint8_t* out, size_t size)
      : block_(block),
        in_(block.known.data()),
        in_end_(in_ + block.known.size()),
        out_(out),
        begin_(out),
        out_end_(out + size) {}

  void decode() {
    if (left_in() < kLongestElement) refill();
    Cursor cursor({in_, left_in()});
    if (cursor.varint() != left_out()) throw Undecoded("a block has another size than its page");
    in_ = cursor.rest().data();
    for (;;) {
      if (left_in() < kLongestElement) refill();
      if (in_ == in_end_) break;
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

  void read_into(uint8_t* target, size_t count) {
    block_.source->read_at(block_.offset, static_cast<int64_t>(count),
                           reinterpret_cast<char*>(target));
    block_.offset += static_cast<int64_t>(count);
    block_.left -= static_cast<int64_t>(count);
  }

  /// Reads on, if there is more; few bytes are left.
  void refill() {
    if (block_.left == 0) return;
    const size_t kept = left_in();
    if (!piece_) piece_ = std::make_unique_for_overwrite<uint8_t[]>(kLargePiece + kLongestElement);
    const size_t wanted = std::min(next_piece_, static_cast<size_t>(block_.left));
    if (kept > 0) std::memmove(piece_.get(), in_, kept);
    read_into(piece_.get() + kept, wanted);
    in_ = piece_.get();
    in_end_ = in_ + kept + wanted;
    next_piece_ = kLargePiece;
  }

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
      in_ += length;
      out_ += length;
      return;
    }
    if (length > 60) length = read_little(length - 60) + 1;
    if (length > left_out()) throw CutShort();
    while (length > 0) {
      const size_t here = std::min(length, left_in());
      if (here > 0) std::memcpy(out_, in_, here);
      in_ += here;
      out_ += here;
      length -= here;
      if (length == 0) return;
      if (length > static_cast<size_t>(block_.left)) throw CutShort();
      if (length >= kLeastDirect) {
        read_into(out_, length);
        out_ += length;
        next_piece_ = kSmallPiece;
        return;
      }
      refill();
    }
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

  SnappyInput block_;
  std::unique_ptr<uint8_t[]> piece_;
  size_t next_piece_ = kSmallPiece;
  const uint8_t *in_, *in_end_;
  uint8_t *out_, *begin_, *out_end_;
};

}  // namespace

void decompress_snappy(const SnappyInput& block, uint8_t* out, size_t size) {
  SnappyBlock(block, out, size).decode();
}

}  // namespace daliesque::parquet
