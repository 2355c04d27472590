// SPDX-License-Identifier: Apache-2.0
#include "image/curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/convert.h"
#include "core/errors.h"
#include "core/parallel.h"
#include "core/saturate.h"
#include "core/stream.h"
#include "image/byte_statistics.h"
#include "tensor/lookup.h"

namespace daliesque::image {

namespace {

constexpr double kCurveNanosecondsPerByte = 0.1, kCurveNanosecondsPerValue = 2.0;
// Values are loaded, changed and stored in blocks that stay in the cache.
constexpr int64_t kCurveBlock = 1536;

/// The highest value of a type, and how many bits it takes; 1 and 0 for floating-point types.
struct Range {
  float highest = 1;
  int bits = 0;

  explicit Range(DType type) {
    dispatch(NumericTypes{}, type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<T>) {
        highest = static_cast<float>(std::numeric_limits<T>::max());
        bits = std::numeric_limits<T>::digits;
      }
    });
  }
};

/// A curve with its parameters.
class Function {
 public:
  Function(Curve curve, const float* parameters, Range range)
      : curve_(curve), a_(parameters[0]), b_(parameters[1]), range_(range) {
    if (curve == Curve::posterize) {
      step_ = std::ldexp(1.0f, range.bits - static_cast<int>(a_));
      if (range.bits && step_ < 1) step_ = 1;
    }
  }

  float operator()(float value) const {
    switch (curve_) {
      case Curve::invert:
        return range_.highest - value;
      case Curve::solarize:
        return value < a_ ? value : range_.highest - value;
      case Curve::add_below:
        return value < a_ ? value + b_ : value;
      case Curve::posterize:
        return posterized(value);
      case Curve::gamma:
        return std::clamp(range_.highest * (b_ * std::pow(value / range_.highest, a_)), 0.0f,
                          range_.highest);
      case Curve::shift:
        return value + a_;
      case Curve::stretch:
        return (value - a_) * b_;
      case Curve::contrast:
        return a_ + (value - a_) * b_;
    }
    return value;
  }

 private:
  float posterized(float value) const {
    if (range_.bits) return std::floor(value / step_) * step_;
    return std::clamp(std::floor(value / step_), 0.0f, 1 / step_ - 1) * step_;
  }

  Curve curve_;
  float a_, b_, step_ = 1;
  Range range_;
};

/// The planes of a sample: `count` of them, each with pixels of `channels` values.
struct Planes {
  int64_t count, pixels, channels;

  Planes(const Samples& in, int64_t i, int outer) {
    const Shape shape = in.shape(i);
    const auto first = static_cast<size_t>(outer);
    count = outer ? shape[0] : 1;
    channels = shape.size() > first + 2 ? volume(shape.subspan(first + 2)) : 1;
    pixels = shape[first] * shape[first + 1];
  }

  int64_t volume_of_plane() const { return pixels * channels; }
};

/// What a function does to bytes.
tensor::ByteTable table_of(const Function& function) {
  tensor::ByteTable table;
  for (size_t value = 0; value < table.size(); value++) {
    table[value] = saturate<uint8_t>(function(static_cast<float>(value)));
  }
  return table;
}

/// Replaces the bytes of a plane, those of channel c by functions[c], or all by the only one.
void change_bytes(uint8_t* out, const uint8_t* in, const Planes& planes,
                  const std::vector<Function>& functions, bool streamed) {
  std::vector<tensor::ByteTable> tables;
  for (const Function& function : functions) tables.push_back(table_of(function));
  if (functions.size() == 1) {
    tensor::look_up_bytes(out, in, planes.volume_of_plane(), 1, tables.data(), streamed);
  } else {
    tensor::look_up_bytes(out, in, planes.pixels, planes.channels, tables.data(), streamed);
  }
  if (streamed) stream_fence();
}

