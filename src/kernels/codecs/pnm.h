// SPDX-License-Identifier: Apache-2.0
// PBM, PGM and PPM, as text and as bytes.
#pragma once

#include <cstdint>

#include "codecs/format.h"

namespace daliesque::codecs {

/// An image of one of the six formats, whose header has been read. What it throws is `Damage`.
class Pnm {
 public:
  /// The file must stay where it is.
  explicit Pnm(Bytes file);

  const ImageInfo& info() const { return info_; }

  PixelForm form(bool gray) const;

  /// Decodes the rows, scaled to the whole range of uint8 or uint16. Text after them is not looked
  /// at; bytes must be there, whichever rows are wanted.
  void decode(bool gray, const RowRange& rows, RowSink& sink) const;

 private:
  bool is_bitmap() const { return kind_ == 1 || kind_ == 4; }
  bool is_wide() const { return top_ > 255; }
  std::string name() const;
  uint32_t read_number();
  uint32_t scaled(uint32_t value) const;
  void decode_text(const RowRange& rows, RowSink& sink) const;
  void decode_bytes(const RowRange& rows, RowSink& sink) const;
  void write_bytes(uint8_t* out, const uint8_t* in) const;

  Bytes file_;
  ImageInfo info_;
  int kind_;             ///< 1 to 6
  uint32_t top_ = 1;     ///< the highest value
  size_t position_ = 2;  ///< after the last number of the header
};

}  // namespace daliesque::codecs
