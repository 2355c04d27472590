// SPDX-License-Identifier: Apache-2.0
#include "records/lz4.h"

#include <cstring>
#include <vector>

#include "core/parallel.h"

namespace daliesque::records {

namespace {

constexpr double kNanosecondsPerByte = 0.8;

/// Reads an LZ4 block: sequences of a token, literals, and a match in what has been written.
class Block {
 public:
  Block(const uint8_t* in, size_t size, uint8_t* out, size_t capacity)
      : in_(in), in_end_(in + size), out_(out), begin_(out), out_end_(out + capacity) {}

  /// What is wrong with the block, or null.
  const char* decode() {
    while (in_ < in_end_) {
      const uint8_t token = *in_++;
      size_t literals = token >> 4, match = token & 15;
      if (!read_length(literals)) return kCutShort;
      if (literals > left_in()) return kCutShort;
      if (literals > left_out()) return kTooLarge;
      if (literals) std::memcpy(out_, in_, literals);
      in_ += literals;
      out_ += literals;
      // The last sequence ends after its literals.
      if (in_ == in_end_) return nullptr;
      if (left_in() < 2) return kCutShort;
      const size_t distance = static_cast<size_t>(in_[0]) | static_cast<size_t>(in_[1]) << 8;
      in_ += 2;
      if (distance == 0 || distance > static_cast<size_t>(out_ - begin_)) return kBadMatch;
      if (!read_length(match)) return kCutShort;
      match += 4;
      if (match > left_out()) return kTooLarge;
      copy_match(distance, match);
    }
    return kCutShort;
  }

  uint8_t* position() const { return out_; }

 private:
  static constexpr const char* kCutShort = "is cut short";
  static constexpr const char* kTooLarge = "holds more data than 'shape' and 'dtype' allow";
  static constexpr const char* kBadMatch = "is damaged: it refers to data before its beginning";

  size_t left_in() const { return static_cast<size_t>(in_end_ - in_); }
  size_t left_out() const { return static_cast<size_t>(out_end_ - out_); }

  /// A length of 15 goes on in further bytes, up to the first that is not 255.
  bool read_length(size_t& length) {
    if (length != 15) return true;
    uint8_t more;
    do {
      if (in_ == in_end_) return false;
      more = *in_++;
      length += more;
    } while (more == 255);
    return true;
  }

  /// The match may overlap what it makes: it then repeats.
  void copy_match(size_t distance, size_t length) {
    const uint8_t* from = out_ - distance;
    if (distance >= length) {
      std::memcpy(out_, from, length);
      out_ += length;
      return;
    }
    for (; distance >= 8 && length >= 8; length -= 8) {
      std::memcpy(out_, from, 8);
      out_ += 8;
      from += 8;
    }
    for (; length > 0; length--) *out_++ = *from++;
  }

  const uint8_t *in_, *in_end_;
  uint8_t *out_, *begin_, *out_end_;
};

struct Chunk {
  int64_t sample, number;
  const char* failure = nullptr;
};

}  // namespace

std::optional<Lz4Failure> lz4_decompress(Samples& out, const Samples& in, const Samples& offsets,
                                         const Samples& sizes) {
  std::vector<Chunk> chunks;
  for (int64_t i = 0; i < in.size(); i++) {
    for (int64_t k = 0; k < offsets.volume(i); k++) chunks.push_back({i, k});
  }
  const auto chunk_bytes = [&](int64_t i) {
    return static_cast<size_t>(out.volume(i)) * out.itemsize() /
           static_cast<size_t>(offsets.volume(i));
  };
  parallel_for(
      static_cast<int64_t>(chunks.size()),
      [&](int64_t c) {
        return kNanosecondsPerByte *
               static_cast<double>(chunk_bytes(chunks[static_cast<size_t>(c)].sample));
      },
      [&](int64_t c) {
        Chunk& chunk = chunks[static_cast<size_t>(c)];
        const int64_t i = chunk.sample, k = chunk.number;
        const size_t bytes = chunk_bytes(i);
        auto* to = out.data<uint8_t>(i) + static_cast<size_t>(k) * bytes;
        Block block(in.data<const uint8_t>(i) + offsets.data<const int64_t>(i)[k],
                    static_cast<size_t>(sizes.data<const int64_t>(i)[k]), to, bytes);
        chunk.failure = block.decode();
        std::memset(block.position(), 0, static_cast<size_t>(to + bytes - block.position()));
      });
  for (const Chunk& chunk : chunks) {
    if (chunk.failure) return Lz4Failure{chunk.sample, chunk.number, chunk.failure};
  }
  return std::nullopt;
}

}  // namespace daliesque::records
