// SPDX-License-Identifier: Apache-2.0
// Copies of samples of several batches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/samples.h"

namespace daliesque {

/// Copies of samples at[i] of parts[which[i]] for each i, in one buffer. All parts must agree in
/// type and number of axes. The calling thread alone copies: memory, not the processor, is what
/// limits it. Throws std::out_of_range for samples that do not exist.
Samples gather(const std::vector<const Samples*>& parts, std::span<const int64_t> which,
               std::span<const int64_t> at);

}  // namespace daliesque
