// SPDX-License-Identifier: Apache-2.0
// FLAC files (RFC 9639) of up to 24 bits.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "audio/byte_window.h"
#include "audio/file.h"
#include "audio/flac_frame.h"

namespace daliesque::audio {

namespace {

template <class Out>
Out to_output(int32_t value, int bits) {
  // libsndfile does the same, and for damaged files, too, values wrap around.
  const uint32_t wide = static_cast<uint32_t>(value) << (32 - bits);
  if constexpr (std::is_same_v<Out, float>) {
    return static_cast<float>(value) * (1.0f / static_cast<float>(1 << (bits - 1)));
  } else {
    constexpr int kUnused = 32 - std::numeric_limits<std::make_unsigned_t<Out>>::digits;
    return static_cast<Out>(static_cast<int32_t>(wide) >> kUnused);
  }
}

class FlacFile : public AudioFile {
 public:
  FlacFile(const AudioBytes& source, const FlacFormat& format, int64_t begin)
      : format_(format), window_(source), begin_(begin), size_(source.size()), offset_(begin) {
    frames = format.frames;
    channels = format.channels;
    rate = format.rate;
    value_cost = 4;
  }

  int64_t read(float* out, int64_t first, int64_t count) override {
    return read_as(out, first, count);
  }
  int64_t read(int16_t* out, int64_t first, int64_t count) override {
    return read_as(out, first, count);
  }
  int64_t read(int32_t* out, int64_t first, int64_t count) override {
    return read_as(out, first, count);
  }

 private:
  template <class Out>
  int64_t read_as(Out* out, int64_t first, int64_t count) {
    count = std::clamp<int64_t>(frames - first, 0, count);
    if (first < next_ - held_ || first > next_) seek(first);
    int64_t done = 0;
    while (done < count) {
      if (first + done >= next_ && !advance()) return done;
      const int64_t from = first + done - (next_ - held_);
      if (from < 0) return done;
      if (from >= held_) continue;
      const int64_t some = std::min(held_ - from, count - done);
      store(out + done * channels, from, some);
      done += some;
    }
    return done;
  }

  /// Interleaves samples of the frame.
  template <class Out>
  void store(Out* out, int64_t from, int64_t count) const {
    const int bits = format_.bits;
    if (channels == 2) {
      const int32_t *a = frame_.channel(0) + from, *b = frame_.channel(1) + from;
      for (int64_t i = 0; i < count; i++) {
        out[2 * i] = to_output<Out>(a[i], bits);
        out[2 * i + 1] = to_output<Out>(b[i], bits);
      }
      return;
    }
    for (int c = 0; c < format_.channels; c++) {
      const int32_t* values = frame_.channel(c) + from;
      for (int64_t i = 0; i < count; i++) out[i * channels + c] = to_output<Out>(values[i], bits);
    }
  }

  /// Decodes the next frame; false if there is none, or it is damaged.
  bool advance() {
    if (!decode_at(offset_)) return false;
    offset_ += frame_.bytes();
    next_ += frame_.samples();
    held_ = frame_.samples();
    return true;
  }

  bool decode_at(int64_t offset) {
    for (int64_t least = 1 << 16;; least *= 4) {
      const auto [data, size] = window_.from(offset, least);
      if (size == 0) return false;
      const FlacOutcome outcome = frame_.decode(format_, data, size);
      if (outcome != FlacOutcome::cut) return outcome == FlacOutcome::decoded;
      if (offset + size >= size_) return false;
    }
  }

  /// Goes to a frame that begins at or before a sample, and near it.
  void seek(int64_t sample) {
    constexpr int64_t kNear = 1 << 15;
    int64_t low = begin_, high = size_, position = 0;
    while (high - low > kNear) {
      const int64_t middle = low + (high - low) / 2;
      const int64_t found = find_frame(middle, high);
      if (found < high && frame_.first() <= sample) {
        low = found + frame_.bytes();
        position = frame_.first() + frame_.samples();
        if (position > sample) {
          low = found;
          position = frame_.first();
          break;
        }
      } else {
        high = middle;
      }
    }
    offset_ = low;
    next_ = position;
    held_ = 0;
  }

  /// Where the first frame after an offset begins, which is then decoded; `end` if there is none.
  int64_t find_frame(int64_t offset, int64_t end) {
    for (; offset < end; offset++) {
      const auto [data, size] = window_.from(offset, 2);
      if (size < 2) break;
      // Any bytes may look like the beginning of a frame, but its checksums then do not fit.
      if (data[0] == 0xff && (data[1] & 0xfe) == 0xf8 && decode_at(offset)) return offset;
    }
    return end;
  }

  const FlacFormat format_;
  ByteWindow window_;
  FlacFrame frame_;
  int64_t begin_, size_;
  /// Where the next frame is, and its first sample; how many samples before are in `frame_`.
  int64_t offset_, next_ = 0, held_ = 0;
};

uint32_t flac_number(const uint8_t* data, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; i++) value = value << 8 | data[i];
  return value;
}

/// What the block at the beginning says; false if it cannot be decoded here.
bool parse_information(const uint8_t* block, FlacFormat& format) {
  const uint32_t least = flac_number(block, 2), most = flac_number(block + 2, 2);
  const uint32_t packed = flac_number(block + 10, 4);
  format.block_size = most;
  format.rate = packed >> 12;
  format.channels = static_cast<int>(packed >> 9 & 7) + 1;
  format.bits = static_cast<int>(packed >> 4 & 31) + 1;
  format.frames = static_cast<int64_t>(packed & 15) << 32 | flac_number(block + 14, 4);
  const bool supported = format.bits == 8 || format.bits == 16 || format.bits == kMostFlacBits;
  return supported && least >= 16 && most >= least && format.rate > 0 && format.frames > 0;
}

}  // namespace

std::unique_ptr<AudioFile> open_flac(const AudioBytes& source) {
  constexpr int64_t kInformationBytes = 34;
  uint8_t head[8 + kInformationBytes];
  // The first block of metadata is the one that describes the audio.
  if (source.read(head, sizeof head, 0) < static_cast<int64_t>(sizeof head) ||
      std::memcmp(head, "fLaC", 4) != 0 || (head[4] & 0x7f) != 0 ||
      flac_number(head + 5, 3) != kInformationBytes) {
    return nullptr;
  }
  FlacFormat format;
  if (!parse_information(head + 8, format)) return nullptr;
  int64_t offset = 4;
  for (bool last = false; !last;) {
    uint8_t block[4];
    if (source.read(block, 4, offset) < 4) return nullptr;
    last = (block[0] & 0x80) != 0;
    offset += 4 + static_cast<int64_t>(flac_number(block + 1, 3));
  }
  return std::make_unique<FlacFile>(source, format, offset);
}

}  // namespace daliesque::audio
