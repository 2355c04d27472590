// SPDX-License-Identifier: Apache-2.0
// What the fuzzers share: files to begin with, and random changes to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace daliesque::testing {

using File = std::vector<uint8_t>;

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  size_t below(size_t limit) { return limit == 0 ? 0 : engine_() % limit; }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<size_t>(high - low + 1)));
  }
  bool chance(size_t one_in) { return below(one_in) == 0; }

 private:
  std::mt19937_64 engine_;
};

/// The files in a directory and below; none if one of them is empty.
inline std::vector<File> read_seeds(const char* directory) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<File> seeds;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (seeds.back().empty()) return {};
  }
  return seeds;
}

/// Changes a byte to one of those that mean something to a format, or to any.
inline uint8_t random_byte(std::span<const uint8_t> interesting, Random& random) {
  return random.chance(2) ? interesting[random.below(interesting.size())]
                          : static_cast<uint8_t>(random.below(256));
}

/// One change somewhere: bits, bytes, pieces that go, come twice or come from another file.
inline void damage_anywhere(File& file, const std::vector<File>& seeds,
                            std::span<const uint8_t> interesting, Random& random) {
  if (file.empty()) return;
  const size_t at = random.below(file.size());
  const size_t length = std::min(random.below(64) + 1, file.size() - at);
  const auto here = file.begin() + static_cast<ptrdiff_t>(at);
  switch (random.below(7)) {
    case 0:
      *here ^= static_cast<uint8_t>(1 << random.below(8));
      break;
    case 1:
      *here = static_cast<uint8_t>(random.below(256));
      break;
    case 2:
      *here = interesting[random.below(interesting.size())];
      break;
    case 3:
      file.resize(at);
      break;
    case 4:
      file.erase(here, here + static_cast<ptrdiff_t>(length));
      break;
    case 5: {
      const File piece(here, here + static_cast<ptrdiff_t>(length));
      file.insert(file.begin() + static_cast<ptrdiff_t>(random.below(file.size())), piece.begin(),
                  piece.end());
      break;
    }
    default: {
      const File& other = seeds[random.below(seeds.size())];
      const size_t from = random.below(other.size());
      const size_t count = std::min({length, other.size() - from, file.size() - at});
      std::copy_n(other.begin() + static_cast<ptrdiff_t>(from), count, here);
    }
  }
}

/// A copy in a heap block of its exact size, so that a sanitizer sees any access beyond it.
inline std::unique_ptr<uint8_t[]> exact_copy(const File& file) {
  auto copy = std::make_unique_for_overwrite<uint8_t[]>(file.size());
  std::copy(file.begin(), file.end(), copy.get());
  return copy;
}

}  // namespace daliesque::testing
