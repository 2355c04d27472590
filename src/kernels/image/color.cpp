// SPDX-License-Identifier: Apache-2.0
#include "image/color.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "core/convert.h"
#include "core/parallel.h"
#include "core/saturate.h"
#include "core/simd.h"
#include "core/stream.h"
#include "image/color_loops.h"

namespace daliesque::image {

namespace {

// Work is cut in units of this many pixels or values: a multiple of 3, so that values of three
// channels are cut between pixels, and of a cache line.
constexpr int64_t kUnit = 192;
constexpr double kColorNanosecondsPerByte = 0.2, kColorNanosecondsPerValue = 1.0;

const ColorLoops& color_loops() { return DALIESQUE_CHOOSE_512(color_loops); }

/// Runs body(i, begin, count) over parts of all samples, `extent(i)` items of sample i in total.
template <class Extent, class Body>
void for_parts(const Samples& samples, double cost, Extent&& extent, Body&& body) {
  parallel_slices(
      samples.size(), [&](int64_t i) { return (extent(i) + kUnit - 1) / kUnit; },
      [&](int64_t) { return cost * kUnit; },
      [&](int64_t i, int64_t begin, int64_t end) {
        begin *= kUnit;
        body(i, begin, std::min(end * kUnit, extent(i)) - begin);
      });
}

/// Computes in float on data of any type, in blocks that stay in the cache.
class FloatBlocks {
 public:
  FloatBlocks(const Samples& out, const Samples& in)
      : load_(in.dtype() == DType::float32 ? nullptr : convert_loop(DType::float32, in.dtype())),
        store_(out.dtype() == DType::float32 ? nullptr : convert_loop(out.dtype(), DType::float32)),
        in_size_(in.itemsize()),
        out_size_(out.itemsize()),
        streamed_(exceeds_caches(out, in)) {}

  /// Calls body(out, in, count) for blocks of `count` floats, a multiple of three but for the last.
  template <class Body>
  void run(std::byte* out, const std::byte* in, int64_t count, Body&& body) const {
    constexpr int64_t kBlock = 8 * kUnit;
    alignas(64) float loaded[kBlock], computed[kBlock];
    alignas(64) double stored[kBlock];
    for (int64_t i = 0; i < count; i += kBlock) {
      const int64_t length = std::min(kBlock, count - i);
      const std::byte* from = in + static_cast<size_t>(i) * in_size_;
      std::byte* to = out + static_cast<size_t>(i) * out_size_;
      if (load_) load_(loaded, from, length);
      const bool direct = !store_ && !streamed_;
      body(direct ? reinterpret_cast<float*>(to) : computed,
           load_ ? loaded : reinterpret_cast<const float*>(from), length);
      if (streamed_) {
        if (store_) store_(stored, computed, length);
        stream_copy(to, store_ ? static_cast<const void*>(stored) : computed,
                    static_cast<size_t>(length) * out_size_);
      } else if (store_) {
        store_(to, computed, length);
      }
    }
    if (streamed_) stream_fence();
  }

 private:
  ConvertLoop load_, store_;  // null where values are float already
  size_t in_size_, out_size_;
  bool streamed_;
};

/// The highest value of an integer type, 1 for others.
float full_range(DType type) {
  float range = 1;
  dispatch(NumericTypes{}, type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      range = static_cast<float>(std::numeric_limits<T>::max());
    }
  });
  return range;
}

/// The middle of the range from 0 up.
float half_range(DType type) {
  float range = 0.5f;
  dispatch(NumericTypes{}, type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      range = std::ldexp(1.0f, std::numeric_limits<T>::digits - 1);
    }
  });
  return range;
}

using Matrix = std::array<std::array<float, 3>, 3>;

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix product;
  for (size_t i = 0; i < 3; i++) {
    for (size_t j = 0; j < 3; j++) {
      product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
    }
  }
  return product;
}

Matrix diagonal(float a, float b, float c) { return {{{a, 0, 0}, {0, b, 0}, {0, 0, c}}}; }

// NTSC luminance and chrominance, to the digits that the reference uses, and the inverse as its
// elimination in float finds it.
constexpr Matrix kRgbToYiq = {
    {{.299f, .587f, .114f}, {.596f, -.274f, -.321f}, {.211f, -.523f, .311f}}};
constexpr Matrix kYiqToRgb = {{{0x1.ffd402p-1f, 0x1.e9bfc4p-1f, 0x1.3de196p-1f},
                               {0x1.ffced4p-1f, -0x1.16cf1ep-2f, -0x1.4b7ebcp-1f},
                               {0x1.00b84ep+0f, -0x1.1b5a64p+0f, 0x1.b49576p+0f}}};

