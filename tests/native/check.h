// SPDX-License-Identifier: Apache-2.0
// What the tests of the native core share: checks that end the program.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>

namespace daliesque::testing {

inline std::atomic<int64_t> checks{0};

/// Ends the program with status 1 if the condition does not hold. The rest says what was checked.
template <class... Parts>
void check(bool condition, const Parts&... parts) {
  checks.fetch_add(1, std::memory_order_relaxed);
  if (condition) return;
  std::cerr << "failed:";
  ((std::cerr << ' ' << parts), ...);
  std::cerr << std::endl;
  std::exit(1);
}

/// A shape as text, for `check`.
inline std::string text_of_shape(std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

/// What main() returns.
inline int passed(const char* name) {
  std::printf("%s: %lld checks passed\n", name, static_cast<long long>(checks.load()));
  return checks.load() == 0;
}

}  // namespace daliesque::testing
