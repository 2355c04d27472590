// SPDX-License-Identifier: Apache-2.0
// PNG: all color types and depths, interlaced or not.
#pragma once

#include <cstdint>

#include "codecs/format.h"
#include "codecs/png_header.h"

namespace daliesque::codecs {

/// A PNG whose chunks have been looked at. What it throws is `Damage`.
class Png {
 public:
  /// The file must stay where it is.
  explicit Png(Bytes file) : file_(file), header_(read_png_header(file)) {}

  const ImageInfo& info() const { return header_.info; }

  /// The form that `decode` gives. Transparency of single colors and of a palette is ignored. Gray
  /// of an image that states its gamma is weighted in linear light.
  PixelForm form(bool gray) const;

  /// Decodes the rows, and those before them. What only later rows need is not looked at, except
  /// in interlaced images.
  void decode(bool gray, const RowRange& rows, RowSink& sink) const;

 private:
  Bytes file_;
  PngHeader header_;
};

}  // namespace daliesque::codecs
