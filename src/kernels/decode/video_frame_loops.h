// SPDX-License-Identifier: Apache-2.0
// The inner loops behind video_frame.h, one set for each instruction set.
#pragma once

#include <cstdint>

namespace daliesque::decode {

/// YCbCr to RGB in units of 2^-13; green has a negative share of both chroma values.
struct YuvWeights {
  int16_t luma, red_of_v, green_of_u, green_of_v, blue_of_u, luma_zero;
};

struct VideoLoops {
  /// out[i] = 3 * near[i] + far[i].
  void (*blend_chroma)(int16_t* out, const uint8_t* near, const uint8_t* far, int64_t count);
  /// A row of pixels. `u` and `v` are chroma sums of weight 4, one for each pixel.
  void (*convert_row)(uint8_t* out, const uint8_t* luma, const int16_t* u, const int16_t* v,
                      int64_t width, const YuvWeights& weights);
  /// The same with one chroma sum for two pixels; u[-1], u[width / 2] and those of v are read too.
  void (*convert_row_halved)(uint8_t* out, const uint8_t* luma, const int16_t* u, const int16_t* v,
                             int64_t width, const YuvWeights& weights);
};

namespace portable {
extern const VideoLoops video_loops;
}
namespace avx2 {
extern const VideoLoops video_loops;
}

}  // namespace daliesque::decode