void change_values(std::byte* out, const std::byte* in, DType type, int64_t count,
                   const std::vector<Function>& functions) {
  const ConvertLoop load = convert_loop(DType::float32, type);
  const ConvertLoop store = convert_loop(type, DType::float32);
  const size_t size = dtype_size(type);
  const auto channels = static_cast<int64_t>(functions.size());
  float values[kCurveBlock];
  int64_t channel = 0;
  for (int64_t at = 0; at < count; at += kCurveBlock) {
    const int64_t length = std::min(kCurveBlock, count - at);
    load(values, in + static_cast<size_t>(at) * size, length);
    for (int64_t k = 0; k < length; k++) {
      values[k] = functions[static_cast<size_t>(channel)](values[k]);
      if (++channel == channels) channel = 0;
    }
    store(out + static_cast<size_t>(at) * size, values, length);
  }
}

/// Runs find(i, plane, planes) -> functions over the planes of all samples and applies them.
template <class Find>
void change_planes(Samples& out, const Samples& in, int outer, Find&& find) {
  struct Plane {
    int64_t sample, number;
  };
  std::vector<Plane> list;
  for (int64_t i = 0; i < in.size(); i++) {
    if (in.volume(i) == 0) continue;
    const int64_t count = Planes(in, i, outer).count;
    for (int64_t p = 0; p < count; p++) list.push_back({i, p});
  }
  const bool bytes = in.dtype() == DType::uint8;
  const bool streamed = bytes && exceeds_caches(out, in);
  const size_t size = in.itemsize();
  parallel_for(
      static_cast<int64_t>(list.size()),
      [&](int64_t k) {
        const Planes planes(in, list[static_cast<size_t>(k)].sample, outer);
        return static_cast<double>(planes.volume_of_plane()) *
               (bytes ? kCurveNanosecondsPerByte : kCurveNanosecondsPerValue);
      },
      [&](int64_t k) {
        const Plane& plane = list[static_cast<size_t>(k)];
        const Planes planes(in, plane.sample, outer);
        const auto offset = static_cast<size_t>(plane.number * planes.volume_of_plane()) * size;
        const std::byte* from = in.data<const std::byte>(plane.sample) + offset;
        std::byte* to = out.data<std::byte>(plane.sample) + offset;
        const std::vector<Function> functions = find(plane.sample, plane.number, planes, from);
        if (bytes) {
          change_bytes(reinterpret_cast<uint8_t*>(to), reinterpret_cast<const uint8_t*>(from),
                       planes, functions, streamed);
        } else {
          change_values(to, from, in.dtype(), planes.volume_of_plane(), functions);
        }
      });
}

/// Calls visit(value, channel) for the values of a plane, as floats.
template <class Visit>
void for_values(const std::byte* in, DType type, const Planes& planes, Visit&& visit) {
  const ConvertLoop load = convert_loop(DType::float32, type);
  float values[kCurveBlock];
  const int64_t count = planes.volume_of_plane();
  int64_t channel = 0;
  for (int64_t at = 0; at < count; at += kCurveBlock) {
    const int64_t length = std::min(kCurveBlock, count - at);
    load(values, in + static_cast<size_t>(at) * dtype_size(type), length);
    for (int64_t k = 0; k < length; k++) {
      visit(values[k], static_cast<size_t>(channel));
      if (++channel == planes.channels) channel = 0;
    }
  }
}

struct Extremes {
  float lowest = std::numeric_limits<float>::infinity();
  float highest = -std::numeric_limits<float>::infinity();
};

/// Lowest and highest value of each channel.
std::vector<Extremes> find_extremes(const std::byte* in, DType type, const Planes& planes) {
  std::vector<Extremes> found(static_cast<size_t>(planes.channels));
  if (type == DType::uint8) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(in);
    found.clear();
    for (const ByteRange& range : find_ranges(bytes, planes.pixels, planes.channels)) {
      found.push_back({static_cast<float>(range.lowest), static_cast<float>(range.highest)});
    }
    return found;
  }
  for_values(in, type, planes, [&](float value, size_t channel) {
    found[channel].lowest = std::min(found[channel].lowest, value);
    found[channel].highest = std::max(found[channel].highest, value);
  });
  return found;
}

