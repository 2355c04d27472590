// SPDX-License-Identifier: Apache-2.0
// Reading the samples of tar archives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "files/archives.h"
#include "records/component_index.h"

namespace daliesque::records {

/// Reads samples, given by their numbers in an index: one Samples for each output. A sample of
/// which something cannot be read leaves an entry in `errors`, sorted by index, and contents that
/// mean nothing.
std::vector<Samples> read_components(files::Archives& archives, const ComponentIndex& index,
                                     std::span<const int64_t> numbers,
                                     std::vector<files::PieceError>& errors);

}  // namespace daliesque::records
