// SPDX-License-Identifier: Apache-2.0
// What separates the words of a line in the text files of indices.
#pragma once

namespace daliesque::records {

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

}  // namespace daliesque::records