/// The mean of all values of some pixels; that of three channels weighted by what red, green and
/// blue add to luminance, as the reference does.
float mean_luminance(const std::vector<double>& sums, int64_t pixels) {
  const auto count = static_cast<double>(pixels);
  if (sums.size() == 3) {
    constexpr float kWeights[] = {0.299f, 0.587f, 0.114f};
    float luminance = 0;
    for (size_t c = 0; c < 3; c++) luminance += static_cast<float>(sums[c] / count) * kWeights[c];
    return luminance;
  }
  double total = 0;
  for (double sum : sums) total += sum;
  return static_cast<float>(total / (count * static_cast<double>(sums.size())));
}

/// The sum of the values of each channel.
std::vector<double> sum_channels(const std::byte* in, DType type, const Planes& planes) {
  if (type == DType::uint8) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(in);
    const std::vector<int64_t> exact = sum_bytes(bytes, planes.pixels, planes.channels);
    return {exact.begin(), exact.end()};
  }
  std::vector<double> sums(static_cast<size_t>(planes.channels));
  for_values(in, type, planes, [&](float value, size_t channel) { sums[channel] += value; });
  return sums;
}

/// The function that stretches a range over another one from 0 on.
Function stretching(Extremes own, Range range) {
  const float extent = own.highest - own.lowest;
  const float stretch[] = {own.lowest, range.highest / extent}, nothing[] = {0, 1};
  return Function(Curve::stretch, extent > 0 ? stretch : nothing, range);
}

Function contrasting(const std::vector<double>& sums, int64_t pixels, float factor, Range range) {
  const float parameters[] = {mean_luminance(sums, pixels), factor};
  return Function(Curve::contrast, parameters, range);
}

}  // namespace

void apply_curve(Samples& out, const Samples& in, Curve curve, PerSample<float> parameters,
                 int outer) {
  const Range range(in.dtype());
  const int64_t given = parameters.width() / 2;
  change_planes(out, in, outer,
                [&](int64_t i, int64_t plane, const Planes& planes, const std::byte*) {
                  const float* row = parameters.row(i);
                  std::vector<Function> functions;
                  if (given == 1) {
                    functions.emplace_back(curve, row, range);
                  } else if (given != planes.count * planes.channels) {
                    throw UsageError("parameters do not fit the channels");
                  } else {
                    for (int64_t c = 0; c < planes.channels; c++) {
                      functions.emplace_back(curve, row + 2 * (plane * planes.channels + c), range);
                    }
                  }
                  return functions;
                });
}

void autocontrast(Samples& out, const Samples& in, int outer) {
  const Range range(in.dtype());
  change_planes(out, in, outer,
                [&](int64_t, int64_t, const Planes& planes, const std::byte* plane) {
                  std::vector<Function> functions;
                  for (const Extremes& own : find_extremes(plane, in.dtype(), planes)) {
                    functions.push_back(stretching(own, range));
                  }
                  return functions;
                });
}

void mean_contrast(Samples& out, const Samples& in, PerSample<float> factor) {
  const Range range(in.dtype());
  change_planes(out, in, 0, [&](int64_t i, int64_t, const Planes& planes, const std::byte* plane) {
    return std::vector<Function>{
        contrasting(sum_channels(plane, in.dtype(), planes), planes.pixels, factor[i], range)};
  });
}

tensor::ByteTable curve_table(Curve curve, const float* parameters) {
  return table_of(Function(curve, parameters, Range(DType::uint8)));
}

tensor::ByteTable autocontrast_table(ByteRange range) {
  const Extremes own{static_cast<float>(range.lowest), static_cast<float>(range.highest)};
  return table_of(stretching(own, Range(DType::uint8)));
}

tensor::ByteTable mean_contrast_table(const std::vector<int64_t>& sums, int64_t pixels,
                                      float factor) {
  return table_of(contrasting({sums.begin(), sums.end()}, pixels, factor, Range(DType::uint8)));
}

}  // namespace daliesque::image
