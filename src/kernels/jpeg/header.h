// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "jpeg/jpeg.h"

namespace daliesque::jpeg {

constexpr int kMaxComponents = 4;
constexpr int kBlockSide = 8;
constexpr int kBlockSize = kBlockSide * kBlockSide;

/// Row-major position of each coefficient in the order the file stores them.
constexpr uint8_t kNaturalOrder[kBlockSize] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/// A Huffman table as stored: 16 counts and the symbols. Points into the file; null if undefined.
struct HuffmanSpec {
  const uint8_t* bytes = nullptr;
  int symbols = 0;
};

struct QuantTable {
  bool defined = false;
  uint16_t values[kBlockSize] = {};  ///< row-major
};

struct FrameComponent {
  uint8_t id = 0;
  uint8_t h = 0;
  uint8_t v = 0;
  uint8_t quant_table = 0;
};

struct ScanComponent {
  uint8_t component = 0;  ///< index into the frame's components
  uint8_t dc_table = 0;
  uint8_t ac_table = 0;
};

/// What a progressive scan holds: coefficients `first` to `last` in file order, up to bit `low`.
/// `high` is the bit up to which earlier scans gave them; 0: there were none.
struct Band {
  uint8_t first = 0;
  uint8_t last = 0;
  uint8_t high = 0;
  uint8_t low = 0;
};

/// Everything the markers say that is in force at the scan last read.
struct Header {
  ImageInfo info;
  FrameComponent components[kMaxComponents];
  int max_h = 1;
  int max_v = 1;
  QuantTable quant[4];
  HuffmanSpec dc_huffman[4];
  HuffmanSpec ac_huffman[4];
  ScanComponent scan[kMaxComponents];
  int scan_components = 0;
  Band band;
};

/// Reads markers one after the other. The data outlive the reader and its header.
class HeaderReader {
 public:
  HeaderReader(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  /// Reads from the start of the file up to and including the first scan header.
  Result read_to_first_scan();

  /// Continues at `offset`, behind the data of a scan, to the next scan header.
  /// `*found` is false when the image ends first.
  Result read_to_next_scan(size_t offset, bool* found);

  /// Why `decode` does not take the file; null if it does.
  const char* declined_reason() const;

  const Header& header() const { return header_; }

  /// Offset of the first byte of entropy-coded data.
  size_t position() const { return position_; }

 private:
  enum class Step { kMore, kScan, kEnd };

  Result next_marker(uint8_t* marker);
  Result read_segment(uint8_t marker, Step* step);
  Result read_frame(uint8_t marker, const uint8_t* body, size_t length);
  Result read_huffman_tables(const uint8_t* body, size_t length);
  Result read_quant_tables(const uint8_t* body, size_t length);
  Result read_scan(const uint8_t* body, size_t length);
  void read_application(uint8_t marker, const uint8_t* body, size_t length);
  Result corrupt(const char* what, const uint8_t* where) const;
  Result truncated(const char* where) const;
  void set_color();

  const uint8_t* data_;
  size_t size_;
  size_t position_ = 0;
  Header header_;
  bool has_frame_ = false;
  bool has_jfif_ = false;
  bool has_exif_ = false;
  uint8_t adobe_transform_ = 0;
};

}  // namespace daliesque::jpeg