/// A rotation of the chrominance plane.
Matrix hue_rotation(float degrees) {
  const auto angle = static_cast<float>(static_cast<double>(degrees) * M_PI / 180);
  const float c = std::cos(angle), s = std::sin(angle);
  return {{{1, 0, 0}, {0, c, s}, {0, -s, c}}};
}

ColorTransform twist_transform(const ColorTwist& twist, int64_t i, float middle) {
  const float brightness = twist.brightness[i], contrast = twist.contrast[i];
  const float saturation = twist.saturation[i], value = twist.value[i];
  const Matrix matrix = diagonal(brightness, brightness, brightness) *
                        diagonal(contrast, contrast, contrast) * kYiqToRgb *
                        hue_rotation(twist.hue[i]) * diagonal(1, saturation, saturation) *
                        diagonal(value, value, value) * kRgbToYiq;
  ColorTransform transform;
  for (size_t k = 0; k < 3; k++) {
    std::ranges::copy(matrix[k], transform.matrix[k]);
    transform.offset[k] = (middle - middle * contrast) * brightness;
  }
  return transform;
}

}  // namespace

void brightness_contrast(Samples& out, const Samples& in, const BrightnessContrast& arguments) {
  const ColorLoops& loops = color_loops();
  const float range = full_range(out.dtype()), middle = half_range(in.dtype());
  const bool bytes = in.dtype() == DType::uint8 && out.dtype() == DType::uint8;
  const bool streamed = exceeds_caches(out, in);
  const FloatBlocks blocks(out, in);
  const size_t in_size = in.itemsize(), out_size = out.itemsize();
  for_parts(
      in, bytes ? kColorNanosecondsPerByte : kColorNanosecondsPerValue,
      [&](int64_t i) { return in.volume(i); },
      [&](int64_t i, int64_t begin, int64_t count) {
        const float brightness = arguments.brightness[i], contrast = arguments.contrast[i];
        const float center = arguments.center ? (*arguments.center)[i] : middle;
        const float addend = arguments.shift[i] * range + brightness * (center - contrast * center);
        const float multiplier = brightness * contrast;
        auto* to = out.data<std::byte>(i) + static_cast<size_t>(begin) * out_size;
        const auto* from = in.data<const std::byte>(i) + static_cast<size_t>(begin) * in_size;
        if (bytes) {
          loops.multiply_add_bytes(reinterpret_cast<uint8_t*>(to),
                                   reinterpret_cast<const uint8_t*>(from), count, multiplier,
                                   addend, streamed);
          if (streamed) stream_fence();
        } else {
          blocks.run(to, from, count, [&](float* result, const float* values, int64_t length) {
            loops.multiply_add(result, values, length, multiplier, addend);
          });
        }
      });
}

void color_twist(Samples& out, const Samples& in, const ColorTwist& arguments) {
  const ColorLoops& loops = color_loops();
  const bool bytes = in.dtype() == DType::uint8 && out.dtype() == DType::uint8;
  const float middle = full_range(in.dtype()) == 1 ? 0.5f : 128.0f;
  std::vector<ColorTransform> transforms;
  for (int64_t i = 0; i < in.size(); i++) {
    transforms.push_back(twist_transform(arguments, i, middle));
  }
  const FloatBlocks blocks(out, in);
  const size_t in_size = in.itemsize(), out_size = out.itemsize();
  for_parts(
      in, bytes ? kColorNanosecondsPerByte : kColorNanosecondsPerValue,
      [&](int64_t i) { return in.volume(i); },
      [&](int64_t i, int64_t begin, int64_t count) {
        const ColorTransform& transform = transforms[static_cast<size_t>(i)];
        auto* to = out.data<std::byte>(i) + static_cast<size_t>(begin) * out_size;
        const auto* from = in.data<const std::byte>(i) + static_cast<size_t>(begin) * in_size;
        if (bytes) {
          loops.transform_bytes(reinterpret_cast<uint8_t*>(to),
                                reinterpret_cast<const uint8_t*>(from), count / 3, transform);
        } else {
          blocks.run(to, from, count, [&](float* result, const float* values, int64_t length) {
            loops.transform(result, values, length / 3, transform);
          });
        }
      });
}

