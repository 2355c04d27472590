// SPDX-License-Identifier: Apache-2.0
// What the codecs of image files share: headers, faults, and where the rows of an image go.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "core/dtype.h"

namespace daliesque::codecs {

using Bytes = std::span<const uint8_t>;

/// The formats that are read here.
enum class Format : int { kNone, kPng, kBmp, kPnm, kGif };

/// The format that a file begins like.
Format find_format(Bytes file);

/// Its name; empty for kNone.
const char* format_name(Format format);

/// White space in text, which is the same whatever the language.
inline bool is_space(uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

/// A file that cannot be decoded. The text continues a sentence: "is cut short: ...".
class Damage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Data that end too early; `where` says in what.
Damage cut_short(const std::string& kind, Bytes file, const std::string& where);

/// What is known of an image before it is decoded. The size is the stored one.
struct ImageInfo {
  int64_t height = 0, width = 0, channels = 0;
  int orientation = 1;  ///< EXIF, 1 to 8
};

/// How gray is computed from RGB. The weights are always 0.299, 0.587 and 0.114; the
/// codecs of the reference differ in precision and rounding.
enum class GrayRule : int {
  kFloat = 0,     ///< single precision, rounded
  kTruncate = 1,  ///< single precision, cut off
  kFixed14 = 2,   ///< 14 fractional bits, rounded
  kFixed15 = 3,   ///< 15 fractional bits, rounded
  kPng = 4,       ///< 15 fractional bits, other weights; cut off in bytes, else rounded
};

/// The form in which a codec gives pixels: uint8 or uint16, which use their whole range. One or two
/// channels are gray (and alpha), more begin with red, green, blue.
struct PixelForm {
  DType dtype = DType::uint8;
  int64_t channels = 0;
  GrayRule gray_rule = GrayRule::kFixed14;

  int64_t pixel_bytes() const { return channels * static_cast<int64_t>(dtype_size(dtype)); }
};

/// Takes the rows of an image. A codec writes one to the memory that `begin` returns, exactly as
/// many bytes as it has, and then calls `end`. What it wrote stays there until it has begun and
/// ended the next row.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual uint8_t* begin(int64_t y) = 0;
  virtual void end(int64_t y) = 0;
};

/// Rows of an image, from `begin` to before `end`.
struct RowRange {
  int64_t begin, end;
};

}  // namespace daliesque::codecs
