// SPDX-License-Identifier: Apache-2.0
#include "codecs/png.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "codecs/pixel_loops.h"
#include "codecs/png_gray.h"
#include "codecs/png_loops.h"
#include "codecs/png_stream.h"
#include "codecs/scratch.h"
#include "core/byte_order.h"
#include "core/simd.h"

namespace daliesque::codecs {

namespace {

/// Where the pixels of a pass of an interlaced image lie.
struct InterlacePass {
  int64_t column, row, across, down;

  int64_t width(const ImageInfo& image) const { return extent(image.width, column, across); }
  int64_t height(const ImageInfo& image) const { return extent(image.height, row, down); }

 private:
  static int64_t extent(int64_t whole, int64_t begin, int64_t step) {
    return std::max<int64_t>(0, (whole - begin + step - 1) / step);
  }
};

constexpr InterlacePass kInterlacePasses[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8},
                                              {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2},
                                              {0, 1, 1, 2}};

/// Takes rows out of the stream, one after the other, and makes pixels of them.
class PngRows {
 public:
  PngRows(const PngHeader& header, const PngContents& contents, PngStream& stream, bool gray)
      : header_(header), contents_(contents), stream_(stream) {
    const int64_t bits = header.bits * header.stored_channels();
    filter_bytes_ = static_cast<size_t>(std::max<int64_t>(1, bits / 8));
    if (gray && has_linear_gray(header)) gray_.emplace(header);
    const int64_t width = header.info.width;
    const size_t stored = aligned(header.row_bytes(width)), indices = aligned(width);
    const size_t pixels = gray_ ? aligned(width * header.info.channels * (bits >= 16 ? 2 : 1)) : 0;
    static thread_local KeptScratch kept;
    current_ = kept.require(2 * stored + indices + pixels, large_);
    previous_ = current_ + stored;
    indices_ = previous_ + stored;
    pixels_ = indices_ + indices;
  }

  /// Begins an image, or a pass, whose rows have so many pixels.
  void start(int64_t width) {
    width_ = width;
    bytes_ = header_.row_bytes(width);
    std::memset(previous_, 0, static_cast<size_t>(bytes_));
  }

  /// Whether the bytes of the pixels are those that are stored.
  bool is_plain() const {
    return header_.bits == 8 && header_.color != PngColor::kPalette && !gray_;
  }

  /// All zeros after `start`, and then the last row that `next` has read.
  const uint8_t* previous() const { return previous_; }

  /// Reads the next row as it is stored, given the one before.
  void read_stored(uint8_t* out, const uint8_t* previous) {
    const uint8_t* const filtered = stream_.next(bytes_ + 1);
    if (filtered[0] > 4) {
      stream_.refuse("a row of the PNG has a filter of the unknown kind " +
                     std::to_string(filtered[0]));
    }
    loops_.unfilter(filtered[0], out, filtered + 1, previous, static_cast<size_t>(bytes_),
                    filter_bytes_);
  }

  /// Reads the next row as pixels.
  void next(uint8_t* out) {
    read_stored(current_, previous_);
    if (gray_) {
      make_pixels(pixels_);
      gray_->convert(out, pixels_, width_, header_.info.channels);
    } else {
      make_pixels(out);
    }
    std::swap(current_, previous_);
  }

 private:
  static size_t aligned(int64_t bytes) { return (static_cast<size_t>(bytes) + 63) / 64 * 64; }

  void make_pixels(uint8_t* out) {
    if (header_.bits == 16) {
      copy_swapped_if_little(out);
    } else if (header_.color == PngColor::kPalette) {
      const uint8_t* indices = current_;
      if (header_.bits < 8) {
        pixel_loops_.unpack(indices_, current_, width_, header_.bits, 1);
        indices = indices_;
      }
      pixel_loops_.look_up(out, indices, width_, contents_.palette);
    } else if (header_.bits < 8) {
      const int factor = 255 / ((1 << header_.bits) - 1);
      pixel_loops_.unpack(out, current_, width_, header_.bits, static_cast<uint8_t>(factor));
    } else {
      std::memcpy(out, current_, static_cast<size_t>(bytes_));
    }
  }

  void copy_swapped_if_little(uint8_t* out) {
    if constexpr (std::endian::native == std::endian::little) {
      copy_swapped(out, current_, bytes_ / 2, 2);
    } else {
      std::memcpy(out, current_, static_cast<size_t>(bytes_));
    }
  }

