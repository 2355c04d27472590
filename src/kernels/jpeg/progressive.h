// SPDX-License-Identifier: Apache-2.0
// The scans of a progressive image, gathered into coefficients.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jpeg/decoder_loops.h"
#include "jpeg/geometry.h"
#include "jpeg/header.h"
#include "jpeg/scan.h"
#include "jpeg/smoothing.h"
#include "jpeg/state.h"

namespace daliesque::jpeg {

/// How precisely the scans so far give each coefficient.
class Progression {
 public:
  Progression();

  /// Takes note of a scan; returns what is wrong with it, or null.
  const char* add(const Header& header);

  bool has_begun(int component) const { return low_[component][0] != kUnknown; }

  /// Whether some coefficients are imprecise that libjpeg guesses from other blocks.
  bool leaves_guesses(int component) const;

  /// For each coefficient in file order the lowest bit known, negative if there is none.
  const int8_t* lowest_bits(int component) const { return low_[component]; }

 private:
  static constexpr int8_t kUnknown = -1;
  int8_t low_[kMaxComponents][kBlockSize];  ///< the lowest bit known, or kUnknown
};

/// Reads all scans of an image. Blocks below the given number of rows of MCUs are left out.
class ProgressiveScans {
 public:
  ProgressiveScans(DecoderState* state, HeaderReader* headers, ScanData* scan,
                   const Geometry& geometry, int mcu_rows)
      : state_(*state),
        headers_(*headers),
        scan_(*scan),
        geometry_(geometry),
        mcu_rows_(mcu_rows) {}

  /// Call it when the first scan header has been read. `size` is that of the file.
  Result read_all(size_t size);

  /// The blocks of a component from the given one to the end of its row.
  Blocks row(int component, int row, int column) const;

  /// Whether blocks must be smoothed.
  bool needs_smoothing() const;

  Smoother smoother(int component) const {
    return {quant_[component], progression_.lowest_bits(component)};
  }

 private:
  /// Where the blocks of a component are; rows have those of whole MCUs.
  struct BlockArray {
    ptrdiff_t first = 0;
    ptrdiff_t columns = 0;
  };

  Result allocate(size_t size);
  void clear_padding(int component);
  void take_quantizers();
  ScanGrid block_grid(int component) const;
  Result read_scan();
  Result read_dc_scan();
  Result read_ac_scan();
  Result plan_component(const ScanComponent& scan, McuPlan* plan);
  Result check_complete() const;
  bool is_wanted() const;
  Result corrupt(const char* what) const { return {Status::kCorrupt, what, headers_.position()}; }

  DecoderState& state_;
  HeaderReader& headers_;
  ScanData& scan_;
  const Geometry& geometry_;
  const int mcu_rows_;
  const DecoderLoops& kernels_ = decoder_loops();
  Progression progression_;
  uint16_t quant_[kMaxComponents][kGuessed] = {};  ///< in file order
  BlockArray arrays_[kMaxComponents];
  Blocks blocks_ = {};
};

}  // namespace daliesque::jpeg
