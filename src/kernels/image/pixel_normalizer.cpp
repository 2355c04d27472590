// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "core/rearrange.h"
#include "image/crop_mirror_normalize.h"

namespace daliesque::image {

namespace {

// Long enough that a call costs little, short enough to stay in the first-level cache.
constexpr int64_t kPatternLength = 1024;

template <class T>
T* reserve(std::vector<T>& memory, int64_t count) {
  if (static_cast<int64_t>(memory.size()) < count) memory.resize(static_cast<size_t>(count));
  return memory.data();
}

}  // namespace

PixelNormalizer::PixelNormalizer(Types types, Channels channels, const float* mean,
                                 const float* scale, const void* padding)
    : rows_(types.out, types.in),
      channels_(channels),
      in_size_(static_cast<int64_t>(dtype_size(types.in))),
      out_size_(static_cast<int64_t>(dtype_size(types.out))),
      is_rgb_(types.in == DType::uint8 && channels.in == 3),
      is_float_(types.out == DType::float32),
      mean_(mean, mean + channels.in),
      scale_(scale, scale + channels.in) {
  const auto* values = static_cast<const std::byte*>(padding);
  padding_.assign(values, values + (channels.out - channels.in) * out_size_);
}

bool PixelNormalizer::is_interleaved(PixelSteps steps, int64_t size, int64_t channels) const {
  return steps.channel == size && steps.pixel == channels * size;
}

void PixelNormalizer::run(void* out, PixelSteps out_steps, const void* in, PixelSteps in_steps,
                          int64_t pixels, bool mirror) {
  auto* to = static_cast<std::byte*>(out);
  if (channels_.in == channels_.out && is_interleaved(in_steps, in_size_, channels_.in) &&
      is_interleaved(out_steps, out_size_, channels_.out)) {
    run_interleaved(to, static_cast<const std::byte*>(in), pixels, mirror);
    return;
  }
  if (out_steps.pixel == out_size_) {
    make_planes(to, out_steps.channel, in, in_steps, pixels, mirror);
    return;
  }
  std::byte* planes = reserve(out_planes_, pixels * channels_.out * out_size_);
  make_planes(planes, pixels * out_size_, in, in_steps, pixels, mirror);
  write_planes(to, out_steps, planes, pixels);
}

/// Makes a dense row of each output channel, `plane_step` bytes apart.
void PixelNormalizer::make_planes(std::byte* planes, int64_t plane_step, const void* in,
                                  PixelSteps steps, int64_t pixels, bool mirror) {
  if (is_rgb_ && is_interleaved(steps, in_size_, channels_.in)) {
    auto* values = reinterpret_cast<float*>(planes);
    int64_t step = plane_step / out_size_;
    if (!is_float_) {
      values = reserve(float_planes_, pixels * 3);
      step = pixels;
    }
    tensor::normalize_loops().rgb_to_planes(values, step, static_cast<const uint8_t*>(in), pixels,
                                            mirror, mean_.data(), scale_.data());
    for (int64_t c = 0; c < 3 && !is_float_; c++) {
      rows_.store(planes + c * plane_step, values + c * step, pixels);
    }
  } else {
    const std::byte* from = gather(in, steps, pixels, mirror);
    for (int64_t c = 0; c < channels_.in; c++) {
      rows_.run(planes + c * plane_step, from + c * steps.channel, pixels,
                mean_[static_cast<size_t>(c)], scale_[static_cast<size_t>(c)], 0.0f);
    }
  }
  fill_padding(planes, plane_step, pixels);
}

/// Makes the input's channels dense planes in order, without copying where they are already.
const std::byte* PixelNormalizer::gather(const void* in, PixelSteps& steps, int64_t pixels,
                                         bool mirror) {
  const RearrangeLoops& loops = rearrange_loops();
  const auto* from = static_cast<const std::byte*>(in);
  const int64_t plane = pixels * in_size_;
  if (steps.pixel != in_size_) {
    std::byte* planes = reserve(in_planes_, plane * channels_.in);
    if (is_interleaved(steps, in_size_, channels_.in)) {
      loops.split(planes, plane, from, pixels, channels_.in, in_size_);
    } else {
      for (int64_t c = 0; c < channels_.in; c++) {
        loops.copy_runs(planes + c * plane, in_size_, from + c * steps.channel, steps.pixel,
                        in_size_, pixels);
      }
    }
    from = planes;
    steps = {in_size_, plane};
  }
  if (mirror) {
    std::byte* planes = reserve(mirrored_, plane * channels_.in);
    for (int64_t c = 0; c < channels_.in; c++) {
      loops.reverse(planes + c * plane, from + c * steps.channel, pixels, in_size_);
    }
    from = planes;
    steps = {in_size_, plane};
  }
  return from;
}

void PixelNormalizer::fill_padding(std::byte* planes, int64_t plane_step, int64_t pixels) const {
  for (int64_t c = channels_.in; c < channels_.out; c++) {
    rearrange_loops().copy_runs(planes + c * plane_step, out_size_,
                                padding_.data() + (c - channels_.in) * out_size_, 0, out_size_,
                                pixels);
  }
}

void PixelNormalizer::write_planes(std::byte* out, PixelSteps steps, const std::byte* planes,
                                   int64_t pixels) const {
  const RearrangeLoops& loops = rearrange_loops();
  const int64_t plane = pixels * out_size_;
  if (is_interleaved(steps, out_size_, channels_.out)) {
    loops.join(out, planes, plane, pixels, channels_.out, out_size_);
    return;
  }
  for (int64_t c = 0; c < channels_.out; c++) {
    loops.copy_runs(out + c * steps.channel, steps.pixel, planes + c * plane, out_size_, out_size_,
                    pixels);
  }
}

void PixelNormalizer::run_interleaved(std::byte* out, const std::byte* in, int64_t pixels,
                                      bool mirror) {
  if (mean_pattern_.empty()) {
    const int64_t repeats = std::max<int64_t>(1, kPatternLength / channels_.in);
    for (int64_t k = 0; k < repeats; k++) {
      mean_pattern_.insert(mean_pattern_.end(), mean_.begin(), mean_.end());
      scale_pattern_.insert(scale_pattern_.end(), scale_.begin(), scale_.end());
    }
  }
  const int64_t values = pixels * channels_.in;
  if (mirror) {
    std::byte* reversed = reserve(mirrored_, values * in_size_);
    rearrange_loops().reverse(reversed, in, pixels, channels_.in * in_size_);
    in = reversed;
  }
  const auto length = static_cast<int64_t>(mean_pattern_.size());
  for (int64_t i = 0; i < values; i += length) {
    rows_.run_each(out + i * out_size_, in + i * in_size_, std::min(length, values - i),
                   mean_pattern_.data(), scale_pattern_.data(), 0.0f);
  }
}

}  // namespace daliesque::image
