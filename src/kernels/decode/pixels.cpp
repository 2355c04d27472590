// SPDX-License-Identifier: Apache-2.0
#include "decode/pixels.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "codecs/pixel_loops.h"
#include "core/errors.h"
#include "core/saturate.h"
#include "core/simd.h"

namespace daliesque::decode {

/// For fixed types.
class RowConverter::Writer {
 public:
  virtual ~Writer() = default;
  virtual void write(void* out, const void* in, int64_t step, int64_t count) const = 0;
};

namespace {

using StoredTypes = Types<uint8_t, uint16_t, float>;
using ResultTypes = Types<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, float>;

/// What stands for the brightest value.
template <class T>
constexpr double kTop = std::is_integral_v<T> ? double(std::numeric_limits<T>::max()) : 1.0;

/// The same brightness in another type.
template <class Out, class In>
Out rescale(In value) {
  if constexpr (std::is_same_v<Out, In>) {
    return value;
  } else if constexpr (std::is_same_v<Out, float>) {
    return static_cast<float>(value) * (1.0f / static_cast<float>(kTop<In>));
  } else if constexpr (std::is_same_v<In, float>) {
    return saturate<Out>(value * static_cast<float>(kTop<Out>));
  } else {
    constexpr float factor = 1.0f * static_cast<float>(kTop<Out>) / static_cast<float>(kTop<In>);
    return saturate<Out>(static_cast<float>(value) * factor);
  }
}

template <class T>
T weighted_gray(const T* rgb, GrayRule rule) {
  if (std::is_same_v<T, float> || rule == GrayRule::kFloat || rule == GrayRule::kTruncate) {
    const float gray = 0.299f * static_cast<float>(rgb[0]) + 0.587f * static_cast<float>(rgb[1]) +
                       0.114f * static_cast<float>(rgb[2]);
    return rule == GrayRule::kTruncate ? static_cast<T>(gray) : saturate<T>(gray);
  }
  const auto red = static_cast<uint32_t>(rgb[0]), green = static_cast<uint32_t>(rgb[1]),
             blue = static_cast<uint32_t>(rgb[2]);
  if (rule == GrayRule::kFixed14) {
    return static_cast<T>((red * 4899 + green * 9617 + blue * 1868 + (1 << 13)) >> 14);
  }
  if (rule == GrayRule::kFixed15) {
    return static_cast<T>((red * 9798 + green * 19235 + blue * 3735 + (1 << 14)) >> 15);
  }
  const uint32_t half = sizeof(T) == 1 ? 0 : 1 << 14;
  return static_cast<T>((red * 9797 + green * 19234 + blue * 3737 + half) >> 15);
}

/// ITU-R BT.601 with head- and footroom: Y in [16, 235], Cb and Cr in [16, 240] of 256.
template <class Out, class In>
void to_ycbcr(Out* out, const In* rgb) {
  constexpr float scale = static_cast<float>(kTop<Out> / kTop<In>);
  constexpr float range = std::is_integral_v<Out> ? static_cast<float>(kTop<Out> + 1.0) : 1.0f;
  constexpr float kWeights[3][3] = {
      {0.25678823529f * scale, 0.50412941176f * scale, 0.09790588235f * scale},
      {-0.14822289945f * scale, -0.29099278682f * scale, 0.43921568627f * scale},
      {0.43921568627f * scale, -0.36778831435f * scale, -0.07142737192f * scale}};
  constexpr float kBias[3] = {0.0625f * range, 0.5f * range, 0.5f * range};
  const float red = static_cast<float>(rgb[0]), green = static_cast<float>(rgb[1]),
              blue = static_cast<float>(rgb[2]);
  for (int c = 0; c < 3; c++) {
    out[c] = saturate<Out>(kWeights[c][0] * red + kWeights[c][1] * green + kWeights[c][2] * blue +
                           kBias[c]);
  }
}

template <class Out, class In>
class RowWriter final : public RowConverter::Writer {
 public:
  RowWriter(ImageType type, GrayRule rule, int64_t channels)
      : type_(type), rule_(rule), channels_(channels) {
    if (type_ == ImageType::kGray && channels_ < 3) taken_ = 1;
    if (type_ == ImageType::kAny) taken_ = channels_;
    if constexpr (std::is_same_v<In, uint8_t> && !std::is_same_v<Out, uint8_t>) {
      for (int value = 0; value < 256; value++) {
        table_[value] = rescale<Out>(static_cast<uint8_t>(value));
      }
    }
  }