namespace {

using PixelLoop = void (*)(uint8_t* out, const uint8_t* in, int64_t pixels);

// ITU-R BT.601 with the reduced range of video: luma from 16 to 235, chroma around 128.
constexpr ColorTransform kRgbToYcbcr = {{{0.25678823529f, 0.50412941176f, 0.09790588235f},
                                         {-0.14822289945f, -0.29099278682f, 0.43921568627f},
                                         {0.43921568627f, -0.36778831435f, -0.07142737192f}},
                                        {16, 128, 128}};
constexpr ColorTransform kYcbcrToRgb = {{{255.0f / 219, 0, 1.5960267848f},
                                         {255.0f / 219, -0.39176228842f, -0.81296764538f},
                                         {255.0f / 219, 2.0172321417f, 0}},
                                        {},
                                        {16, 128, 128}};
// ITU-R BT.601 luma of RGB in units of 2^-15.
constexpr int16_t kRgbWeights[3] = {9798, 19235, 3735}, kBgrWeights[3] = {3735, 19235, 9798};

template <bool reversed>
void rgb_to_ycbcr(uint8_t* out, const uint8_t* in, int64_t pixels) {
  ColorTransform transform = kRgbToYcbcr;
  transform.reversed_in = reversed;
  color_loops().transform_bytes(out, in, pixels, transform);
}

template <bool reversed>
void ycbcr_to_rgb(uint8_t* out, const uint8_t* in, int64_t pixels) {
  ColorTransform transform = kYcbcrToRgb;
  transform.reversed_out = reversed;
  color_loops().transform_bytes(out, in, pixels, transform);
}

template <bool reversed>
void rgb_to_gray(uint8_t* out, const uint8_t* in, int64_t pixels) {
  color_loops().weigh_bytes(out, in, pixels, reversed ? kBgrWeights : kRgbWeights);
}

/// A function of a byte, for all of them.
struct ByteTable {
  uint8_t values[256];
  template <class Function>
  explicit ByteTable(Function&& function) {
    for (int i = 0; i < 256; i++) {
      values[i] = saturate<uint8_t>(function(static_cast<float>(i)));
    }
  }
};

void gray_to_ycbcr(uint8_t* out, const uint8_t* in, int64_t pixels) {
  static const ByteTable table([](float gray) { return gray * (219.0f / 255) + 16.0f; });
  for (int64_t i = 0; i < pixels; i++) {
    out[3 * i] = table.values[in[i]];
    out[3 * i + 1] = out[3 * i + 2] = 128;
  }
}

void ycbcr_to_gray(uint8_t* out, const uint8_t* in, int64_t pixels) {
  static const ByteTable table([](float luma) { return 255.0f / 219 * (luma - 16.0f); });
  for (int64_t i = 0; i < pixels; i++) out[i] = table.values[in[3 * i]];
}

template <bool streamed>
void reverse_channels(uint8_t* out, const uint8_t* in, int64_t pixels) {
  color_loops().reverse_bytes(out, in, pixels, streamed);
  if (streamed) stream_fence();
}

/// The loop for a conversion, or null if the two spaces are the same.
PixelLoop conversion(ColorSpace to, ColorSpace from, bool streamed) {
  using enum ColorSpace;
  if (to == from) return nullptr;
  if (to == gray) {
    return from == ycbcr ? ycbcr_to_gray : from == rgb ? rgb_to_gray<false> : rgb_to_gray<true>;
  }
  if (from == gray) return to == ycbcr ? gray_to_ycbcr : color_loops().repeat_bytes;
  if (to == ycbcr) return from == rgb ? rgb_to_ycbcr<false> : rgb_to_ycbcr<true>;
  if (from == ycbcr) return to == rgb ? ycbcr_to_rgb<false> : ycbcr_to_rgb<true>;
  return streamed ? reverse_channels<true> : reverse_channels<false>;
}

}  // namespace

void convert_color_space(Samples& out, const Samples& in, ColorSpace to, ColorSpace from) {
  const PixelLoop loop = conversion(to, from, exceeds_caches(out, in));
  if (!loop) {
    copy(out, in);
    return;
  }
  const int64_t in_channels = channels(from), out_channels = channels(to);
  for_parts(
      in, 2 * kColorNanosecondsPerByte, [&](int64_t i) { return in.volume(i) / in_channels; },
      [&](int64_t i, int64_t begin, int64_t count) {
        loop(out.data<uint8_t>(i) + begin * out_channels,
             in.data<const uint8_t>(i) + begin * in_channels, count);
      });
}

}  // namespace daliesque::image
