// SPDX-License-Identifier: Apache-2.0
// Separable resampling of images, sequences and volumes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/dtype.h"
#include "core/per_sample.h"
#include "core/samples.h"
#include "resize/geometry.h"
#include "resize/resample_plan.h"

namespace daliesque::resize {

/// Rows of pixels in memory; the stride is in bytes.
template <class Byte>
struct Rows {
  Byte* data;
  ptrdiff_t stride;

  Byte* operator[](int64_t row) const { return data + row * stride; }
};
using SourceRows = Rows<const std::byte>;
using TargetRows = Rows<std::byte>;

/// Resamples images of one size to another. Making one costs a look-up if the thread has met the
/// same geometry lately, else a few microseconds. Working memory is kept per thread, so that any
/// number of threads may share a resizer.
class ImageResizer {
 public:
  /// `channels` interleaved values make a pixel. `in` is uint8, uint16, int16 or float32; `out` is
  /// the same or float32.
  ImageResizer(const AxisRequest& rows, const AxisRequest& columns, int64_t channels, DType in,
               DType out);
  /// The same from a plan of two axes.
  ImageResizer(const ResamplePlan& plan, int64_t channels, DType in, DType out);
  /// The same from tables; `rows_first` is the order of passes of float arithmetic.
  ImageResizer(TablePtr rows, TablePtr columns, bool rows_first, int64_t channels, DType in,
               DType out);

  int64_t height() const { return rows_->out_size; }
  int64_t width() const { return columns_->out_size; }

  /// Makes output rows [begin, end). Both pointers are those of whole images. Only input pixels
  /// that these rows need are read.
  void run(TargetRows out, SourceRows in, int64_t begin, int64_t end) const;

 private:
  void run_nearest(TargetRows out, SourceRows in, int64_t begin, int64_t end) const;
  void run_fixed(TargetRows out, SourceRows in, int64_t begin, int64_t end) const;
  void run_fixed_rows(TargetRows out, SourceRows in, int64_t begin, int64_t end) const;
  void run_rows(TargetRows out, SourceRows in, int64_t begin, int64_t end) const;
  void run_columns(TargetRows out, SourceRows in, int64_t begin, int64_t end) const;
  void run_rows_first(TargetRows out, SourceRows in, int64_t begin, int64_t end) const;
  void run_columns_first(TargetRows out, SourceRows in, int64_t begin, int64_t end) const;
  bool fits_fixed() const;

  TablePtr rows_, columns_;
  bool rows_first_;
  int64_t channels_;
  PixelType in_, out_;
};

/// How the samples of a batch are resampled: the axes of `geometry` (1 to 3, neighboring),
/// beginning with `first_axis`. Filters have a value for each sample, or one for all.
struct ResizeRequest {
  int first_axis;
  const ResizeGeometry& geometry;
  int64_t first_row;  ///< of the geometry, if it has a row for each sample: that of the first
  PerSample<int32_t> min_filters, mag_filters;
  bool antialias;
};

/// Fills `out`, whose shapes are those of `in` with the sizes of the geometry. Both are contiguous;
/// types as for ImageResizer.
void resize(Samples& out, const Samples& in, const ResizeRequest& request);

}  // namespace daliesque::resize
