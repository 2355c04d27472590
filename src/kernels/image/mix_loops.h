// SPDX-License-Identifier: Apache-2.0
// The inner loops behind mix.h and row_shift.h, one set for each instruction set.
#pragma once

#include <cstdint>

namespace daliesque::image {

struct MixLoops {
  /// sums += weight * in.
  void (*add_bytes)(float* sums, const uint8_t* in, int64_t count, float weight);
  void (*add)(float* sums, const float* in, int64_t count, float weight);
  /// Rounds halves up and clamps.
  void (*round_to_bytes)(uint8_t* out, const float* in, int64_t count);
  /// The sum of two or four bytes with weights, which are not negative and add up to 2^14, rounded.
  void (*blend_two)(uint8_t* out, const uint8_t* const* in, int64_t count, const int16_t* weights);
  void (*blend_four)(uint8_t* out, const uint8_t* const* in, int64_t count, const int16_t* weights);
};

namespace portable {
extern const MixLoops mix_loops;
}
namespace avx2 {
extern const MixLoops mix_loops;
}

}  // namespace daliesque::image
