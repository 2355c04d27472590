// SPDX-License-Identifier: Apache-2.0
// Reads Vorbis streams that are cut off anywhere or made of any bits, in memory of exactly the
// right size, and compares samples with the definition of the transform. Run under a sanitizer.
#include <bit>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "audio/file.h"
#include "check.h"
#include "core/simd.h"
#include "mutations.h"
#include "ogg_pages.h"

using namespace daliesque;
using namespace daliesque::audio;
using testing::check;
using testing::little;
using testing::Mutator;
using testing::ogg_page;
using testing::passed;

namespace {

constexpr int kShort = 64, kLong = 256;

/// Bits, the lowest of each byte first.
class BitWriter {
 public:
  void put(uint64_t value, int count) {
    for (int k = 0; k < count; k++, used_++) {
      if (used_ % 8 == 0) bytes_ += '\0';
      bytes_.back() = static_cast<char>(bytes_.back() | (value >> k & 1) << used_ % 8);
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  size_t used_ = 0;
};

struct Kind {
  int channels, residue_type;
};

std::string first_header(int channels) {
  return "\1vorbis" + little(0, 4) + static_cast<char>(channels) + little(16000, 4) +
         std::string(12, '\0') + static_cast<char>(6 | 8 << 4) + '\1';
}

std::string second_header() {
  return "\3vorbis" + little(4, 4) + "test" + little(1, 4) + little(3, 4) + "a=b" + '\1';
}

/// An integer as codebooks have it.
uint32_t packed(int value) {
  return static_cast<uint32_t>(std::abs(value)) | 788u << 21 | (value < 0 ? 1u << 31 : 0);
}

void put_codebooks(BitWriter& bits) {
  bits.put(2, 8);
  // Two words of one bit, without vectors.
  bits.put(0x564342, 24);
  bits.put(1, 16);
  bits.put(2, 24);
  bits.put(0, 2 + 2 * 5 + 4);
  // Four words of two bits for pairs of -1 and 1.
  bits.put(0x564342, 24);
  bits.put(2, 16);
  bits.put(4, 24);
  bits.put(1, 1);
  bits.put(1, 5);
  bits.put(4, 3);
  bits.put(1, 4);
  bits.put(packed(-1), 32);
  bits.put(packed(2), 32);
  bits.put(0, 4 + 1);
  bits.put(0b10, 2);
  // A single word for a sequence of four, 1, 2, 4 and 7, which grows by 1, 1, 2 and 3.
  bits.put(0x564342, 24);
  bits.put(4, 16);
  bits.put(3, 24);
  bits.put(0b10, 2);
  bits.put(0, 1);
  bits.put(1, 1 + 5);
  bits.put(0, 1);
  bits.put(2, 4);
  bits.put(packed(0), 32);
  bits.put(packed(1), 32);
  bits.put(1, 4);
  bits.put(1, 1);
  bits.put(0b11'10'01'01 << 8, 2 * 4 * 3);
}

std::string third_header(const Kind& kind) {
  BitWriter bits;
  put_codebooks(bits);
  bits.put(0, 6 + 16);
  // A curve with two points inside.
  bits.put(0, 6);
  bits.put(1, 16);
  bits.put(1, 5);
  bits.put(0, 4);
  bits.put(1, 3);
  bits.put(0, 2);
  bits.put(1, 8);
  bits.put(0, 2);
  bits.put(5, 4);
  bits.put(8, 5);
  bits.put(16, 5);
  // Partitions of 8 numbers, either zeros or the sum of two books.
  bits.put(0, 6);
  bits.put(static_cast<uint64_t>(kind.residue_type), 16);
  bits.put(0, 24);
  bits.put(64, 24);
  bits.put(7, 24);
  bits.put(1, 6);
  bits.put(0, 8);
  bits.put(0, 4);
  bits.put(3, 4);
  bits.put(1, 8);
  bits.put(2, 8);
  // One mapping, in which a second channel is an angle.
  bits.put(0, 6 + 16 + 1);
  bits.put(kind.channels == 2, 1);
  if (kind.channels == 2) {
    bits.put(0, 8);
    bits.put(0b10, 2);
  }
  bits.put(0, 2 + 3 * 8);
  // A mode for each size of blocks.
  bits.put(1, 6);
  bits.put(0, 1 + 16 + 16 + 8);
  bits.put(1, 1 + 16 + 16 + 8);
  bits.put(1, 1);
  return "\5vorbis" + bits.bytes();
}

void begin_packet(BitWriter& bits, bool is_long) {
  bits.put(0, 1);
  bits.put(is_long, 1);
  if (is_long) bits.put(0, 2);
}

/// A stream of given packets, in two pages; the last says that it ends `spare` samples earlier.
std::string stream(const Kind& kind, const std::vector<std::string>& packets, int64_t spare = 0) {
  std::string file = ogg_page(2, 0, 0, {first_header(kind.channels)});
  file += ogg_page(0, 0, 1, {second_header(), third_header(kind)});
  const auto size = [&](size_t k) { return packets[k][0] & 2 ? kLong : kShort; };
  int64_t granule = 0;
  std::vector<std::string> page;
  for (size_t k = 0; k < packets.size(); k++) {
    if (k > 0) granule += (size(k - 1) + size(k)) / 4;
    page.push_back(packets[k]);
    const bool last = k + 1 == packets.size();
    if (k != 1 && !last) continue;
    file += ogg_page(last ? 4 : 0, granule - (last ? spare : 0), k == 1 ? 2 : 3, page);
    page.clear();
  }
  return file;
}

/// A file in a block of its exact size.
class Opened {
 public:
  explicit Opened(const std::string& bytes)
      : data_(bytes.begin(), bytes.end()),
        source_(data_.data(), static_cast<int64_t>(data_.size())),
        file_(open_vorbis(source_, nullptr)) {}

  AudioFile* file() const { return file_.get(); }
  /// Samples from `first` on.
  std::vector<float> read(int64_t first = 0) const {
    std::vector<float> out(static_cast<size_t>((file_->frames - first) * file_->channels));
    const int64_t count = file_->read(out.data(), first, file_->frames - first);
    out.resize(static_cast<size_t>(count * file_->channels));
    return out;
  }

 private:
  std::vector<char> data_;
  AudioBytes source_;
  std::unique_ptr<AudioFile> file_;
};

/// A packet whose spectrum has -1 and 1 where `words` say so, and zeros in other partitions; the
/// last book adds 1, 2, 4 and 7 to each four.
std::string known_packet(bool is_long, const std::vector<int>& words) {
  BitWriter bits;
  begin_packet(bits, is_long);
  bits.put(1, 1);
  bits.put(255, 8);  // The curve is 1 everywhere.
  bits.put(255, 8);
  bits.put(0, 2);
  const size_t partitions = is_long ? 8 : 4;
  for (size_t pass = 0; pass < 2; pass++) {
    for (size_t p = 0; p < partitions; p++) {
      const bool filled = p < words.size() / 4;
      if (pass == 0) bits.put(filled, 1);
      if (!filled) continue;
      for (size_t k = 0; k < 4 && pass == 0; k++) {
        const auto word = static_cast<uint64_t>(words[4 * p + k]);
        bits.put(word >> 1 | (word & 1) << 1, 2);
      }
      bits.put(0, pass == 1 ? 2 : 0);
    }
  }
  return bits.bytes();
}

std::vector<double> known_block(bool is_long, const std::vector<int>& words) {
  const int size = is_long ? kLong : kShort;
  std::vector<double> spectrum(static_cast<size_t>(size / 2)), block(static_cast<size_t>(size));
  constexpr double kAdded[] = {1, 2, 4, 7};
  for (size_t k = 0; k < 2 * words.size(); k++) {
    spectrum[k] = (words[k / 2] >> k % 2 & 1 ? 1 : -1) + kAdded[k % 4];
  }
  for (int n = 0; n < size; n++) {
    for (int k = 0; k < size / 2; k++) {
      const double angle = 2 * std::numbers::pi / size * (n + 0.5 + size / 4.0) * (k + 0.5);
      block[static_cast<size_t>(n)] += spectrum[static_cast<size_t>(k)] * std::cos(angle);
    }
  }
  return block;
}

double slope(int i, int length) {
  const double sine = std::sin((i + 0.5) / length * std::numbers::pi / 2);
  return std::sin(std::numbers::pi / 2 * sine * sine);
}

/// What blocks become between the middle of one and that of the next.
void add_overlap(std::vector<double>& out, const std::vector<double>& before,
                 const std::vector<double>& after) {
  const int a = static_cast<int>(before.size()), b = static_cast<int>(after.size());
  const int length = std::min(a, b) / 2;
  for (int i = 0; i < (a + b) / 4; i++) {
    const int at = i - (a / 4 - length / 2), second = i - (a - b) / 4;
    double value = 0;
    if (at < length) {
      value +=
          before[static_cast<size_t>(a / 2 + i)] * (at < 0 ? 1 : slope(length - 1 - at, length));
    }
    if (at >= 0)
      value += after[static_cast<size_t>(second)] * (at < length ? slope(at, length) : 1);
    out.push_back(value);
  }
}

void known_values() {
  const std::vector<int> first{0, 1, 2, 3, 3, 3, 0, 1}, second{2, 1, 0, 3}, none;
  const std::vector<std::pair<bool, std::vector<int>>> blocks = {{false, first}, {false, second},
                                                                 {true, first},  {true, second},
                                                                 {false, none},  {false, first}};
  std::vector<std::string> packets;
  std::vector<double> expected;
  std::vector<double> before;
  for (const auto& [is_long, words] : blocks) {
    packets.push_back(known_packet(is_long, words));
    const std::vector<double> block = known_block(is_long, words);
    if (!before.empty()) add_overlap(expected, before, block);
    before = block;
  }
  for (const int64_t spare : {0, 5}) {
    const Opened opened(stream({1, 1}, packets, spare));
    const auto length = static_cast<int64_t>(expected.size()) - spare;
    check(opened.file() && opened.file()->frames == length, "the length is right");
    check(opened.file()->rate == 16000 && opened.file()->channels == 1, "the format is right");
    for (const int64_t from : {int64_t{0}, int64_t{3}, length / 2, length - 1, int64_t{40}}) {
      const std::vector<float> samples = opened.read(from);
      check(static_cast<int64_t>(samples.size()) == length - from, "all samples are read");
      for (size_t i = 0; i < samples.size(); i++) {
        const double wanted = expected[i + static_cast<size_t>(from)];
        check(std::abs(samples[i] - wanted) < 1e-4, "sample", i, "is", samples[i], "not", wanted);
      }
    }
  }
}

std::string random_packet(Mutator& random) {
  BitWriter bits;
  begin_packet(bits, random.below(2) == 1);
  for (size_t left = random.below(60); left > 0; left--) bits.put(random.below(256), 8);
  bits.put(random.below(2), 1);
  return bits.bytes();
}

void streams_cut_off() {
  Mutator random(5);
  const Kind kind{2, 2};
  const std::string whole = stream(kind, {random_packet(random), random_packet(random),
                                          random_packet(random), random_packet(random)});
  check(Opened(whole).file() != nullptr, "a whole stream is opened");
  for (size_t size = 0; size < whole.size(); size++) {
    const Opened opened(whole.substr(0, size));
    if (opened.file()) opened.read();
  }
}

/// Packets of any bits, whole files with faults: with and without vectors they become the same.
void streams_of_any_bits(int rounds) {
  Mutator random(6);
  int opened_files = 0;
  for (int round = 0; round < rounds; round++) {
    const Kind kind{1 + static_cast<int>(random.below(2)), static_cast<int>(random.below(3))};
    std::vector<std::string> packets;
    for (size_t left = 2 + random.below(5); left > 0; left--) {
      packets.push_back(random_packet(random));
    }
    std::string file = stream(kind, packets, static_cast<int64_t>(random.below(20)));
    if (random.below(3) == 0) {
      file = random.damaged(file);
      std::vector<uint8_t> repaired(file.begin(), file.end());
      testing::repair_checksums(repaired);
      file.assign(repaired.begin(), repaired.end());
    }
    std::vector<float> results[2];
    for (const bool simd : {true, false}) {
      set_simd_enabled(simd);
      const Opened opened(file);
      if (!opened.file() || opened.file()->frames > 10000) continue;
      opened_files++;
      if (opened.file()->frames > 7) opened.read(7);
      results[simd] = opened.read();
    }
    check(results[0].size() == results[1].size(), "as many samples");
    for (size_t i = 0; i < results[0].size(); i++) {
      const float a = results[0][i], b = results[1][i];
      check(std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (a != a && b != b),
            "the same samples");
    }
  }
  check(opened_files > rounds, "most streams are opened");
}

}  // namespace

int main() {
  for (const bool simd : {true, false}) {
    set_simd_enabled(simd);
    known_values();
    streams_cut_off();
  }
  streams_of_any_bits(30000);
  return passed("vorbis_test");
}
