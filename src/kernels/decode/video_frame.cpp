// SPDX-License-Identifier: Apache-2.0
#include "decode/video_frame.h"

#include <algorithm>
#include <vector>

#include "core/simd.h"
#include "decode/video_frame_loops.h"

namespace daliesque::decode {

namespace {

// ITU-R BT.601 as FFmpeg rounds it. With the full range the chroma weights are 224 / 255 of those
// for the range of video, and the luma weight is 219 / 255 of it: one.
constexpr YuvWeights kVideoRange = {9539, 13075, -3209, -6660, 16525, 16};
constexpr YuvWeights kFullRange = {8192, 11485, -2819, -5850, 14516, 0};

// Vector loads of chroma sums may reach this far past the end of a row.
constexpr size_t kPadding = 32;

const VideoLoops& video_loops() { return DALIESQUE_CHOOSE(video_loops); }

}  // namespace

void video_frame_to_rgb(uint8_t* out, const VideoFrame& frame) {
  const VideoLoops& loops = video_loops();
  const YuvWeights& weights = frame.full_range ? kFullRange : kVideoRange;
  const int64_t chroma_height = frame.height >> frame.y_shift;
  const int64_t chroma_width = frame.width >> frame.x_shift;
  const size_t row_size = static_cast<size_t>(chroma_width) + 2 * kPadding;
  std::vector<int16_t> rows(2 * row_size);
  for (int64_t y = 0; y < frame.height; y++) {
    // Of two output rows, the upper one lies between its chroma row and the one above it.
    const int64_t near = y >> frame.y_shift;
    const int64_t other = near + (frame.y_shift ? (y & 1 ? 1 : -1) : 0);
    const int64_t far = std::clamp<int64_t>(other, 0, chroma_height - 1);
    int16_t* sums[2];
    for (int k = 0; k < 2; k++) {
      sums[k] = rows.data() + static_cast<size_t>(k) * row_size + kPadding;
      const uint8_t* plane = frame.planes[k + 1];
      const int64_t stride = frame.strides[k + 1];
      loops.blend_chroma(sums[k], plane + near * stride, plane + far * stride, chroma_width);
      sums[k][-1] = sums[k][0];
      sums[k][chroma_width] = sums[k][chroma_width - 1];
    }
    const uint8_t* luma = frame.planes[0] + y * frame.strides[0];
    const auto convert = frame.x_shift ? loops.convert_row_halved : loops.convert_row;
    convert(out + y * frame.width * 3, luma, sums[0], sums[1], frame.width, weights);
  }
}

}  // namespace daliesque::decode