  void write(void* out_row, const void* in_row, int64_t step, int64_t count) const override {
    auto* const out = static_cast<Out*>(out_row);
    const auto* const in = static_cast<const In*>(in_row);
    const int64_t stride = step * channels_;
    if (taken_ > 0) return copy(out, in, stride, count);
    switch (type_) {
      case ImageType::kGray:
        for (int64_t i = 0; i < count; i++) out[i] = convert(weighted_gray(in + i * stride, rule_));
        return;
      case ImageType::kYCbCr:
        for (int64_t i = 0; i < count; i++) ycbcr(out + 3 * i, in + i * stride);
        return;
      default:
        return colors(out, in, stride, count);
    }
  }

 private:
  Out convert(In value) const {
    if constexpr (std::is_same_v<In, uint8_t> && !std::is_same_v<Out, uint8_t>) {
      return table_[value];
    } else {
      return rescale<Out>(value);
    }
  }

  /// The first `taken_` channels.
  void copy(Out* out, const In* in, int64_t stride, int64_t count) const {
    if (stride == taken_ && convert_all(out, in, count * taken_)) return;
    for (int64_t i = 0; i < count; i++) {
      for (int64_t c = 0; c < taken_; c++) out[i * taken_ + c] = convert(in[i * stride + c]);
    }
  }

  /// Converts values that lie side by side, if there is a loop for that.
  bool convert_all(Out* out, const In* in, int64_t count) const {
    if constexpr (std::is_same_v<Out, In>) {
      std::memcpy(out, in, static_cast<size_t>(count) * sizeof(Out));
      return true;
    } else if constexpr (std::is_same_v<Out, uint8_t> && std::is_same_v<In, uint16_t>) {
      loops_.narrow(out, in, count);
      return true;
    } else {
      return false;
    }
  }

  /// Makes three bytes of one, three or four, if they lie side by side.
  bool rearrange_bytes(Out* out, const In* in, int64_t stride, int64_t count, int first) const {
    if constexpr (std::is_same_v<Out, uint8_t> && std::is_same_v<In, uint8_t>) {
      if (stride != channels_) return false;
      if (channels_ == 1) {
        loops_.spread(out, in, count);
      } else if (channels_ == 3 && first == 2) {
        loops_.reverse(out, in, count);
      } else if (channels_ == 4 && first == 0) {
        loops_.drop_fourth(out, in, count);
      } else {
        return false;
      }
      return true;
    } else {
      return false;
    }
  }

  void colors(Out* out, const In* in, int64_t stride, int64_t count) const {
    const bool gray = channels_ < 3;
    const int first = gray || type_ == ImageType::kRgb ? 0 : 2, green = gray ? 0 : 1;
    const int last = gray ? 0 : 2 - first;
    if (!gray && first == 0 && stride == 3 && convert_all(out, in, 3 * count)) return;
    if (rearrange_bytes(out, in, stride, count, first)) return;
    for (int64_t i = 0; i < count; i++) {
      const In* pixel = in + i * stride;
      out[3 * i] = convert(pixel[first]);
      out[3 * i + 1] = convert(pixel[green]);
      out[3 * i + 2] = convert(pixel[last]);
    }
  }

  void ycbcr(Out* out, const In* pixel) const {
    if (channels_ >= 3) return to_ycbcr(out, pixel);
    const In gray[3] = {pixel[0], pixel[0], pixel[0]};
    to_ycbcr(out, gray);
  }

