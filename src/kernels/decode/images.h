// SPDX-License-Identifier: Apache-2.0
// Batches of encoded images: their headers, and the pixels of those that are decoded here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codecs/format.h"
#include "core/crop_window.h"
#include "core/function_ref.h"
#include "core/samples.h"
#include "decode/pixels.h"
#include "jpeg/jpeg.h"

namespace daliesque::decode {

/// What the header of an encoded image says; the size is the stored one, before rotation.
struct EncodedImage {
  enum class Kind : int {
    kOurs,       ///< an image that `decode_images` decodes itself
    kOtherJpeg,  ///< a JPEG for another codec
    kOther,      ///< not of a format that is read here
    kBroken,     ///< an image that ends or goes wrong before its size is known
  };
  Kind kind = Kind::kOther;
  codecs::Format format = codecs::Format::kNone;  ///< kNone: a JPEG, if it is ours
  int64_t height = 0, width = 0, channels = 0;
  int orientation = 1;  ///< EXIF, 1 to 8
  std::string fault;    ///< what is wrong with the header, if anything: "is ..."

  bool is_jpeg() const {
    return kind == Kind::kOtherJpeg || (kind == Kind::kOurs && format == codecs::Format::kNone);
  }
};

/// Reads the headers of one-dimensional samples of bytes.
std::vector<EncodedImage> read_image_headers(const Samples& encoded);

/// What to decode of an image.
struct DecodeTask {
  bool ours;                        ///< whether it is an image that is decoded here
  codecs::Format format;            ///< kNone: a JPEG, if it is ours
  int orientation;                  ///< 1: as stored
  CropWindow window;                ///< of the upright image; not empty
  int64_t height, width, channels;  ///< as stored, after the reduction
  int reduction = 1;                ///< of a JPEG: 2, 4 or 8: decoded smaller by this factor
};

/// The extent of an axis after a reduction.
inline int64_t reduced(int64_t extent, int64_t reduction) {
  return (extent + reduction - 1) / reduction;
}

/// The strongest reduction, 1, 2, 4 or 8, after which a window of an image still has at least the
/// given size; 1 if the image is no JPEG that is decoded here.
int find_reduction(const EncodedImage& image, const CropWindow& window, int64_t least_height,
                   int64_t least_width);

/// What holds a window of the upright image in the reduced one: begins and ends rounded outwards.
CropWindow reduced_window(const EncodedImage& image, const CropWindow& window, int reduction);

/// Why an image could not be decoded.
struct DecodeFailure {
  bool is_final;     ///< no other codec should try
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
