// SPDX-License-Identifier: Apache-2.0
// The loops of a FLAC decoder.
#pragma once

#include <cstdint>

#include "core/simd.h"

namespace daliesque::audio {

constexpr int kMostFlacOrder = 32;

/// Bits that are read from bytes, the highest of each byte first. After the last byte there are
/// zeros.
struct FlacBits {
  const uint8_t* at;   ///< the next byte to take into the cache
  const uint8_t* end;  ///< behind the last byte
  uint64_t cache;      ///< the next bits, the first of them on top
  int left;            ///< how many of them count
  int64_t beyond;      ///< how many bytes were taken from behind the end
};

/// How samples are predicted from those before: coefficients[0] goes with the last one.
struct FlacPredictor {
  const int32_t* coefficients;
  int order, shift;
};

struct FlacLoops {
  /// Reads numbers in a Rice code; false if there are no more bits.
  bool (*read_rice)(FlacBits& bits, int32_t* out, int64_t count, int parameter);
  /// Adds predictions to all values but the first ones.
  void (*restore_predicted)(int32_t* values, int64_t count, const FlacPredictor& predictor);
  /// The same for polynomials through the last `order` values, up to 4.
  void (*restore_fixed)(int32_t* values, int64_t count, int order);
};

namespace portable {
extern const FlacLoops flac_loops;
}
namespace avx2 {
extern const FlacLoops flac_loops;
}

}  // namespace daliesque::audio
