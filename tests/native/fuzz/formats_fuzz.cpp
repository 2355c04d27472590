// SPDX-License-Identifier: Apache-2.0
// Decodes damaged copies of image files of the formats in `codecs`. To be built with
// -fsanitize=address,undefined:
//   formats_fuzz DIRECTORY [ITERATIONS [SEED]]
// Every input and output lives in a heap block of its exact size, so that a sanitizer sees any
// access beyond it. Each file is decoded twice, with and without vectors: ends with status 1 if the
// results differ.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codecs/checksum.h"
#include "codecs/format.h"
#include "core/simd.h"
#include "decode/formats.h"
#include "fuzz/damage.h"

namespace {

using namespace daliesque;
using decode::ImageType;
using testing::File;
using testing::Random;

constexpr int64_t kMaxValues = 1 << 20;

uint32_t big32(const uint8_t* data) {
  return static_cast<uint32_t>(data[0]) << 24 | data[1] << 16 | data[2] << 8 | data[3];
}

/// Makes the checksums of a PNG fit again, so that its changes get past the first check.
void repair_checksums(File& file) {
  for (size_t at = 8; at + 12 <= file.size();) {
    const size_t length = big32(&file[at]);
    if (length > file.size() - at - 12) return;
    const uint32_t sum = codecs::crc32({&file[at + 4], length + 4});
    for (size_t k = 0; k < 4; k++) {
      file[at + 8 + length + k] = static_cast<uint8_t>(sum >> (24 - 8 * k));
    }
    at += length + 12;
  }
}

void mutate(File& file, const std::vector<File>& seeds, Random& random) {
  constexpr uint8_t kInteresting[] = {0,    1,   2,   3,   4,    8,    15,   16,   ' ',  '#',
                                      '\n', '!', ',', ';', 0x7F, 0x80, 0xC0, 0xF9, 0xFE, 0xFF};
  for (size_t left = random.below(6); left > 0; left--) {
    if (random.chance(3) && !file.empty()) {
      // Headers decide most.
      const size_t target = random.below(std::min<size_t>(file.size(), 64));
      file[target] = testing::random_byte(kInteresting, random);
    } else {
      testing::damage_anywhere(file, seeds, kInteresting, random);
    }
  }
  const codecs::Format format = codecs::find_format(file);
  if (format == codecs::Format::kPng && random.chance(2)) repair_checksums(file);
}

/// What to make of an image: colors, type, orientation and window.
decode::ImageTarget random_target(const codecs::ImageInfo& info, Random& random) {
  constexpr DType kTypes[] = {DType::uint8, DType::uint8, DType::uint16, DType::float32};
  decode::ImageTarget target{};
  target.dtype = kTypes[random.below(4)];
  target.type = static_cast<ImageType>(random.below(5));
  target.orientation = random.chance(2) ? 1 : random.between(1, 8);
  target.height = info.height;
  target.width = info.width;
  target.channels = info.channels;
  const bool transposed = decode::is_transposed(target.orientation);
  const int64_t height = transposed ? info.width : info.height;
  const int64_t width = transposed ? info.height : info.width;
  target.window = {0, 0, height, width};
  if (random.chance(2)) {
    target.window.y = static_cast<int64_t>(random.below(static_cast<size_t>(height)));
    target.window.x = static_cast<int64_t>(random.below(static_cast<size_t>(width)));
    target.window.height =
        1 + static_cast<int64_t>(random.below(static_cast<size_t>(height - target.window.y)));
    target.window.width =
        1 + static_cast<int64_t>(random.below(static_cast<size_t>(width - target.window.x)));
  }
  return target;
}

/// The bytes of the result, or what is wrong with the file.
struct Outcome {
  std::unique_ptr<uint8_t[]> pixels;
  size_t size = 0;
  std::string fault;

  bool operator==(const Outcome& other) const {
    return fault == other.fault &&
           (!fault.empty() || std::memcmp(pixels.get(), other.pixels.get(), size) == 0);
  }
};

Outcome decode_with(codecs::Format format, codecs::Bytes file, decode::ImageTarget target,
                    bool vectors) {
  set_simd_enabled(vectors);
  Outcome outcome;
  outcome.size = static_cast<size_t>(target.window.height * target.window.width *
                                     decode::result_channels(target.type, target.channels)) *
                 dtype_size(target.dtype);
  outcome.pixels = std::make_unique_for_overwrite<uint8_t[]>(outcome.size);
  target.out = outcome.pixels.get();
  try {
    decode::decode_format(format, file, target);
  } catch (const codecs::Damage& damage) {
    outcome.fault = damage.what();
  }
  return outcome;
}

/// Whether the file was decoded; none if both ways differ.
std::optional<bool> decode_twice(codecs::Bytes file, Random& random) {
  const codecs::Format format = codecs::find_format(file);
  if (format == codecs::Format::kNone) return false;
  codecs::ImageInfo info;
  try {
    info = decode::read_format_header(format, file);
  } catch (const codecs::Damage&) {
    return false;
  }
  if (info.height > kMaxValues || info.width > kMaxValues ||
      info.height * info.width * info.channels > kMaxValues) {
    return false;
  }
  const decode::ImageTarget target = random_target(info, random);
  const Outcome first = decode_with(format, file, target, true);
  if (!(first == decode_with(format, file, target, false))) return std::nullopt;
  return first.fault.empty();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: formats_fuzz DIRECTORY [ITERATIONS [SEED]]\n");
    return 2;
  }
  const std::vector<File> seeds = testing::read_seeds(argv[1]);
  const long iterations = argc > 2 ? std::atol(argv[2]) : 10000;
  Random random(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  if (seeds.empty()) {
    std::fprintf(stderr, "formats_fuzz: the directory holds no files, or an empty one\n");
    return 2;
  }
  int64_t decoded = 0;
  for (long i = 0; i < iterations; ++i) {
    File file = seeds[random.below(seeds.size())];
    mutate(file, seeds, random);
    const auto data = testing::exact_copy(file);
    const std::optional<bool> done = decode_twice({data.get(), file.size()}, random);
    if (!done) {
      std::fprintf(stderr, "formats_fuzz: iteration %ld depends on vectors\n", i);
      return 1;
    }
    decoded += *done;
  }
  std::printf("formats_fuzz: %ld files, %lld of them decoded\n", iterations,
              static_cast<long long>(decoded));
  return 0;
}
