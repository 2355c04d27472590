// SPDX-License-Identifier: Apache-2.0
// Crop, mirror, normalize, convert and reorder the axes of images in one pass.
#pragma once

#include <cstdint>
#include <vector>

#include "core/per_sample.h"
#include "core/samples.h"
#include "tensor/normalize_rows.h"

namespace daliesque::image {

/// A row of pixels in memory: where the next pixel and the next channel are, in bytes.
struct PixelSteps {
  int64_t pixel, channel;
};

/// Normalizes rows of pixels, between any two orders of pixels and channels. Holds working memory:
/// one object serves one thread.
class PixelNormalizer {
 public:
  struct Types {
    DType out, in;
  };
  struct Channels {
    int64_t in, out;
  };

  /// `mean` and `scale` hold one value for each input channel: out = (in - mean) * scale. Output
  /// channels that the input lacks become the elements at `padding` (of the output type).
  PixelNormalizer(Types types, Channels channels, const float* mean, const float* scale,
                  const void* padding);

  void run(void* out, PixelSteps out_steps, const void* in, PixelSteps in_steps, int64_t pixels,
           bool mirror);

 private:
  bool is_interleaved(PixelSteps steps, int64_t size, int64_t channels) const;
  void run_interleaved(std::byte* out, const std::byte* in, int64_t pixels, bool mirror);
  void make_planes(std::byte* planes, int64_t plane_step, const void* in, PixelSteps steps,
                   int64_t pixels, bool mirror);
  const std::byte* gather(const void* in, PixelSteps& steps, int64_t pixels, bool mirror);
  void fill_padding(std::byte* planes, int64_t plane_step, int64_t pixels) const;
  void write_planes(std::byte* out, PixelSteps steps, const std::byte* planes,
                    int64_t pixels) const;

  tensor::RowNormalizer rows_;
  Channels channels_;
  int64_t in_size_, out_size_;
  bool is_rgb_, is_float_;
  std::vector<float> mean_, scale_;
  std::vector<float> mean_pattern_, scale_pattern_;  // several interleaved pixels
  std::vector<std::byte> padding_;
  // Rows in the making.
  std::vector<std::byte> in_planes_, mirrored_, out_planes_;
  std::vector<float> float_planes_;
};

struct CropMirrorNormalizeArgs {
  PerSample<int64_t> anchors;    ///< where the window begins, for each input axis
  std::vector<int> permutation;  ///< input axis of each output axis
  PerSample<int32_t> mirror;     ///< not zero: reverse the width axis
  PerSample<float> mean, std;    ///< one value, or one for each input channel; std is not 0
  float scale, shift;            ///< out = scale * (in - mean) / std + shift; scale is not 0
  PerSample<float> fill;         ///< one value, or one for each output channel
  int width_axis, channel_axis;  ///< of the input
};

/// Sample i of `out` becomes the window of sample i of `in` whose shape is that of the output with
/// its axes in input order; what lies outside the input gets the fill value as it is.
void crop_mirror_normalize(Samples& out, const Samples& in, const CropMirrorNormalizeArgs& args);

}  // namespace daliesque::image
