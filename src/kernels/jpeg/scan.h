// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "jpeg/entropy.h"
#include "jpeg/geometry.h"

namespace daliesque::jpeg {

// Errors in scans of either kind.
inline constexpr const char* kNoHuffmanTables = "Huffman tables that are not in the file";
inline constexpr const char* kMissingComponents = "the image ends without all of its components";

/// The entropy-coded data of one scan after the other, unit by unit across restart markers.
class ScanData {
 public:
  /// What the next unit takes from those before; zero at the start and after each restart marker.
  struct Carry {
    int32_t predictions[kMaxComponents] = {};
    int32_t run = 0;  ///< blocks of a progressive scan whose bands have ended
  };

  ScanData(ScanReader* reader, const uint8_t* data, size_t size)
      : reader_(*reader), data_(data), size_(size) {}

  /// Starts the scan whose data begin at `offset`.
  void start(size_t offset, int restart_interval);

  /// Reads the next `count` units: calls `decode(reader, carry, begin, end)` for pieces of them.
  template <typename Decode>
  Result read(int count, const Decode& decode) {
    int done = 0;
    while (done < count) {
      if (restart_interval_ != 0 && until_restart_ == 0) {
        const Result result = restart();
        if (!result.ok()) return result;
      }
      const int end = restart_interval_ != 0 ? std::min(count, done + until_restart_) : count;
      const EntropyError error = decode(&reader_, &carry_, done, end);
      if (error != EntropyError::kNone) return entropy_failure(error);
      until_restart_ -= end - done;
      done = end;
    }
    return {};
  }

  /// Where the marker is that ends the scan.
  Result find_end(size_t* offset) const;

 private:
  Result restart();
  Result entropy_failure(EntropyError error) const;
  Result corrupt(const char* what, const uint8_t* where) const;

  ScanReader& reader_;
  const uint8_t* const data_;
  const size_t size_;
  Carry carry_;
  int restart_interval_ = 0;
  int until_restart_ = 0;
  int next_restart_ = 0;
};

}  // namespace daliesque::jpeg
