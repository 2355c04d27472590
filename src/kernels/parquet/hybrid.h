// SPDX-License-Identifier: Apache-2.0
// Small numbers as runs of equal ones and groups of packed ones.
#pragma once

#include <cstdint>
#include <span>

#include "parquet/cursor.h"

namespace daliesque::parquet {

/// Reads numbers of a fixed number of bits, at most 32. Throws Undecoded.
class HybridReader {
 public:
  HybridReader() : cursor_({}) {}
  HybridReader(Bytes bytes, int bits);

  /// Fills `out` with the next numbers.
  void read(std::span<uint32_t> out);

  /// Whether the next `count` numbers all are `value`; afterwards only destruction makes sense if
  /// they are not.
  bool are_all(uint32_t value, int64_t count);

 private:
  void next_run();
  void unpack(std::span<uint32_t> out);

  Cursor cursor_;
  int bits_ = 0;
  int64_t left_ = 0;  ///< numbers left in the run
  bool packed_ = false;
  uint32_t value_ = 0;  ///< of a run of equal numbers
  Bytes group_;         ///< of packed ones
  size_t bit_ = 0;      ///< position in the group
};

}  // namespace daliesque::parquet
