// SPDX-License-Identifier: Apache-2.0
// Checksums, expansion in pieces of any size, and filters of PNG against their definition, with and
// without vectors. Run under a sanitizer.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "check.h"
#include "codecs/checksum.h"
#include "codecs/inflate.h"
#include "codecs/pixel_loops.h"
#include "codecs/png_loops.h"
#include "core/simd.h"

using namespace daliesque;
using namespace daliesque::codecs;
using testing::check;
using testing::passed;

namespace {

using Data = std::vector<uint8_t>;

Data random_bytes(std::mt19937& random, size_t size) {
  Data bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

void checksums() {
  constexpr std::string_view kDigits = "123456789";
  const auto* digits = reinterpret_cast<const uint8_t*>(kDigits.data());
  std::mt19937 random(1);
  for (const bool vectors : {true, false}) {
    set_simd_enabled(vectors);
    check(crc32({digits, kDigits.size()}) == 0xcbf43926, "the published CRC-32");
    check(adler32(1, digits, kDigits.size()) == 0x091e01de, "the published Adler-32");
  }
  for (size_t size = 0; size < 600; size++) {
    const Data bytes = random_bytes(random, size);
    set_simd_enabled(true);
    const uint32_t crc = crc32(bytes), adler = adler32(1, bytes.data(), size);
    set_simd_enabled(false);
    check(crc32(bytes) == crc, "CRC-32 with and without vectors", size);
    check(adler32(1, bytes.data(), size) == adler, "Adler-32 with and without vectors", size);
  }
  // The largest sums that may arise.
  const Data ones(100'000, 255);
  uint32_t low = 1, high = 0;
  for (const uint8_t byte : ones) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  for (const bool vectors : {true, false}) {
    set_simd_enabled(vectors);
    check(adler32(1, ones.data(), ones.size()) == (high << 16 | low), "Adler-32 of 255s");
  }
}

/// Writes a zlib stream with the fixed code of literals and lengths.
class StreamWriter {
 public:
  StreamWriter() : bytes_{0x78, 0x01} {}

  void stored(const Data& data, bool last) {
    put(last, 1);
    put(0, 2);
    if (count_) put(0, 8 - count_);
    const auto size = static_cast<uint32_t>(data.size());
    put(size, 16);
    put(size ^ 0xffff, 16);
    bytes_.insert(bytes_.end(), data.begin(), data.end());
  }

  void begin_fixed(bool last) {
    put(last, 1);
    put(1, 2);
  }

  void literal(uint8_t byte) {
    if (byte < 144) {
      code(0x30u + byte, 8);
    } else {
      code(0x190u + byte - 144, 9);
    }
  }

  /// A match of 3 to 10 bytes, 1 to 4 bytes back.
  void match(uint32_t length, uint32_t distance) {
    code(length - 2, 7);
    code(distance - 1, 5);
  }

  void end_fixed() { code(0, 7); }

  Data finish(const Data& expanded) {
    if (count_) put(0, 8 - count_);
    const uint32_t sum = adler32(1, expanded.data(), expanded.size());
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes_.push_back(static_cast<uint8_t>(sum >> shift));
    return bytes_;
  }

 private:
  void put(uint32_t value, uint32_t bits) {
    for (uint32_t k = 0; k < bits; k++) {
      if (count_ == 0) bytes_.push_back(0);
      bytes_.back() = static_cast<uint8_t>(bytes_.back() | (value >> k & 1) << count_);
      count_ = (count_ + 1) % 8;
    }
  }
  /// Codes have their first bit highest.
  void code(uint32_t value, uint32_t bits) {
    while (bits-- > 0) put(value >> bits & 1, 1);
  }

  Data bytes_;
  uint32_t count_ = 0;
};

/// A stream of all kinds of blocks, and what it expands to.
Data random_stream(std::mt19937& random, Data* expanded) {
  StreamWriter writer;
  const size_t blocks = 1 + random() % 4;
  for (size_t block = 0; block < blocks; block++) {
    const bool last = block + 1 == blocks;
    if (random() % 2) {
      const Data data = random_bytes(random, random() % 200);
      writer.stored(data, last);
      expanded->insert(expanded->end(), data.begin(), data.end());
      continue;
    }
    writer.begin_fixed(last);
    for (size_t left = random() % 300; left > 0; left--) {
      if (expanded->size() >= 4 && random() % 3 == 0) {
        const uint32_t length = 3 + random() % 8, distance = 1 + random() % 4;
        writer.match(length, distance);
        for (uint32_t k = 0; k < length; k++) {
          expanded->push_back((*expanded)[expanded->size() - distance]);
        }
      } else {
        expanded->push_back(static_cast<uint8_t>(random()));
        writer.literal(expanded->back());
      }
    }
    writer.end_fixed();
  }
  return writer.finish(*expanded);
}

/// Expands in pieces, each of which may come out larger, into memory that has just enough space.
void expand_in_pieces(std::mt19937& random, const Data& stream, const Data& expanded) {
  const auto input = std::make_unique<uint8_t[]>(stream.size());
  std::memcpy(input.get(), stream.data(), stream.size());
  Inflater inflater;
  check(inflater.start({input.get(), stream.size()}) == InflateFault::kNone, "a header");
  const size_t capacity = expanded.size() + 1 + Inflater::kOvershoot;
  const auto output = std::make_unique<uint8_t[]>(capacity);
  uint8_t *out = output.get(), *const end = output.get() + expanded.size() + 1;
  while (!inflater.ended()) {
    uint8_t* const target = std::min(out + 1 + random() % 100, end);
    check(inflater.run(output.get(), &out, target) == InflateFault::kNone, "valid data");
    check(inflater.ended() || out >= target, "as much as was asked for");
  }
  check(out == output.get() + expanded.size(), "all data");
  check(std::memcmp(output.get(), expanded.data(), expanded.size()) == 0, "the right data");
  uint32_t sum = 0;
  check(inflater.read_checksum(&sum) == InflateFault::kNone, "a checksum");
  check(sum == adler32(1, expanded.data(), expanded.size()), "the right checksum");
  check(inflater.consumed() == stream.size(), "all of the stream");
}

/// Every beginning of a stream must be found too short.
void expand_truncated(const Data& stream, size_t expanded) {
  for (size_t size = 0; size < stream.size(); size++) {
    const auto input = std::make_unique<uint8_t[]>(size);
    if (size) std::memcpy(input.get(), stream.data(), size);
    Inflater inflater;
    InflateFault fault = inflater.start({input.get(), size});
    const auto output = std::make_unique<uint8_t[]>(expanded + 1 + Inflater::kOvershoot);
    uint8_t* out = output.get();
    if (fault == InflateFault::kNone) {
      fault = inflater.run(output.get(), &out, output.get() + expanded + 1);
    }
    uint32_t sum = 0;
    if (fault == InflateFault::kNone) fault = inflater.read_checksum(&sum);
    check(fault == InflateFault::kTruncated, "a beginning of", size, "bytes");
  }
}

void expansion() {
  std::mt19937 random(2);
  for (int k = 0; k < 400; k++) {
    set_simd_enabled(k % 2 == 0);
    Data expanded;
    const Data stream = random_stream(random, &expanded);
    expand_in_pieces(random, stream, expanded);
    if (k < 6) expand_truncated(stream, expanded.size());
  }
}

/// A filter by its definition.
void unfilter_slowly(int filter, Data& row, const Data& previous, size_t step) {
  for (size_t k = 0; k < row.size(); k++) {
    const int left = k < step ? 0 : row[k - step], up = previous[k];
    const int corner = k < step ? 0 : previous[k - step];
    const int estimate = left + up - corner;
    const int by_left = std::abs(estimate - left), by_up = std::abs(estimate - up);
    const int by_corner = std::abs(estimate - corner);
    const int nearest = by_left <= by_up && by_left <= by_corner ? left
                        : by_up <= by_corner                     ? up
                                                                 : corner;
    const int predicted[] = {0, left, up, (left + up) / 2, nearest};
    row[k] = static_cast<uint8_t>(row[k] + predicted[filter]);
  }
}

void filters(const PngLoops& loops) {
  std::mt19937 random(3);
  for (const size_t step : {1, 2, 3, 4, 6, 8}) {
    for (size_t pixels = 1; pixels < 30; pixels++) {
      for (int filter = 0; filter < 5; filter++) {
        const size_t bytes = step * pixels;
        Data row = random_bytes(random, bytes);
        const Data previous = random_bytes(random, bytes);
        const auto out = std::make_unique<uint8_t[]>(bytes);
        const auto in = std::make_unique<uint8_t[]>(bytes);
        std::memcpy(in.get(), row.data(), bytes);
        loops.unfilter(filter, out.get(), in.get(), previous.data(), bytes, step);
        unfilter_slowly(filter, row, previous, step);
        check(std::memcmp(out.get(), row.data(), bytes) == 0, "filter", filter, "of", step);
      }
    }
  }
}

void packed_numbers(const PixelLoops& loops) {
  std::mt19937 random(4);
  for (const int bits : {1, 2, 4}) {
    for (size_t count = 1; count < 70; count++) {
      const size_t bytes = (count * static_cast<size_t>(bits) + 7) / 8;
      const auto in = std::make_unique<uint8_t[]>(bytes);
      for (size_t k = 0; k < bytes; k++) in[k] = static_cast<uint8_t>(random());
      const auto out = std::make_unique<uint8_t[]>(count);
      loops.unpack(out.get(), in.get(), static_cast<int64_t>(count), bits, 3);
      for (size_t k = 0; k < count; k++) {
        const size_t bit = k * static_cast<size_t>(bits);
        const int value = in[bit / 8] >> (8 - bits - static_cast<int>(bit % 8)) & ((1 << bits) - 1);
        check(out[k] == value * 3, "number", k, "of", bits, "bits");
      }
    }
  }
}

/// Every loop on blocks of exactly the right size.
void moved_channels(const PixelLoops& loops) {
  std::mt19937 random(5);
  PaletteEntry palette[256];
  for (auto& entry : palette) {
    for (uint8_t& byte : entry) byte = static_cast<uint8_t>(random());
  }
  for (size_t count = 1; count < 70; count++) {
    const auto pixels = static_cast<int64_t>(count);
    const Data one = random_bytes(random, count), three = random_bytes(random, 3 * count);
    const Data four = random_bytes(random, 4 * count);
    Data spread(3 * count), dropped(3 * count), reversed(3 * count), colors(3 * count);
    loops.spread(spread.data(), one.data(), pixels);
    loops.drop_fourth(dropped.data(), four.data(), pixels);
    loops.reverse(reversed.data(), three.data(), pixels);
    loops.look_up(colors.data(), one.data(), pixels, palette);
    for (size_t k = 0; k < 3 * count; k++) {
      const size_t pixel = k / 3, channel = k % 3;
      check(spread[k] == one[pixel], "a byte three times");
      check(dropped[k] == four[4 * pixel + channel], "three of four bytes");
      check(reversed[k] == three[3 * pixel + 2 - channel], "three bytes reversed");
      check(colors[k] == palette[one[pixel]][channel], "a color of the palette");
    }
  }
  std::vector<uint16_t> wide(65536);
  for (size_t k = 0; k < wide.size(); k++) wide[k] = static_cast<uint16_t>(k);
  Data narrow(wide.size());
  loops.narrow(narrow.data(), wide.data(), static_cast<int64_t>(wide.size()));
  for (size_t k = 0; k < wide.size(); k++) {
    check(narrow[k] == static_cast<uint8_t>(std::lround(static_cast<double>(k) / 257)), "rounded");
  }
}

}  // namespace

int main() {
  checksums();
  expansion();
  for (const bool vectors : {true, false}) {
    set_simd_enabled(vectors);
    filters(DALIESQUE_CHOOSE(png_loops));
    packed_numbers(pixel_loops());
    moved_channels(pixel_loops());
  }
  return passed("codecs_test");
}
