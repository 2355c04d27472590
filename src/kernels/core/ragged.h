// SPDX-License-Identifier: Apache-2.0
// Tables of which each sample gets some rows.
#pragma once

#include <cstdint>
#include <span>

#include "core/samples.h"

namespace daliesque {

/// Sample i gets counts[i] rows of `table` (one contiguous sample, whose rows are along its first
/// axis) from begins[i] on. Throws std::out_of_range for rows that do not exist.
Samples copy_rows(const Samples& table, std::span<const int64_t> begins,
                  std::span<const int64_t> counts);

}  // namespace daliesque
