// SPDX-License-Identifier: Apache-2.0
// Text files that list names of files, one in each line, with or without a label behind it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace daliesque::files {

struct NameList {
  std::string names;            ///< all of them, one after the other
  std::vector<int64_t> ends;    ///< where each of them ends
  std::vector<int32_t> labels;  ///< of each, if there are labels
  /// Whether no name is absolute, a URL or has a part that could lead out of its folder.
  bool is_plain = true;
  int64_t bad_line = 0;  ///< the first line, counted from 1, that is no entry; 0: there is none
};

/// Blank lines are left out. Names may have spaces inside; a label is an integer from 0 to
/// 2147483647.
NameList parse_name_list(std::string_view text, bool has_labels);

}  // namespace daliesque::files