  ImageType type_;
  GrayRule rule_;
  int64_t channels_;
  const codecs::PixelLoops& loops_ = codecs::pixel_loops();
  int64_t taken_ = 0;  // channels copied as they are; 0: colors are made
  Out table_[std::is_same_v<In, uint8_t> && !std::is_same_v<Out, uint8_t> ? 256 : 1] = {};
};

}  // namespace

PixelOrder pixel_order(int orientation, int64_t height, int64_t width) {
  const int64_t bottom = (height - 1) * width, right = width - 1;
  switch (orientation) {
    case 2:
      return {right, width, -1};
    case 3:
      return {bottom + right, -width, -1};
    case 4:
      return {bottom, -width, 1};
    case 5:
      return {0, 1, width};
    case 6:
      return {bottom, 1, -width};
    case 7:
      return {bottom + right, -1, -width};
    case 8:
      return {right, -1, width};
    default:
      return {0, width, 1};
  }
}

CropWindow stored_window(int orientation, int64_t height, int64_t width,
                         const CropWindow& upright) {
  const PixelOrder order = pixel_order(orientation, height, width);
  const int64_t first = order.origin + upright.y * order.row_step + upright.x * order.column_step;
  const int64_t last =
      first + (upright.height - 1) * order.row_step + (upright.width - 1) * order.column_step;
  CropWindow stored{std::min(first / width, last / width), std::min(first % width, last % width),
                    upright.height, upright.width};
  if (is_transposed(orientation)) std::swap(stored.height, stored.width);
  return stored;
}

void cmyk_to_rgb(uint8_t* rgb, const uint8_t* cmyk, int64_t count, CmykRule rule) {
  const int flip = rule == CmykRule::kPlain ? 255 : 0;
  for (int64_t i = 0; i < count; i++) {
    const uint8_t* const channels = cmyk + 4 * i;
    const int light = channels[3] ^ flip;
    for (int64_t c = 0; c < 3; c++) {
      const int value = channels[c] ^ flip;
      const int color =
          rule == CmykRule::kShifted ? light - ((255 - value) * light >> 8) : value * light / 255;
      rgb[3 * i + c] = static_cast<uint8_t>(color);
    }
  }
}

RowConverter::RowConverter(DType out_type, ImageType type, DType in_type, int64_t channels,
                           GrayRule rule) {
  if (channels < 1) throw UsageError("an image without channels");
  dispatch(StoredTypes{}, in_type, [&](auto stored) {
    using In = typename decltype(stored)::type;
    dispatch(ResultTypes{}, out_type, [&](auto result) {
      using Out = typename decltype(result)::type;
      writer_ = std::make_unique<RowWriter<Out, In>>(type, rule, channels);
    });
  });
}

RowConverter::~RowConverter() = default;

void RowConverter::write(void* out, const void* in, int64_t step, int64_t count) const {
  writer_->write(out, in, step, count);
}

void write_pixels(void* out, DType out_type, ImageType type, const Pixels& in, GrayRule rule,
                  int orientation, const CropWindow& window) {
  const RowConverter converter(out_type, type, in.dtype, in.channels, rule);
  const PixelOrder order = pixel_order(orientation, in.height, in.width);
  const int64_t origin = order.origin + window.y * order.row_step + window.x * order.column_step;
  const int64_t row_bytes = window.width * result_channels(type, in.channels) *
                            static_cast<int64_t>(dtype_size(out_type));
  const int64_t pixel_bytes = in.channels * static_cast<int64_t>(dtype_size(in.dtype));
  for (int64_t y = 0; y < window.height; y++) {
    converter.write(static_cast<char*>(out) + y * row_bytes,
                    static_cast<const char*>(in.data) + (origin + y * order.row_step) * pixel_bytes,
                    order.column_step, window.width);
  }
}

}  // namespace daliesque::decode
