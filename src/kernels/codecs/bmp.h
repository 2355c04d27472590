// SPDX-License-Identifier: Apache-2.0
// BMP: palettes, bit fields, true color and run-length coding.
#pragma once

#include <cstdint>
#include <vector>

#include "codecs/format.h"
#include "codecs/pixel_loops.h"

namespace daliesque::codecs {

/// A BMP whose header has been read. What it throws is `Damage`.
class Bmp {
 public:
  /// The file must stay where it is.
  explicit Bmp(Bytes file);

  const ImageInfo& info() const { return info_; }

  PixelForm form(bool gray) const;

  /// Decodes the rows. All of them must be there, whichever are wanted.
  void decode(bool gray, const RowRange& rows, RowSink& sink) const;

 private:
  void read_size();
  void read_palette(uint32_t colors);
  void read_masks();
  bool is_run_length_coded() const;
  std::vector<uint8_t> expand_runs() const;
  void write_row(uint8_t* out, const uint8_t* in, uint8_t* indices) const;
  void write_indices(uint8_t* out, const uint8_t* indices) const;
  void write_masked(uint8_t* out, const uint8_t* in) const;

  Bytes file_;
  ImageInfo info_;
  uint32_t header_size_ = 0, offset_ = 0;
  int bits_ = 0;
  uint32_t compression_ = 0;
  bool top_down_ = false, has_alpha_ = false;
  uint32_t masks_[3] = {};  ///< of red, green and blue
  PaletteEntry palette_[256] = {};
  bool is_ramp_ = true;  ///< each gray of the palette is its index
};

}  // namespace daliesque::codecs
