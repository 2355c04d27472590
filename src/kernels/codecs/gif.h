// SPDX-License-Identifier: Apache-2.0
// GIF: the first frame, without transparency.
#pragma once

#include <cstdint>

#include "codecs/format.h"

namespace daliesque::codecs {

/// A GIF whose screen is known. What it throws is `Damage`.
class Gif {
 public:
  /// The file must stay where it is.
  explicit Gif(Bytes file);

  const ImageInfo& info() const { return info_; }

  PixelForm form(bool gray) const;

  /// Decodes the rows. What a frame smaller than the screen leaves free gets its transparent color
  /// or else the first one.
  void decode(bool gray, const RowRange& rows, RowSink& sink) const;

 private:
  Bytes file_;
  ImageInfo info_;
};

}  // namespace daliesque::codecs
