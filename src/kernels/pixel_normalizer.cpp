// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "crop_mirror_normalize.h"
#include "rearrange.h"

namespace daliesque {

namespace {

// Long enough that a call costs little, short enough to stay in the first-level cache.
constexpr int64_t kPatternLength = 1024;

void reserve(std::vector<std::byte>& memory, int64_t bytes) {
  if (static_cast<int64_t>(memory.size()) < bytes) memory.resize(static_cast<size_t>(bytes));
}

}  // namespace

PixelNormalizer::PixelNormalizer(DType out, DType in, int64_t in_channels, int64_t out_channels,
                                 const float* mean, const float* scale, const void* padding)
    : rows_(out, in),
      is_rgb_to_float_(out == DType::float32 && in == DType::uint8 && in_channels == 3),
      in_size_(static_cast<int64_t>(dtype_size(in))),
      out_size_(static_cast<int64_t>(dtype_size(out))),
      in_channels_(in_channels),
      out_channels_(out_channels),
      mean_(mean, mean + in_channels),
      scale_(scale, scale + in_channels) {
  const auto* values = static_cast<const std::byte*>(padding);
  padding_.assign(values, values + (out_channels - in_channels) * out_size_);
}

/// Makes the input's channels dense planes in order, without copying where they are already.
const std::byte* PixelNormalizer::gather(const void* in, PixelSteps& steps, int64_t pixels,
                                         bool mirror) {
  const RearrangeLoops& loops = rearrange_loops();
  const auto* from = static_cast<const std::byte*>(in);
  const int64_t plane = pixels * in_size_;
  if (steps.pixel != in_size_) {
    reserve(in_planes_, plane * in_channels_);
    if (steps.channel == in_size_ && steps.pixel == in_channels_ * in_size_) {
      loops.split(in_planes_.data(), plane, from, pixels, in_channels_, in_size_);
    } else {
      for (int64_t c = 0; c < in_channels_; c++) {
        loops.copy_runs(in_planes_.data() + c * plane, in_size_, from + c * steps.channel,
                        steps.pixel, in_size_, pixels);
      }
    }
    from = in_planes_.data();
    steps = {in_size_, plane};
  }
  if (mirror) {
    reserve(mirrored_, plane * in_channels_);
    for (int64_t c = 0; c < in_channels_; c++) {
      loops.reverse(mirrored_.data() + c * plane, from + c * steps.channel, pixels, in_size_);
    }
    from = mirrored_.data();
    steps = {in_size_, plane};
  }
  return from;
}

void PixelNormalizer::fill_padding(std::byte* out, PixelSteps steps, int64_t pixels) const {
  for (int64_t c = in_channels_; c < out_channels_; c++) {
    rearrange_loops().copy_runs(out + c * steps.channel, steps.pixel,
                                padding_.data() + (c - in_channels_) * out_size_, 0, out_size_,
                                pixels);
  }
}

void PixelNormalizer::run(void* out, PixelSteps out_steps, const void* in, PixelSteps in_steps,
                          int64_t pixels, bool mirror) {
  auto* to = static_cast<std::byte*>(out);
  const bool in_interleaved =
      in_steps.channel == in_size_ && in_steps.pixel == in_channels_ * in_size_;
  const bool out_interleaved =
      out_steps.channel == out_size_ && out_steps.pixel == out_channels_ * out_size_;
  if (is_rgb_to_float_ && in_interleaved && out_steps.pixel == out_size_) {
    normalize_loops().rgb_to_planes(static_cast<float*>(out), out_steps.channel / out_size_,
                                    static_cast<const uint8_t*>(in), pixels, mirror, mean_.data(),
                                    scale_.data());
    fill_padding(to, out_steps, pixels);
    return;
  }
  if (in_interleaved && out_interleaved && in_channels_ == out_channels_) {
    run_interleaved(to, static_cast<const std::byte*>(in), pixels, mirror);
    return;
  }
  const std::byte* planes = gather(in, in_steps, pixels, mirror);
  std::byte* target = to;
  PixelSteps target_steps = out_steps;
  if (out_steps.pixel != out_size_) {
    reserve(out_planes_, pixels * out_channels_ * out_size_);
    target = out_planes_.data();
    target_steps = {out_size_, pixels * out_size_};
  }
  for (int64_t c = 0; c < in_channels_; c++) {
    rows_.run(target + c * target_steps.channel, planes + c * in_steps.channel, pixels,
              mean_[static_cast<size_t>(c)], scale_[static_cast<size_t>(c)], 0.0f);
  }
  fill_padding(target, target_steps, pixels);
  if (target == to) return;
  const RearrangeLoops& loops = rearrange_loops();
  if (out_interleaved) {
    loops.join(to, target, target_steps.channel, pixels, out_channels_, out_size_);
    return;
  }
  for (int64_t c = 0; c < out_channels_; c++) {
    loops.copy_runs(to + c * out_steps.channel, out_steps.pixel, target + c * target_steps.channel,
                    out_size_, out_size_, pixels);
  }
}

void PixelNormalizer::run_interleaved(std::byte* out, const std::byte* in, int64_t pixels,
                                      bool mirror) {
  if (mean_pattern_.empty()) {
    const int64_t repeats = std::max<int64_t>(1, kPatternLength / in_channels_);
    for (int64_t k = 0; k < repeats; k++) {
      mean_pattern_.insert(mean_pattern_.end(), mean_.begin(), mean_.end());
      scale_pattern_.insert(scale_pattern_.end(), scale_.begin(), scale_.end());
    }
  }
  const int64_t values = pixels * in_channels_;
  if (mirror) {
    reserve(mirrored_, values * in_size_);
    rearrange_loops().reverse(mirrored_.data(), in, pixels, in_channels_ * in_size_);
    in = mirrored_.data();
  }
  const auto length = static_cast<int64_t>(mean_pattern_.size());
  for (int64_t i = 0; i < values; i += length) {
    rows_.run_each(out + i * out_size_, in + i * in_size_, std::min(length, values - i),
                   mean_pattern_.data(), scale_pattern_.data(), 0.0f);
  }
}

void normalize_to_planes(void* out, DType out_type, const void* in, DType in_type,
                         const ImageToPlanes& image, const float* mean, const float* scale) {
  PixelNormalizer normalizer(out_type, in_type, image.channels, image.channels, mean, scale,
                             nullptr);
  const auto in_size = static_cast<int64_t>(dtype_size(in_type));
  const auto out_size = static_cast<int64_t>(dtype_size(out_type));
  for (int64_t row = 0; row < image.height; row++) {
    normalizer.run(static_cast<std::byte*>(out) + row * image.out_row_stride,
                   {out_size, image.out_plane_stride},
                   static_cast<const std::byte*>(in) + row * image.in_row_stride,
                   {image.channels * in_size, in_size}, image.width, image.mirror);
  }
}

}  // namespace daliesque
