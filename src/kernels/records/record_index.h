// SPDX-License-Identifier: Apache-2.0
// Index files: text that says where the records of another file are.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace daliesque::records {

/// Reads pairs of numbers, one pair in a line, as indices of TFRecord and RecordIO files have them.
/// Returns 0, or the number of the first line that holds something else.
int64_t parse_number_pairs(std::string_view text, std::vector<int64_t>& first,
                           std::vector<int64_t>& second);

}  // namespace daliesque::records
