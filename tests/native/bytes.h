// SPDX-License-Identifier: Apache-2.0
// Samples of bytes for tests of what reads files.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "core/samples.h"

namespace daliesque::testing {

/// A sample of bytes in a block of its own.
inline Samples sample_of(const std::string& bytes) {
  const std::shared_ptr<char[]> data(new char[bytes.size()]);
  std::memcpy(data.get(), bytes.data(), bytes.size());
  return Samples::wrap(DType::uint8, {static_cast<int64_t>(bytes.size())}, {}, data.get(), data,
                       true, false);
}

inline std::string_view text_of(const Samples& sample) {
  return {sample.data<char>(0), static_cast<size_t>(sample.volume(0))};
}

/// Looks at every byte, as whoever gets the samples may.
inline uint64_t sum(const Samples& samples) {
  uint64_t total = 0;
  for (int64_t i = 0; i < samples.size(); i++) {
    const auto* data = samples.data<uint8_t>(i);
    const auto bytes = static_cast<size_t>(samples.volume(i)) * samples.itemsize();
    for (size_t k = 0; k < bytes; k++) total += data[k];
  }
  return total;
}

}  // namespace daliesque::testing
