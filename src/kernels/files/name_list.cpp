// SPDX-License-Identifier: Apache-2.0
#include "files/name_list.h"

#include <algorithm>
#include <optional>

namespace daliesque::files {

namespace {

constexpr std::string_view kBlanks = " \t\n\r\f\v";
constexpr int64_t kLargestLabel = INT32_MAX;

std::string_view without_trailing(std::string_view text, std::string_view characters) {
  return text.substr(0, text.find_last_not_of(characters) + 1);
}

bool is_digit(char character) { return character >= '0' && character <= '9'; }

struct Entry {
  std::string_view name;
  int32_t label = 0;
};

/// A name, blanks, digits, and maybe more blanks.
std::optional<Entry> parse_labeled(std::string_view line) {
  line = without_trailing(line, kBlanks);
  size_t begin = line.size();
  while (begin > 0 && is_digit(line[begin - 1])) begin--;
  const std::string_view name = without_trailing(line.substr(0, begin), kBlanks);
  if (begin == line.size() || name.empty() || name.size() == begin) return std::nullopt;
  int64_t label = 0;
  for (const char digit : line.substr(begin)) {
    label = std::min<int64_t>(10 * label + (digit - '0'), kLargestLabel + 1);
  }
  if (label > kLargestLabel) return std::nullopt;
  return Entry{name, static_cast<int32_t>(label)};
}

bool is_plain_name(std::string_view name) {
  if (name.starts_with('/')) return false;
  for (size_t k = 0; k < name.size(); k++) {
    if (name[k] == '%') return false;
    if (name[k] == '.' && name.substr(k).starts_with("..")) return false;
    if (name[k] == ':' && name.substr(k).starts_with("://")) return false;
  }
  return true;
}

}  // namespace

NameList parse_name_list(std::string_view text, bool has_labels) {
  NameList list;
  list.names.reserve(text.size());
  for (int64_t number = 1; !text.empty(); number++) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(kBlanks) == std::string_view::npos) continue;
    const std::optional<Entry> entry =
        has_labels ? parse_labeled(line) : Entry{without_trailing(line, "\r"), 0};
    if (!entry) {
      list.bad_line = number;
      return list;
    }
    list.is_plain = list.is_plain && is_plain_name(entry->name);
    list.names.append(entry->name);
    list.ends.push_back(static_cast<int64_t>(list.names.size()));
    if (has_labels) list.labels.push_back(entry->label);
  }
  return list;
}

}  // namespace daliesque::files
