// SPDX-License-Identifier: Apache-2.0
// WAV files (https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html) of plain
// samples.
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "audio/file.h"
#include "core/saturate.h"

namespace daliesque::audio {

namespace {

static_assert(std::endian::native == std::endian::little, "WAV files are read as they are");

/// Three bytes.
struct Int24 {
  uint8_t bytes[3];

  int32_t shifted() const {
    return static_cast<int32_t>(static_cast<uint32_t>(bytes[0]) << 8 |
                                static_cast<uint32_t>(bytes[1]) << 16 |
                                static_cast<uint32_t>(bytes[2]) << 24);
  }
};

/// An integer of any width in the upper bits of 32.
inline int32_t widen(uint8_t value) {
  return static_cast<int32_t>((static_cast<uint32_t>(value) ^ 0x80u) << 24);
}
inline int32_t widen(int16_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(value) << 16);
}
inline int32_t widen(Int24 value) { return value.shifted(); }
inline int32_t widen(int32_t value) { return value; }

template <class Out, class In>
inline Out convert(In value) {
  if constexpr (std::is_floating_point_v<In>) {
    if constexpr (std::is_same_v<Out, float>) {
      return static_cast<float>(value);
    } else {
      return saturate<Out>(static_cast<float>(value) *
                           static_cast<float>(std::numeric_limits<Out>::max()));
    }
  } else if constexpr (std::is_same_v<Out, float>) {
    if constexpr (std::is_same_v<In, int16_t>) return static_cast<float>(value) * 0x1p-15f;
    return static_cast<float>(widen(value)) * 0x1p-31f;
  } else if constexpr (std::is_same_v<Out, int16_t>) {
    return static_cast<int16_t>(widen(value) >> 16);
  } else {
    return widen(value);
  }
}

struct WavFormat {
  enum Kind { u8, i16, i24, i32, f32, f64 } kind;
  int64_t value_bytes;
};

class WavFile : public AudioFile {
 public:
  WavFile(const AudioBytes& source, WavFormat format, int64_t offset)
      : source_(source), format_(format), offset_(offset) {}

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
    // Other chunks may follow the audio.
    count = std::clamp<int64_t>(frames - first, 0, count);
    switch (format_.kind) {
      case WavFormat::u8:
        return read_from<uint8_t>(out, first, count);
      case WavFormat::i16:
        return read_from<int16_t>(out, first, count);
      case WavFormat::i24:
        return read_from<Int24>(out, first, count);
      case WavFormat::i32:
        return read_from<int32_t>(out, first, count);
      case WavFormat::f32:
        return read_from<float>(out, first, count);
      default:
        return read_from<double>(out, first, count);
    }
  }

  template <class In, class Out>
  int64_t read_from(Out* out, int64_t first, int64_t count) {
    constexpr int64_t kBlock = 4096;
    In values[kBlock];
    const int64_t begin = first * channels, total = count * channels;
    for (int64_t done = 0; done < total;) {
      const int64_t wanted = std::min(kBlock, total - done);
      const int64_t bytes = wanted * format_.value_bytes;
      const int64_t offset = offset_ + (begin + done) * format_.value_bytes;
      const int64_t got = source_.read(values, bytes, offset) / format_.value_bytes;
      for (int64_t j = 0; j < got; j++) out[done + j] = convert<Out>(values[j]);
      done += got;
      if (got < wanted) return done / channels;
    }
    return count;
  }

  const AudioBytes& source_;
  WavFormat format_;
  int64_t offset_;
};

template <class T>
T read_number(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

constexpr uint16_t kInteger = 1, kFloat = 3, kExtensible = 0xfffe;
// The rest of a format's identifier in an extensible header, after the number of the format.
constexpr char kFormatTail[] = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71";

/// Takes format, channels and rate from a chunk "fmt "; false if this is not a plain one.
bool parse_format(const char* chunk, int64_t size, WavFormat& format, int64_t& channels,
                  int64_t& rate) {
  if (size < 16) return false;
  auto tag = read_number<uint16_t>(chunk);
  const auto bits = read_number<uint16_t>(chunk + 14);
  if (tag == kExtensible && size >= 40 && std::memcmp(chunk + 26, kFormatTail, 14) == 0) {
    tag = read_number<uint16_t>(chunk + 24);
  }
  if (tag == kInteger && bits == 8) {
    format.kind = WavFormat::u8;
  } else if (tag == kInteger && bits == 16) {
    format.kind = WavFormat::i16;
  } else if (tag == kInteger && bits == 24) {
    format.kind = WavFormat::i24;
  } else if (tag == kInteger && bits == 32) {
    format.kind = WavFormat::i32;
  } else if (tag == kFloat && bits == 32) {
    format.kind = WavFormat::f32;
  } else if (tag == kFloat && bits == 64) {
    format.kind = WavFormat::f64;
  } else {
    return false;
  }
  format.value_bytes = bits / 8;
  channels = read_number<uint16_t>(chunk + 2);
  rate = read_number<uint32_t>(chunk + 4);
  const auto frame_bytes = read_number<uint16_t>(chunk + 12);
  constexpr int64_t kMostRate = 0x7fffffff;
  return channels > 0 && rate > 0 && rate <= kMostRate &&
         frame_bytes == channels * format.value_bytes;
}

}  // namespace

std::unique_ptr<AudioFile> open_wav(const AudioBytes& source) {
  char head[12];
  if (source.read(head, 12, 0) < 12 || std::memcmp(head, "RIFF", 4) != 0 ||
      std::memcmp(head + 8, "WAVE", 4) != 0) {
    return nullptr;
  }
  WavFormat format{};
  int64_t channels = 0, rate = 0;
  for (int64_t offset = 12;;) {
    char chunk[48];
    if (source.read(chunk, 8, offset) < 8) return nullptr;
    const int64_t size = read_number<uint32_t>(chunk + 4);
    offset += 8;
    if (std::memcmp(chunk, "fmt ", 4) == 0) {
      const int64_t got = source.read(chunk, std::min<int64_t>(size, 40), offset);
      if (!parse_format(chunk, got, format, channels, rate)) return nullptr;
    } else if (std::memcmp(chunk, "data", 4) == 0) {
      if (channels == 0) return nullptr;
      auto file = std::make_unique<WavFile>(source, format, offset);
      // Recorders that could not go back leave 0 or the largest number; what is there counts.
      const int64_t there = source.size() - offset;
      const int64_t bytes = size == 0 ? there : std::min(size, there);
      file->channels = channels;
      file->rate = rate;
      file->value_cost = 0.6;
      file->frames = bytes / (channels * format.value_bytes);
      return file;
    }
    offset += size + size % 2;
  }
}

}  // namespace daliesque::audio
