// SPDX-License-Identifier: Apache-2.0
// The inner loops behind color.h, one set for each instruction set.
#pragma once

#include <cstdint>

namespace daliesque::image {

/// out = matrix * (in - center) + offset for pixels of three channels.
struct ColorTransform {
  float matrix[3][3];
  float offset[3] = {};
  /// Subtracted from the input. Integers, because only conversions of bytes have such a center.
  int32_t center[3] = {};
  /// The input's or output's first and third channel are exchanged.
  bool reversed_in = false, reversed_out = false;
};

struct ColorLoops {
  void (*multiply_add)(float* out, const float* in, int64_t count, float multiplier, float addend);
  /// `streamed` results are written past the caches: a stream_fence() must follow.
  void (*multiply_add_bytes)(uint8_t* out, const uint8_t* in, int64_t count, float multiplier,
                             float addend, bool streamed);
  /// Ignores center and reversal.
  void (*transform)(float* out, const float* in, int64_t pixels, const ColorTransform& transform);
  void (*transform_bytes)(uint8_t* out, const uint8_t* in, int64_t pixels,
                          const ColorTransform& transform);
  /// (weights * pixel + 2^14) / 2^15, rounded down.
  void (*weigh_bytes)(uint8_t* out, const uint8_t* in, int64_t pixels, const int16_t weights[3]);
  void (*repeat_bytes)(uint8_t* out, const uint8_t* in, int64_t pixels);
  /// The other order of three channels. `streamed` as above, where that is faster.
  void (*reverse_bytes)(uint8_t* out, const uint8_t* in, int64_t pixels, bool streamed);
};

namespace portable {
extern const ColorLoops color_loops;
}
namespace avx2 {
extern const ColorLoops color_loops;
}
namespace avx512 {
extern const ColorLoops color_loops;
}

}  // namespace daliesque::image
