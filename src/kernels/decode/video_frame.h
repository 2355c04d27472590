// SPDX-License-Identifier: Apache-2.0
// From the planes of decoded video to pixels.
#pragma once

#include <cstdint>

namespace daliesque::decode {

/// Luma and two chroma planes of bytes; strides in bytes. Chroma may have half the width (x_shift)
/// or height (y_shift) of luma, which then must be even.
struct VideoFrame {
  const uint8_t* planes[3];
  int64_t strides[3];
  int64_t height, width;
  bool x_shift, y_shift;
  /// Luma from 0 to 255, rather than from 16 to 235.
  bool full_range;
};

/// Writes height * width RGB pixels: ITU-R BT.601, chroma interpolated linearly between the centers
/// of its samples. Bit for bit what FFmpeg's swscale gives with SWS_BILINEAR, SWS_FULL_CHR_H_INT
/// and SWS_ACCURATE_RND, but for colors so far outside of RGB that swscale's sums overflow.
void video_frame_to_rgb(uint8_t* out, const VideoFrame& frame);

}  // namespace daliesque::decode
