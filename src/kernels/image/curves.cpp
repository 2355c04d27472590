// SPDX-License-Identifier: Apache-2.0
#include "image/curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/convert.h"
#include "core/errors.h"
#include "core/parallel.h"
#include "core/saturate.h"
#include "core/stream.h"
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

/// Replaces the bytes of a plane, those of channel c by functions[c], or all by the only one.
void change_bytes(uint8_t* out, const uint8_t* in, const Planes& planes,
                  const std::vector<Function>& functions, bool streamed) {
  const auto tables = std::make_unique_for_overwrite<uint8_t[][256]>(functions.size());
  for (size_t c = 0; c < functions.size(); c++) {
    for (int value = 0; value < 256; value++) {
      tables[c][value] = saturate<uint8_t>(functions[c](static_cast<float>(value)));
    }
  }
  if (functions.size() == 1) {
    tensor::look_up_bytes(out, in, planes.volume_of_plane(), 1, tables.get(), streamed);
  } else {
    tensor::look_up_bytes(out, in, planes.pixels, planes.channels, tables.get(), streamed);
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
    // Rows of as many bytes as there are channels times lanes: loops over lanes are vectors.
    constexpr int64_t kLanes = 64;
    const int64_t width = planes.channels * kLanes, rows = planes.volume_of_plane() / width;
    std::vector<uint8_t> low(static_cast<size_t>(width), 255), high(low.size(), 0);
    const auto* bytes = reinterpret_cast<const uint8_t*>(in);
    for (int64_t r = 0; r < rows; r++) {
      const uint8_t* row = bytes + r * width;
      for (size_t k = 0; k < low.size(); k++) {
        low[k] = std::min(low[k], row[k]);
        high[k] = std::max(high[k], row[k]);
      }
    }
    const auto add = [&](size_t channel, uint8_t lowest, uint8_t highest) {
      Extremes& own = found[channel];
      own.lowest = std::min(own.lowest, static_cast<float>(lowest));
      own.highest = std::max(own.highest, static_cast<float>(highest));
    };
    const size_t channels = found.size();
    if (rows) {
      for (size_t k = 0; k < low.size(); k++) add(k % channels, low[k], high[k]);
    }
    for (int64_t k = rows * width; k < planes.volume_of_plane(); k++) {
      add(static_cast<size_t>(k) % channels, bytes[k], bytes[k]);
    }
    return found;
  }
  for_values(in, type, planes, [&](float value, size_t channel) {
    found[channel].lowest = std::min(found[channel].lowest, value);
    found[channel].highest = std::max(found[channel].highest, value);
  });
  return found;
}

/// The mean of each channel, weighted: that of three channels by what red, green and blue add to
/// luminance, as the reference does.
float mean_luminance(const std::byte* in, DType type, const Planes& planes) {
  const auto channels = static_cast<size_t>(planes.channels);
  std::vector<double> sums(channels);
  if (type == DType::uint8) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(in);
    constexpr int64_t kLanes = 16, kMostRows = 1 << 23;
    const int64_t width = planes.channels * kLanes, rows = planes.volume_of_plane() / width;
    for (int64_t first = 0; first < rows; first += kMostRows) {
      std::vector<uint32_t> totals(static_cast<size_t>(width));
      const int64_t last = std::min(rows, first + kMostRows);
      for (int64_t r = first; r < last; r++) {
        for (size_t k = 0; k < totals.size(); k++) {
          totals[k] += bytes[static_cast<size_t>(r * width) + k];
        }
      }
      for (size_t k = 0; k < totals.size(); k++) sums[k % channels] += totals[k];
    }
    for (int64_t k = rows * width; k < planes.volume_of_plane(); k++) {
      sums[static_cast<size_t>(k) % channels] += bytes[k];
    }
  } else {
    for_values(in, type, planes, [&](float value, size_t channel) { sums[channel] += value; });
  }
  const auto pixels = static_cast<double>(planes.pixels);
  if (channels == 3) {
    constexpr float kWeights[] = {0.299f, 0.587f, 0.114f};
    float luminance = 0;
    for (size_t c = 0; c < 3; c++) luminance += static_cast<float>(sums[c] / pixels) * kWeights[c];
    return luminance;
  }
  double total = 0;
  for (double sum : sums) total += sum;
  return static_cast<float>(total / (pixels * static_cast<double>(channels)));
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
                    const float extent = own.highest - own.lowest;
                    const float stretch[] = {own.lowest, range.highest / extent};
                    const float nothing[] = {0, 1};
                    functions.emplace_back(Curve::stretch, extent > 0 ? stretch : nothing, range);
                  }
                  return functions;
                });
}

void mean_contrast(Samples& out, const Samples& in, PerSample<float> factor) {
  const Range range(in.dtype());
  change_planes(out, in, 0, [&](int64_t i, int64_t, const Planes& planes, const std::byte* plane) {
    const float parameters[] = {mean_luminance(plane, in.dtype(), planes), factor[i]};
    return std::vector<Function>{{Curve::contrast, parameters, range}};
  });
}

}  // namespace daliesque::image
