// SPDX-License-Identifier: Apache-2.0
// Decodes damaged copies of audio files of the formats that are decoded natively. To be built with
// -fsanitize=address,undefined:
//   audio_fuzz DIRECTORY [ITERATIONS [SEED]]
// Every input and output lives in a heap block of its exact size, so that a sanitizer sees any
// access beyond it. Each file is decoded twice, with and without vectors: ends with status 1 if the
// results differ.
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "audio/file.h"
#include "core/simd.h"
#include "fuzz/damage.h"
#include "ogg_pages.h"

namespace {

using namespace daliesque;
using namespace daliesque::audio;
using testing::File;
using testing::Random;

constexpr int64_t kMaxValues = 1 << 20;

void mutate(File& file, const std::vector<File>& seeds, Random& random) {
  constexpr uint8_t kInteresting[] = {0, 1, 2, 4, 5, 30, 0x7f, 0x80, 0xbf, 0xfe, 0xff, 'O', 'f'};
  if (random.chance(2) && !file.empty()) {
    // Other bits at the same positions, so that packets are damaged and their pages are not; mostly
    // behind the headers.
    const size_t begin = random.chance(4) ? 0 : file.size() / 2;
    for (size_t left = 1 + random.below(20); left > 0; left--) {
      file[begin + random.below(file.size() - begin)] = testing::random_byte(kInteresting, random);
    }
    testing::repair_checksums(file);
    return;
  }
  for (size_t left = 1 + random.below(4); left > 0; left--) {
    testing::damage_anywhere(file, seeds, kInteresting, random);
  }
  if (!random.chance(4)) testing::repair_checksums(file);
}

std::unique_ptr<AudioFile> open_any(const AudioBytes& source) {
  auto file = open_wav(source);
  if (!file) file = open_flac(source);
  if (!file) file = open_vorbis(source, nullptr);
  return file;
}

struct Outcome {
  bool opened = false;
  int64_t count = 0, values = 0;
  std::unique_ptr<float[]> samples;

  bool operator==(const Outcome& other) const {
    if (opened != other.opened || count != other.count || values != other.values) return false;
    for (int64_t i = 0; i < values; i++) {
      const float a = samples[static_cast<size_t>(i)], b = other.samples[static_cast<size_t>(i)];
      // What a NaN looks like depends on the order of operands.
      if (std::bit_cast<uint32_t>(a) != std::bit_cast<uint32_t>(b) && (a == a || b == b)) {
        return false;
      }
    }
    return true;
  }
};

/// Reads a part, then from the beginning on.
Outcome decode_with(const AudioBytes& source, bool vectors, int64_t part) {
  set_simd_enabled(vectors);
  Outcome outcome;
  const auto file = open_any(source);
  if (!file || file->frames > kMaxValues / file->channels) return outcome;
  outcome.opened = true;
  const int64_t most = file->frames * file->channels;
  if (part < file->frames) {
    const auto some = std::make_unique<int16_t[]>(static_cast<size_t>(file->channels));
    file->read(some.get(), part, 1);
  }
  outcome.samples = std::make_unique<float[]>(static_cast<size_t>(most));
  outcome.count = file->read(outcome.samples.get(), 0, file->frames);
  outcome.values = outcome.count * file->channels;
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: audio_fuzz DIRECTORY [ITERATIONS [SEED]]\n");
    return 2;
  }
  const std::vector<File> seeds = testing::read_seeds(argv[1]);
  const long iterations = argc > 2 ? std::atol(argv[2]) : 10000;
  Random random(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  if (seeds.empty()) {
    std::fprintf(stderr, "audio_fuzz: the directory holds no files, or an empty one\n");
    return 2;
  }
  int64_t opened = 0;
  for (long i = 0; i < iterations; ++i) {
    File file = seeds[random.below(seeds.size())];
    mutate(file, seeds, random);
    const auto data = testing::exact_copy(file);
    const AudioBytes source(data.get(), static_cast<int64_t>(file.size()));
    const auto part = static_cast<int64_t>(random.below(100000));
    const Outcome first = decode_with(source, true, part);
    if (!(first == decode_with(source, false, part))) {
      std::fprintf(stderr, "audio_fuzz: iteration %ld depends on vectors\n", i);
      return 1;
    }
    opened += first.opened;
  }
  std::printf("audio_fuzz: %ld files, %lld of them opened\n", iterations,
              static_cast<long long>(opened));
  return 0;
}
