// SPDX-License-Identifier: Apache-2.0
// Batches of encoded images: their headers, and the pixels of those that are JPEGs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/crop_window.h"
#include "core/samples.h"
#include "decode/pixels.h"
#include "jpeg/jpeg.h"

namespace daliesque::decode {

/// What the header of an encoded image says; the size is the stored one, before rotation.
struct EncodedImage {
  enum class Kind : int {
    kOurs,       ///< a JPEG that `decode_jpegs` takes
    kOtherJpeg,  ///< a JPEG for another codec
    kNotJpeg,
    kBroken,  ///< a JPEG that ends or goes wrong before its size is known
  };
  Kind kind = Kind::kNotJpeg;
  int64_t height = 0, width = 0, channels = 0;
  int orientation = 1;  ///< EXIF, 1 to 8
  std::string fault;    ///< what is wrong with the header, if anything: "is ..."
};

/// Reads the headers of one-dimensional samples of bytes.
std::vector<EncodedImage> read_jpeg_headers(const Samples& encoded);

/// An image to decode: which sample, and what part of it.
struct DecodeTask {
  int64_t sample;
  int orientation;                  ///< 1: as stored
  CropWindow window;                ///< of the upright image; not empty
  int64_t height, width, channels;  ///< as stored
};

struct DecodeFailure {
  int64_t sample;
  jpeg::Status status;
  std::string what;  ///< "is cut short: ..."; empty if the file is for another codec
};

/// Decodes into the samples of `out`, whose shapes fit the windows. Returns what went wrong, by
/// sample; the other samples are done.
std::vector<DecodeFailure> decode_jpegs(Samples& out, const Samples& encoded,
                                        std::span<const DecodeTask> tasks, ImageType type,
                                        bool fast_idct);

}  // namespace daliesque::decode
