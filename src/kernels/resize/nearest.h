// SPDX-License-Identifier: Apache-2.0
// Resampling without a filter: pixels are picked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "resize/resample_table.h"

namespace daliesque::resize {

/// A loop that picks the pixels of one row. `in` points to the pixel columns.first. `size` is to be
/// handed over with each call.
struct PickRow {
  void (*run)(std::byte* out, const std::byte* in, const AxisTable& columns, int64_t size);
  int64_t size;
};

/// The loop for pixels of `channels` values; `out` is `in` or float32.
PickRow find_pick_loop(PixelType out, PixelType in, int64_t channels);

}  // namespace daliesque::resize
