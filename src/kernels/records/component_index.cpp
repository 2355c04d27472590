// SPDX-License-Identifier: Apache-2.0
#include "records/component_index.h"

#include <algorithm>
#include <charconv>

#include "records/blanks.h"
#include "records/tar.h"

namespace daliesque::records {

namespace {

/// The next word of a line, which is removed; empty at the end.
std::string_view next_word(std::string_view& line) {
  const auto begin = std::find_if_not(line.begin(), line.end(), is_blank);
  const auto end = std::find_if(begin, line.end(), is_blank);
  line.remove_prefix(static_cast<size_t>(end - line.begin()));
  return {begin, end};
}

/// The next line of a text, which is removed.
std::string_view next_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool parse_number(std::string_view word, int64_t& value) {
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stop == end && value >= 0;
}

/// The two parts of a file's name.
struct Name {
  std::string_view stem, extension;
  bool hidden;  // it belongs to no sample
};

Name split(std::string_view name) {
  const size_t base = name.rfind('/') + 1;
  const size_t dot = name.find('.', base);
  // A name without a dot is its own extension, as for the reference.
  if (dot == name.npos) return {name, name, false};
  return {name.substr(0, dot), name.substr(dot + 1), dot == base};
}

ComponentFault to_fault(TarFault fault) {
  switch (fault) {
    case TarFault::no_tar:
      return ComponentFault::no_tar;
    case TarFault::cut_short:
      return ComponentFault::cut_short;
    case TarFault::compressed:
      return ComponentFault::compressed;
    default:
      return ComponentFault::none;
  }
}

}  // namespace

ComponentIndex::ComponentIndex(const std::vector<std::vector<std::string>>& extensions,
                               std::vector<DType> dtypes, bool case_sensitive,
                               MissingComponents missing)
    : dtypes_(std::move(dtypes)), case_sensitive_(case_sensitive), missing_(missing) {
  for (size_t output = 0; output < extensions.size(); output++) {
    for (const std::string& extension : extensions[output]) {
      auto& outputs = outputs_of_[extension];
      if (outputs.empty() || outputs.back() != output) outputs.push_back(output);
    }
  }
}

int64_t ComponentIndex::file_of(int64_t sample) const {
  return std::upper_bound(file_ends.begin(), file_ends.end(), sample) - file_ends.begin();
}

std::string_view ComponentIndex::name(int64_t component) const {
  const auto k = static_cast<size_t>(component);
  const auto begin = static_cast<size_t>(k == 0 ? 0 : name_ends_[k - 1]);
  return std::string_view(names_).substr(begin, static_cast<size_t>(name_ends_[k]) - begin);
}

bool ComponentIndex::separate_bytes() const {
  return std::all_of(dtypes_.begin(), dtypes_.end(), [](DType d) { return d == DType::uint8; }) &&
         std::all_of(outputs_of_.begin(), outputs_of_.end(),
                     [](const auto& entry) { return entry.second.size() == 1; });
}

void ComponentIndex::begin_sample() {
  usable_ = true;
  first_component_ = offsets.size();
  first_choice_ = chosen_.size();
  chosen_.resize(chosen_.size() + dtypes_.size(), -1);
}

void ComponentIndex::add_component(std::string_view extension, std::string_view name,
                                   int64_t offset, int64_t size, int64_t where,
                                   std::vector<ComponentError>& errors) {
  lowered_ = extension;
  if (!case_sensitive_) {
    for (char& c : lowered_) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const auto found = outputs_of_.find(lowered_);
  if (found == outputs_of_.end()) return;
  bool used = false;
  for (const size_t output : found->second) {
    int64_t& choice = chosen_[first_choice_ + output];
    if (choice >= 0) {
      if (ambiguous_at < 0) {
        ambiguous_at = where;
        ambiguous_output = static_cast<int64_t>(output);
      }
      continue;
    }
    if (size % static_cast<int64_t>(dtype_size(dtypes_[output])) != 0) {
      errors.push_back({ComponentFault::bad_size, where, static_cast<int64_t>(output)});
      usable_ = false;
    }
    choice = static_cast<int64_t>(offsets.size());
    used = true;
  }
  if (!used) return;
  offsets.push_back(offset);
  sizes.push_back(size);
  names_ += name;
  name_ends_.push_back(static_cast<int64_t>(names_.size()));
}

void ComponentIndex::end_sample(int64_t where, std::vector<ComponentError>& errors) {
  if (missing_ != MissingComponents::stay_empty) {
    const auto begin = chosen_.begin() + static_cast<int64_t>(first_choice_);
    const auto hole = std::find(begin, chosen_.end(), -1);
    if (hole != chosen_.end()) {
      if (usable_ && missing_ == MissingComponents::error) {
        errors.push_back({ComponentFault::missing, where, hole - begin});
      }
      usable_ = false;
    }
  }
  if (usable_) return;
  chosen_.resize(first_choice_);
  offsets.resize(first_component_);
  sizes.resize(first_component_);
  name_ends_.resize(first_component_);
  names_.resize(first_component_ == 0 ? 0 : static_cast<size_t>(name_ends_.back()));
}

void ComponentIndex::add_tar(const files::ByteSource& source, std::vector<ComponentError>& errors) {
  std::string stem;
  int64_t where = 0;
  bool started = false;
  const TarEnd end = list_tar(source, [&](const std::string& name, int64_t offset, int64_t size) {
    const Name parts = split(name);
    if (parts.hidden) return;
    if (!started || parts.stem != stem) {
      if (started) end_sample(where, errors);
      begin_sample();
      started = true;
      stem = parts.stem;
      where = offset;
    }
    add_component(parts.extension, name, offset, size, where, errors);
  });
  if (started) end_sample(where, errors);
  if (end.fault != TarFault::none) errors.push_back({to_fault(end.fault), end.offset, 0});
}

ComponentFault ComponentIndex::add_line(std::string_view line, bool with_names, int64_t where,
                                        std::vector<ComponentError>& errors) {
  int64_t components = 0;
  for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
    int64_t offset, size;
    std::string_view name;
    if (!parse_number(next_word(line), offset) || !parse_number(next_word(line), size)) {
      return ComponentFault::bad_line;
    }
    if (with_names && (name = next_word(line)).empty()) return ComponentFault::bad_line;
    if (offset % kTarBlock != 0) return ComponentFault::bad_offset;
    add_component(word, name, offset, size, where, errors);
    components++;
  }
  return components == 0 ? ComponentFault::bad_line : ComponentFault::none;
}

void ComponentIndex::add_text(std::string_view text, std::vector<ComponentError>& errors) {
  std::string_view first = next_line(text);
  const std::string_view version = next_word(first);
  if (version != "v1.1" && version != "v1.2") {
    errors.push_back({ComponentFault::bad_version, 1, 0});
    return;
  }
  int64_t count;
  if (!parse_number(next_word(first), count) || count == 0) {
    errors.push_back({ComponentFault::bad_count, 1, 0});
    return;
  }
  for (int64_t sample = 0; sample < count; sample++) {
    const int64_t line = sample + 2;
    if (text.empty()) {
      errors.push_back({ComponentFault::too_few_lines, line, 0});
      return;
    }
    begin_sample();
    const ComponentFault fault = add_line(next_line(text), version == "v1.2", line, errors);
    if (fault != ComponentFault::none) {
      errors.push_back({fault, line, 0});
      usable_ = false;
      const auto known = errors.size();
      end_sample(line, errors);
      errors.resize(known);
      return;
    }
    end_sample(line, errors);
  }
}

IndexText make_index(const files::ByteSource& source, bool with_names) {
  IndexText index;
  std::string lines, stem;
  int64_t samples = 0;
  const auto has_blank = [](std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) { return is_blank(c) || c == '\n'; });
  };
  index.end = list_tar(source, [&](const std::string& name, int64_t offset, int64_t size) {
    const Name parts = split(name);
    if (parts.hidden) return;
    if (samples > 0 && parts.stem == stem) {
      lines += ' ';
    } else {
      stem = parts.stem;
      if (samples++ > 0) lines += '\n';
    }
    lines.append(parts.extension).append(" ").append(std::to_string(offset));
    lines.append(" ").append(std::to_string(size));
    if (with_names) lines.append(" ").append(name);
    index.blank_extensions |= has_blank(parts.extension) || parts.extension.empty();
    index.blank_names |= has_blank(name);
  });
  index.text = with_names ? "v1.2 " : "v1.1 ";
  index.text.append(std::to_string(samples)).append("\n").append(lines);
  if (samples > 0) index.text += '\n';
  return index;
}

}  // namespace daliesque::records
