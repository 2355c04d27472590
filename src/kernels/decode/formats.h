// SPDX-License-Identifier: Apache-2.0
// Images of the formats in `codecs`: from the bytes of a file to pixels of a result.
#pragma once

#include "codecs/format.h"
#include "core/crop_window.h"
#include "decode/pixels.h"

namespace daliesque::decode {

/// Reads the header of a file that begins like one of the given format. Throws `codecs::Damage`.
codecs::ImageInfo read_format_header(codecs::Format format, codecs::Bytes file);

/// Where an image goes, and in what form.
struct ImageTarget {
  void* out;
  DType dtype;
  ImageType type;
  int orientation;                  ///< 1: as stored
  CropWindow window;                ///< of the upright image; not empty
  int64_t height, width, channels;  ///< of the stored image
};

/// Decodes a part of an image. Throws `codecs::Damage`, also if the image does not have the size
/// that `target` was made for.
void decode_format(codecs::Format format, codecs::Bytes file, const ImageTarget& target);

}  // namespace daliesque::decode
