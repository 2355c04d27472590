// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

/// JPEG decoding.
///
/// Accepted: 8-bit Huffman-coded sequential and progressive JPEG (SOF0, SOF1, SOF2), gray, three
/// components (YCbCr or RGB) or four (CMYK or YCCK), every sampling whose ratios are whole numbers
/// (4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1, ...), one interleaved scan or several scans, restart
/// markers. Declined (`Status::kDeclined`, not an error: another codec may take the file):
/// arithmetic, lossless and hierarchical coding, other bit depths, other component counts,
/// fractional sampling ratios, files that rely on implied Huffman tables, progressive files of more
/// than 256 scans.
///
/// Whenever a call returns `kOk`, the pixels equal those of libjpeg-turbo's vector code with the
/// accurate integer DCT (`JDCT_ISLOW`) or, on request, the fast one, with or without fancy
/// upsampling, of whole or reduced size, bit for bit; a region equals the same region of the whole
/// image. Blocks of progressive files whose scans leave coefficients imprecise are smoothed
/// likewise. Damage that libjpeg-turbo would paper over (missing data, bad codes, restart markers
/// out of sequence, stray bytes) is reported instead, and the output is then unspecified. Bytes
/// that a region does not need are not looked at, so damage there goes unseen. Whoever needs the
/// last MCU also needs the marker that ends the scan; a progressive image always needs the one that
/// ends the image.
///
/// No function throws, and none reads past `size` or writes outside the rows of the region.
/// A `Decoder` may be used by one thread at a time; there is no other shared state.
namespace daliesque::jpeg {

enum class Status {
  kOk,
  kDeclined,     ///< a JPEG, but not of a kind this decoder takes
  kNotJpeg,      ///< no JPEG signature
  kTruncated,    ///< the data end too early; `offset` is their size
  kCorrupt,      ///< the data break the format at `offset`
  kTooLarge,     ///< more pixels than the caller allows
  kBadRegion,    ///< the region is empty or not inside the image
  kOutOfMemory,  ///< scratch memory could not be had
};

struct Result {
  Status status = Status::kOk;
  const char* what = "";  ///< static text; see `describe`
  size_t offset = 0;      ///< byte offset in the data that `what` speaks of

  bool ok() const { return status == Status::kOk; }
};

/// One clause without a final stop, such as "the JPEG ends after 3102 bytes, inside the scan".
std::string describe(const Result& result);

enum class Coding : uint8_t { kBaseline, kExtended, kProgressive, kLossless, kHierarchical };
enum class Color : uint8_t { kGray, kYCbCr, kRgb, kCmyk, kYcck, kUnknown };

struct ImageInfo {
  int width = 0;  ///< 0: no frame header was found
  int height = 0;
  int components = 0;
  int precision = 0;
  int orientation = 1;  ///< EXIF orientation, 1..8; 1 when absent or invalid
  int restart_interval = 0;
  Coding coding = Coding::kBaseline;
  bool arithmetic = false;
  Color color = Color::kUnknown;  ///< of the stored components
  bool adobe = false;             ///< has Adobe's marker: its programs store CMYK inverted
  uint8_t h_sampling[4] = {};
  uint8_t v_sampling[4] = {};
};

/// Reads the headers up to the first scan. `info` holds whatever was found, also for files that
/// `decode` declines and also when the result is an error: test `info->width`.
/// `kDeclined` carries the reason in `what`.
Result parse(const uint8_t* data, size_t size, ImageInfo* info);

/// kGray is the luma plane (for RGB files the same weighting of the components). kYCbCr is the
/// limited-range ITU-R BT.601 encoding of the RGB pixels, not the stored full-range values.
/// kCmyk is CMYK of a file with four components, inverted or not as it stores them. Such files
/// have no other format, and other files do not have this one.
enum class Format : uint8_t { kRgb, kBgr, kGray, kYCbCr, kCmyk };

inline int channels(Format format) {
  return format == Format::kGray ? 1 : format == Format::kCmyk ? 4 : 3;
}

struct Region {
  int x = 0;
  int y = 0;
  int width = 0;  ///< width and height 0: the whole image
  int height = 0;
};

struct DecodeOptions {
  Format format = Format::kRgb;
  bool fancy_upsampling = true;  ///< triangle filter for chroma; false: replicate
  bool fast_idct = false;        ///< the less accurate transform: `JDCT_IFAST`
  /// Smoothing sees the blocks at the left of the region repeated instead of those beside it: what
  /// libjpeg-turbo does when it crops.
  bool smooth_inside_region = false;
  /// 1, 2, 4 or 8: each axis has one sample for so many of the image, computed from the low
  /// frequencies of each block. The pixels equal those of libjpeg-turbo's reduced decoding.
  int reduction = 1;
  Region region;                          ///< of the reduced image
  int64_t max_pixels = int64_t{1} << 30;  ///< of the whole image, not of the region
};

struct DecoderState;

/// Holds scratch memory and the tables of the last image, so that a stream of similar images
/// needs neither allocation nor table building.
class Decoder {
 public:
  Decoder() noexcept;
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  /// Writes the region as interleaved bytes; row r starts at `out + r * row_stride`.
  Result decode(const uint8_t* data, size_t size, const DecodeOptions& options, uint8_t* out,
                ptrdiff_t row_stride);

 private:
  std::unique_ptr<DecoderState> state_;  ///< made by the first image
};

}  // namespace daliesque::jpeg
