// SPDX-License-Identifier: Apache-2.0
// The chunks of a PNG, and what they say about the image.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "codecs/format.h"
#include "codecs/pixel_loops.h"

namespace daliesque::codecs {

enum class PngColor : int { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgbAlpha = 6 };

struct PngHeader {
  ImageInfo info;
  int bits = 0;  ///< of a channel, or of an index
  PngColor color = PngColor::kGray;
  bool interlaced = false;
  bool animated = false;
  uint32_t gamma = 0;         ///< in 100000ths; 0: not stated
  int significant_bits = 16;  ///< of a channel with 16

  int64_t stored_channels() const { return color == PngColor::kPalette ? 1 : info.channels; }
  /// The bytes of a row of pixels, without the one that names its filter.
  int64_t row_bytes(int64_t width) const { return (width * bits * stored_channels() + 7) / 8; }
};

/// A chunk: length, name, contents, checksum.
struct PngChunk {
  Bytes all;

  std::string_view name() const { return {reinterpret_cast<const char*>(all.data()) + 4, 4}; }
  Bytes contents() const { return all.subspan(8, all.size() - 12); }
  bool sum_is_right() const;
};

/// Looks at all chunks, up to the one that ends the image. Throws `Damage`.
PngHeader read_png_header(Bytes file);

/// What the pixels are made of.
struct PngContents {
  PaletteEntry palette[256] = {};
  std::vector<PngChunk> data;  ///< chunks of the compressed pixels
};

/// Finds it in a file whose header was read; of a file that is not what it claims to be, throws
/// `Damage`.
PngContents find_png_contents(Bytes file, const PngHeader& header);

}  // namespace daliesque::codecs
