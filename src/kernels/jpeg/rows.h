// SPDX-License-Identifier: Apache-2.0
// From component planes to rows of pixels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jpeg/decoder_loops.h"
#include "jpeg/geometry.h"

namespace daliesque::jpeg {

/// Samples of one component: a window of rows and columns of the whole.
struct Plane {
  uint8_t* data = nullptr;
  ptrdiff_t stride = 0;
  int first_row = 0;
  int first_column = 0;
  bool has_last_column = false;

  uint8_t* row(int index) const { return data + (index - first_row) * stride; }
};

/// Upsamples, converts and writes the rows of the region in order.
class RowWriter {
 public:
  /// Bytes of scratch memory that `start` needs for regions of this width.
  static size_t scratch_bytes(int width);

  void start(const DecoderLoops& kernels, const Geometry& geometry, Color color, Format format,
             uint8_t* scratch, uint8_t* out, ptrdiff_t row_stride);

  /// Writes the rows above image row `end` that are not written yet.
  void write_until(int end);

  Plane plane[kMaxComponents];

 private:
  const uint8_t* component_row(int index, int y);
  const uint8_t* upsample(int index, int y);
  void write_row(uint8_t* out, int y);

  const DecoderLoops* kernels_ = nullptr;
  const Geometry* geometry_ = nullptr;
  Color color_ = Color::kYCbCr;
  Format format_ = Format::kRgb;
  uint8_t* upsampled_[kMaxComponents] = {};
  int upsampled_row_[kMaxComponents] =
      {};  ///< component row in `upsampled_`, -1 if none can be reused
  uint8_t* out_ = nullptr;
  ptrdiff_t row_stride_ = 0;
  int next_ = 0;
};

}  // namespace daliesque::jpeg
