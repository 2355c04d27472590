// SPDX-License-Identifier: Apache-2.0
#include "resize/resample_filter.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace daliesque::resize {

namespace {

// All arithmetic here is in single precision and in the reference's order of operations: a
// difference of one rounding moves a sampling position, and with it every weight.

using Window = std::vector<float>;

template <class Function>
Window sample_window(int count, float extent, Function&& function) {
  Window window(static_cast<size_t>(count));
  for (int i = 0; i < count; i++) {
    const float centered = static_cast<float>(i) - static_cast<float>(count - 1) * 0.5f;
    window[static_cast<size_t>(i)] = function(extent * centered / static_cast<float>(count - 1));
  }
  return window;
}

float sinc(float x) {
  x = static_cast<float>(x * std::numbers::pi);
  if (std::abs(x) < 1e-5f) return 1.0f - x * x * (1.0f / 6);
  return std::sin(x) / x;
}

float cubic_window(float x) {
  x = std::abs(x);
  if (x >= 2) return 0;
  const float x2 = x * x;
  const float x3 = x2 * x;
  if (x > 1) return -0.5f * x3 + 2.5f * x2 - 4.0f * x + 2.0f;
  return 1.5f * x3 - 2.5f * x2 + 1.0f;
}

const Window& window_of(Interp type) {
  static const Window triangular{0, 1, 0};
  static const Window gaussian = sample_window(65, 4, [](float x) { return std::exp(-x * x); });
  static const Window cubic = sample_window(129, 4, cubic_window);
  static const Window lanczos3 = sample_window(
      193, 6, [](float x) { return std::abs(x) >= 3 ? 0.0f : sinc(x) * sinc(x / 3); });
  switch (type) {
    case Interp::gaussian:
      return gaussian;
    case Interp::cubic:
      return cubic;
    case Interp::lanczos3:
      return lanczos3;
    default:
      return triangular;
  }
}

/// Reads a window at x >= 0 with linear interpolation; it ends with a ramp to zero.
float read_window(const Window& window, float x) {
  if (x >= static_cast<float>(window.size())) return 0;
  const auto left = static_cast<size_t>(x);
  const float fraction = x - static_cast<float>(left);
  const float from = window[left];
  const float to = left + 1 < window.size() ? window[left + 1] : 0.0f;
  return from + fraction * (to - from);
}

/// What read_window gives for the samples 0, 1, 0; differences are exact. Without branches, which
/// no processor foresees.
float read_triangle(float x) { return std::max(0.0f, std::min(x, 2 - x)); }

template <class Read>
void fill_with(float* weights, int count, float offset, float scale, Read&& read) {
  float sum = 0;
  for (int k = 0; k < count; k++) {
    weights[k] = read((offset + static_cast<float>(k)) * scale);
    sum += weights[k];
  }
  if (sum == 0) return;
  for (int k = 0; k < count; k++) weights[k] /= sum;
}

void stretch(ResampleFilter& filter, float support) {
  const float old_scale = filter.scale;
  filter.scale = filter.intervals / support;
  filter.anchor = filter.anchor * old_scale / filter.scale;
}

/// The reference limits supports for the sake of GPU memory; the limit shows on the CPU, too.
constexpr int kMaxSupport = 8192;

}  // namespace

int ResampleFilter::support() const {
  return type == Interp::nearest ? 1 : static_cast<int>(std::ceil(intervals / scale));
}

void ResampleFilter::fill(float* weights, int count, float offset) const {
  if (type == Interp::triangular) return fill_with(weights, count, offset, scale, read_triangle);
  const Window& window = window_of(type);
  fill_with(weights, count, offset, scale, [&](float x) { return read_window(window, x); });
}

ResampleFilter choose_filter(Interp min_filter, Interp mag_filter, bool antialias, float in_size,
                             float out_size) {
  const bool shrinks = out_size < in_size;
  const Interp type = shrinks ? min_filter : mag_filter;
  ResampleFilter filter;
  if (type == Interp::nearest) return filter;
  filter.type = type == Interp::linear ? Interp::triangular : type;
  filter.intervals = static_cast<float>(window_of(filter.type).size() - 1);
  filter.anchor = 1;
  filter.scale = filter.intervals * 0.5f;
  const auto radius = [&](float base) {
    return shrinks && antialias ? base * in_size / out_size : base;
  };
  switch (filter.type) {
    case Interp::gaussian: {
      constexpr auto four_roots = static_cast<float>(4 * std::numbers::sqrt2);
      const auto sigma = static_cast<float>(radius(1) * 0.5f / std::numbers::sqrt2);
      stretch(filter, std::max(1.0f, four_roots * sigma));
      break;
    }
    case Interp::cubic:
      stretch(filter, 4);
      stretch(filter, 2.0f * std::max(2.0f, radius(2)));
      break;
    case Interp::lanczos3:
      stretch(filter, 6);
      stretch(filter, 2.0f * std::max(3.0f, radius(3)));
      break;
    default:
      stretch(filter, std::max(1.0f, 2 * radius(1)));
      break;
  }
  if (filter.support() > kMaxSupport) stretch(filter, kMaxSupport);
  return filter;
}

}  // namespace daliesque::resize