  const PngHeader& header_;
  const PngContents& contents_;
  PngStream& stream_;
  const PngLoops& loops_ = DALIESQUE_CHOOSE(png_loops);
  const PixelLoops& pixel_loops_ = pixel_loops();
  std::optional<LinearGray> gray_;
  size_t filter_bytes_;  ///< between bytes that filters relate to each other
  int64_t width_ = 0, bytes_ = 0;
  Buffer large_;
  // Two rows as they are stored, one of indices, and one of pixels to make gray of.
  uint8_t *current_, *previous_, *indices_, *pixels_;
};

void decode_rows(PngRows& rows, const ImageInfo& info, int64_t end, RowSink& sink) {
  rows.start(info.width);
  if (!rows.is_plain()) {
    for (int64_t y = 0; y < end; y++) {
      rows.next(sink.begin(y));
      sink.end(y);
    }
    return;
  }
  const uint8_t* previous = rows.previous();
  for (int64_t y = 0; y < end; y++) {
    uint8_t* const row = sink.begin(y);
    rows.read_stored(row, previous);
    sink.end(y);
    previous = row;
  }
}

/// Puts the pixels of a pass where they belong in a row of the image.
template <size_t N>
void scatter(uint8_t* row, const uint8_t* pixels, int64_t count, int64_t across) {
  for (int64_t k = 0; k < count; k++) {
    std::memcpy(row + k * across * static_cast<int64_t>(N), pixels + k * static_cast<int64_t>(N),
                N);
  }
}

void scatter(uint8_t* row, const uint8_t* pixels, int64_t count, int64_t across,
             int64_t pixel_bytes) {
  switch (pixel_bytes) {
    case 1:
      return scatter<1>(row, pixels, count, across);
    case 2:
      return scatter<2>(row, pixels, count, across);
    case 3:
      return scatter<3>(row, pixels, count, across);
    case 4:
      return scatter<4>(row, pixels, count, across);
    case 6:
      return scatter<6>(row, pixels, count, across);
    default:
      return scatter<8>(row, pixels, count, across);
  }
}

void decode_passes(PngRows& rows, const ImageInfo& info, int64_t pixel_bytes,
                   const RowRange& wanted, RowSink& sink) {
  const int64_t stride = info.width * pixel_bytes;
  // One row more, for those of a pass.
  const Buffer buffer = allocate(static_cast<size_t>((info.height + 1) * stride));
  auto* const image = static_cast<uint8_t*>(buffer.get());
  uint8_t* const part = image + info.height * stride;
  for (const InterlacePass& pass : kInterlacePasses) {
    const int64_t width = pass.width(info), height = pass.height(info);
    if (width == 0) continue;
    rows.start(width);
    for (int64_t y = 0; y < height; y++) {
      rows.next(part);
      uint8_t* const row = image + (pass.row + y * pass.down) * stride + pass.column * pixel_bytes;
      scatter(row, part, width, pass.across, pixel_bytes);
    }
  }
  for (int64_t y = wanted.begin; y < wanted.end; y++) {
    std::memcpy(sink.begin(y), image + y * stride, static_cast<size_t>(stride));
    sink.end(y);
  }
}

/// The expanded bytes of all rows before `end`.
int64_t stream_bytes(const PngHeader& header, int64_t end) {
  if (!header.interlaced) return end * (1 + header.row_bytes(header.info.width));
  int64_t bytes = 0;
  for (const InterlacePass& pass : kInterlacePasses) {
    const int64_t width = pass.width(header.info);
    if (width > 0) bytes += pass.height(header.info) * (1 + header.row_bytes(width));
  }
  return bytes;
}

}  // namespace

PixelForm Png::form(bool gray) const {
  PixelForm form;
  form.dtype = header_.bits == 16 ? DType::uint16 : DType::uint8;
  form.channels = gray && has_linear_gray(header_) ? 1 : header_.info.channels;
  form.gray_rule = header_.animated ? GrayRule::kFixed15 : GrayRule::kPng;
  return form;
}

void Png::decode(bool gray, const RowRange& rows, RowSink& sink) const {
  const PngContents contents = find_png_contents(file_, header_);
  PngStream stream(contents.data, stream_bytes(header_, rows.end),
                   1 + header_.row_bytes(info().width));
  PngRows reader(header_, contents, stream, gray);
  if (header_.interlaced) {
    decode_passes(reader, info(), form(gray).pixel_bytes(), rows, sink);
  } else {
    decode_rows(reader, info(), rows.end, sink);
  }
  stream.finish(header_.interlaced || rows.end == info().height);
}

}  // namespace daliesque::codecs
