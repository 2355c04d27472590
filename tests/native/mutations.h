// SPDX-License-Identifier: Apache-2.0
// Damages files at random, for tests of what reads them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace daliesque::testing {

/// `size` bytes of a number, the lowest first.
inline std::string little(uint64_t value, size_t size) {
  std::string bytes;
  for (size_t k = 0; k < size; k++) bytes += static_cast<char>(value >> (8 * k));
  return bytes;
}

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  /// A copy with a few faults.
  std::string damaged(std::string bytes) {
    for (size_t left = 1 + below(4); left > 0; left--) damage(bytes);
    return bytes;
  }

 private:
  void damage(std::string& bytes) {
    const size_t at = below(bytes.size());
    switch (below(7)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        overwrite(bytes, at, std::string(1, static_cast<char>(random_())));
        break;
      case 2:
        overwrite(bytes, at, little(extreme(), size_t{1} << below(4)));
        break;
      case 3:
        bytes.erase(at, 1 + below(16));
        break;
      case 4:
        bytes.insert(at, bytes.substr(below(bytes.size() + 1), 1 + below(32)));
        break;
      case 5:
        bytes.insert(at, std::to_string(extreme()));
        break;
      default:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
    }
  }

  static void overwrite(std::string& bytes, size_t at, const std::string& with) {
    std::copy_n(with.begin(), std::min(with.size(), bytes.size() - at),
                bytes.begin() + static_cast<int64_t>(at));
  }

  uint64_t extreme() {
    const uint64_t power = uint64_t{1} << below(64);
    return power + random_() % 3 - 1;
  }

  std::mt19937_64 random_;
};

}  // namespace daliesque::testing
