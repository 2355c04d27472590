// SPDX-License-Identifier: Apache-2.0
// Batches of encoded images: their headers, and the pixels of those that are JPEGs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/crop_window.h"
#include "core/function_ref.h"
#include "core/samples.h"
#include "decode/pixels.h"
#include "jpeg/jpeg.h"

namespace daliesque::decode {

/// What the header of an encoded image says; the size is the stored one, before rotation.
struct EncodedImage {
  enum class Kind : int {
    kOurs,       ///< a JPEG that `decode_images` decodes itself
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

/// What to decode of an image.
struct DecodeTask {
  bool ours;                        ///< whether it is a JPEG that this decoder takes
  int orientation;                  ///< 1: as stored
  CropWindow window;                ///< of the upright image; not empty
  int64_t height, width, channels;  ///< as stored
};

/// Why an image could not be decoded.
struct DecodeFailure {
  jpeg::Status status;
  std::string what;  ///< "is cut short: ..."; empty if the file is for another codec
};

/// Decodes image number i in some other way: one that is not ours, or that failed.
using OtherDecoder = FunctionRef<void(int64_t, const DecodeFailure*)>;

/// Decodes into the samples of `out`, whose shapes fit the windows.
void decode_images(Samples& out, const Samples& encoded, std::span<const DecodeTask> tasks,
                   ImageType type, bool fast_idct, OtherDecoder decode_other);

/// Estimated nanoseconds for an image of a file of so many bytes.
double decode_cost(const DecodeTask& task, int64_t bytes);

}  // namespace daliesque::decode
