// SPDX-License-Identifier: Apache-2.0
#include "records/record_index.h"

#include <algorithm>
#include <charconv>

#include "records/blanks.h"

namespace daliesque::records {

namespace {

const char* skip_blanks(const char* at, const char* end) {
  while (at != end && is_blank(*at)) at++;
  return at;
}

/// Reads a number and the blanks after it; null if there is none.
const char* read_number(const char* at, const char* end, int64_t& value) {
  const auto [next, error] = std::from_chars(at, end, value);
  if (error != std::errc() || (next != end && !is_blank(*next))) return nullptr;
  return skip_blanks(next, end);
}

}  // namespace

int64_t parse_number_pairs(std::string_view text, std::vector<int64_t>& first,
                           std::vector<int64_t>& second) {
  const char *at = text.data(), *end = at + text.size();
  for (int64_t line = 1; at != end; line++) {
    const char* stop = std::find(at, end, '\n');
    const char* next = skip_blanks(at, stop);
    if (next != stop) {
      int64_t pair[2];
      for (int64_t& value : pair) {
        if (next != nullptr) next = read_number(next, stop, value);
      }
      if (next != stop) return line;
      first.push_back(pair[0]);
      second.push_back(pair[1]);
    }
    at = stop == end ? end : stop + 1;
  }
  return 0;
}

}  // namespace daliesque::records
