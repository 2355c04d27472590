// SPDX-License-Identifier: Apache-2.0
// Decoding of one image.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jpeg/geometry.h"
#include "jpeg/header.h"
#include "jpeg/scan.h"
#include "jpeg/state.h"

namespace daliesque::jpeg {

class ProgressiveScans;

class Image {
 public:
  /// `rows_below` is how many rows of MCUs below the region are read of a progressive image.
  Image(DecoderState* state, const uint8_t* data, size_t size, const DecodeOptions& options,
        int rows_below)
      : state_(*state),
        data_(data),
        size_(size),
        options_(options),
        rows_below_(rows_below),
        headers_(data, size),
        scan_(&state->reader, data, size) {}

  Result decode(uint8_t* out, ptrdiff_t row_stride);

  /// After `decode`: whether it came to nothing because smoothing needs more rows below.
  bool lacks_rows_below() const { return lacks_rows_below_; }

 private:
  /// What a scan holds of one component.
  struct ScanPart {
    int component = 0;
    int h = 1;  ///< blocks in a unit
    int v = 1;
    int first = 0;  ///< index of its first block in the coefficients of a run
  };

  Result check_size() const;
  Result allocate(bool whole_planes, uint8_t* out, ptrdiff_t row_stride);
  Result decode_scans_apart();
  Result decode_progressive();
  Result plan_scan();
  Result plan_tables(int index);
  Result decode_scan(bool streaming);
  Result decode_units(int count, bool wanted);
  Result decode_row(int row);
  void transform_run(int row, int column, int count);
  void transform_row(const Blocks& blocks, int component, int row, const ScanGrid& grid);
  void smooth_row(const ProgressiveScans& scans, int component, int row, const ScanGrid& grid);
  void transform(int component, int row, int column, int count, const int16_t* coefficients,
                 const uint8_t* last);
  void finish_band(int row);
  Result corrupt(const char* what, const uint8_t* where) const;

  DecoderState& state_;
  const uint8_t* const data_;
  const size_t size_;
  const DecodeOptions& options_;
  const int rows_below_;
  bool lacks_rows_below_ = false;
  const DecoderLoops& kernels_ = decoder_loops();
  HeaderReader headers_;
  ScanData scan_;
  Geometry geometry_;

  // The current scan, in units: MCUs, or blocks if it has a single component.
  ScanGrid grid_;
  ScanPart parts_[kMaxComponents];
  int part_count_ = 0;
  McuPlan plan_;
};

}  // namespace daliesque::jpeg
