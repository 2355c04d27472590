// SPDX-License-Identifier: Apache-2.0
// From the pixels that a codec gives to those that an operator promised: colors, element type,
// orientation and window.
#pragma once

#include <cstdint>
#include <memory>

#include "codecs/format.h"
#include "core/crop_window.h"
#include "core/dtype.h"

namespace daliesque::decode {

/// Colors of a result, with the numbers of the reference's DALIImageType. kAny keeps the channels
/// of the file.
enum class ImageType : int { kRgb = 0, kBgr = 1, kGray = 2, kYCbCr = 3, kAny = 4 };

using codecs::GrayRule;

/// How CMYK is stored and converted to RGB; the reference has two ways.
enum class CmykRule : int {
  kPlain = 0,     ///< 255 is full coverage; products divided by 255
  kInverted = 1,  ///< their complements; products divided by 255
  kShifted = 2,   ///< taken for complements; products shifted by 8 bits
};

/// Decoded pixels: C-contiguous, height x width x channels, of type uint8, uint16 or float32.
/// Integers use the whole range of their type, floating-point numbers go from 0 to 1.
struct Pixels {
  const void* data;
  DType dtype;
  int64_t height, width, channels;
};

/// How upright pixels are found in stored ones: pixel (y, x) of the upright image is stored at
/// origin + y * row_step + x * column_step, counted in pixels.
struct PixelOrder {
  int64_t origin, row_step, column_step;
};

/// The order for an EXIF orientation (1 to 8) of a stored image of the given size.
PixelOrder pixel_order(int orientation, int64_t height, int64_t width);

/// The part of the stored image that holds a window of the upright one.
CropWindow stored_window(int orientation, int64_t height, int64_t width, const CropWindow& upright);

/// Whether the orientation swaps height and width.
inline bool is_transposed(int orientation) { return orientation >= 5; }

/// The orientation that undoes one: two of them rotate by 90 degrees, to either side.
inline int inverse_orientation(int orientation) {
  return orientation == 6 ? 8 : orientation == 8 ? 6 : orientation;
}

/// The number of channels of a result.
inline int64_t result_channels(ImageType type, int64_t stored) {
  return type == ImageType::kAny ? stored : type == ImageType::kGray ? 1 : 3;
}

/// Converts `count` pixels of CMYK to RGB. The output may
/// overwrite the input.
void cmyk_to_rgb(uint8_t* rgb, const uint8_t* cmyk, int64_t count, CmykRule rule);

/// Writes rows of decoded pixels as pixels of a result. Values are scaled to the range of its type:
/// uint8, int8, uint16, int16, uint32, int32 or float32. Images with one or two channels are gray,
/// with more they begin with red, green, blue.
class RowConverter {
 public:
  RowConverter(DType out_type, ImageType type, DType in_type, int64_t channels, GrayRule rule);
  ~RowConverter();

  /// Converts `count` pixels that lie `step` pixels apart, beginning with `in`.
  void write(void* out, const void* in, int64_t step, int64_t count) const;

  class Writer;

 private:
  std::unique_ptr<const Writer> writer_;
};

/// Writes a window of the upright image to `out`, C-contiguous, height x width x result channels.
void write_pixels(void* out, DType out_type, ImageType type, const Pixels& in, GrayRule rule,
                  int orientation, const CropWindow& window);

}  // namespace daliesque::decode
