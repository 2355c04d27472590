// SPDX-License-Identifier: Apache-2.0
#include "records/tfrecord.h"

#include <algorithm>
#include <bit>

#include "records/crc32c.h"
#include "records/protobuf.h"

namespace daliesque::records {

namespace {

using protobuf::Cursor;
using protobuf::Fields;
using protobuf::Wire;

// A length and its checksum, then the contents and their checksum.
constexpr int64_t kHeader = 12, kFooter = 4;

/// The length in a header, if the checksum fits.
std::optional<uint64_t> checked_length(const uint8_t* header) {
  if (masked_crc(crc32c(header, 8)) != protobuf::little_endian(header + 8, 4)) return {};
  return protobuf::little_endian(header, 8);
}

// The numbers of the three lists in a Feature message, of which it has at most one.
enum ListKind : uint64_t { kNoList = 0, kBytesList = 1, kFloatList = 2, kInt64List = 3 };

uint64_t kind_of(DType dtype) {
  return dtype == DType::int64 ? kInt64List : dtype == DType::float32 ? kFloatList : kBytesList;
}

/// A feature in a record.
struct Found {
  Cursor entry;  // of the map of features; empty if there is none
  uint64_t kind = kNoList;
  int64_t superseded = 0;  // lists before those that count
  int64_t count = 0;
  Cursor first;  // of the strings
};

/// How many numbers there are in a run of packed ones.
int64_t count_varints(Cursor packed) {
  const uint8_t* data = packed.data();
  int64_t count = 0;
  for (size_t k = 0; k < packed.size(); k++) count += data[k] < 0x80;
  if (!packed.done() && data[packed.size() - 1] >= 0x80) throw protobuf::Malformed();
  return count;
}

/// Calls `visit(kind, list)` for each list in the entry of a feature.
template <class Visit>
void for_each_list(Cursor entry, Visit&& visit) {
  for (Fields part(entry); part.next();) {
    if (!part.is(2, Wire::bytes)) continue;
    for (Fields list(part.bytes()); list.next();) {
      if (list.number() <= kInt64List && list.is(list.number(), Wire::bytes)) {
        visit(list.number(), list.bytes());
      }
    }
  }
}

void count_values(Found& found) {
  int64_t lists = 0;
  for_each_list(found.entry, [&](uint64_t kind, Cursor list) {
    // A list of another kind replaces what came before.
    if (kind != found.kind) {
      found.count = 0;
      found.superseded = lists;
    }
    lists++;
    found.kind = kind;
    for (Fields value(list); value.next();) {
      if (value.number() != 1) continue;
      if (kind == kBytesList && value.is(1, Wire::bytes)) {
        const Cursor text = value.bytes();
        if (found.count++ == 0) found.first = text;
      } else if (kind == kFloatList && value.is(1, Wire::bytes)) {
        const size_t bytes = value.bytes().size();
        if (bytes % 4 != 0) throw protobuf::Malformed();
        found.count += static_cast<int64_t>(bytes / 4);
      } else if (kind == kInt64List && value.is(1, Wire::bytes)) {
        found.count += count_varints(value.bytes());
      } else if ((kind == kFloatList && value.is(1, Wire::fixed32)) ||
                 (kind == kInt64List && value.is(1, Wire::varint))) {
        found.count++;
      }
    }
  });
}

/// Writes the numbers of a feature that count_values has counted.
void copy_values(const Found& found, void* out) {
  auto* integers = static_cast<int64_t*>(out);
  auto* floats = static_cast<float*>(out);
  int64_t lists = 0;
  for_each_list(found.entry, [&](uint64_t kind, Cursor list) {
    if (lists++ < found.superseded) return;
    for (Fields value(list); value.next();) {
      if (value.number() != 1) continue;
      if (kind == kFloatList && value.is(1, Wire::fixed32)) {
        *floats++ = value.fixed_float();
      } else if (kind == kInt64List && value.is(1, Wire::varint)) {
        *integers++ = static_cast<int64_t>(value.varint());
      } else if (value.is(1, Wire::bytes)) {
        Cursor packed = value.bytes();
        if (kind == kFloatList && std::endian::native == std::endian::little) {
          std::memcpy(floats, packed.data(), packed.size());
          floats += packed.size() / 4;
          continue;
        }
        while (!packed.done()) {
          if (kind == kFloatList) {
            *floats++ = packed.fixed_float();
          } else {
            *integers++ = static_cast<int64_t>(packed.varint());
          }
        }
      }
    }
  });
}

int64_t volume_of(const FeatureRule& rule) { return volume(rule.shape); }

/// The features of one record.
class Record {
 public:
  Record(const std::vector<FeatureRule>& rules, Found* found) : rules_(rules), found_(found) {}

  /// If the record is `known`, its contents fit their checksum.
  RecordError read(const uint8_t* data, int64_t size, bool known) {
    try {
      const RecordFault fault = unwrap(data, size, known);
      if (fault != RecordFault::none) return {0, fault, 0, size};
      find();
      for (size_t f = 0; f < rules_.size(); f++) {
        if (!found_[f].entry.done()) count_values(found_[f]);
      }
    } catch (const protobuf::Malformed&) {
      return {0, RecordFault::malformed, 0, 0};
    }
    for (size_t f = 0; f < rules_.size(); f++) {
      const RecordFault fault = check(rules_[f], found_[f]);
      if (fault != RecordFault::none) {
        return {0, fault, static_cast<int64_t>(f), found_[f].count};
      }
    }
    return {0, RecordFault::none, 0, 0};
  }

 private:
  /// Checks lengths and checksums.
  RecordFault unwrap(const uint8_t* data, int64_t size, bool known) {
    if (size < kHeader + kFooter) return RecordFault::too_short;
    const auto length = checked_length(data);
    if (!length) return RecordFault::bad_length;
    if (*length > static_cast<uint64_t>(size - kHeader - kFooter)) return RecordFault::cut_short;
    example_ = Cursor(data + kHeader, static_cast<size_t>(*length));
    if (known) return RecordFault::none;
    const uint64_t stored = protobuf::little_endian(data + kHeader + *length, 4);
    const bool fits = masked_crc(crc32c(example_.data(), example_.size())) == stored;
    return fits ? RecordFault::none : RecordFault::bad_checksum;
  }

  /// Finds the entries of the features; of several for one feature, the last counts.
  void find() {
    for (Fields part(example_); part.next();) {
      if (!part.is(1, Wire::bytes)) continue;
      for (Fields entries(part.bytes()); entries.next();) {
        if (!entries.is(1, Wire::bytes)) continue;
        const Cursor entry = entries.bytes();
        std::string_view name;
        for (Fields field(entry); field.next();) {
          if (field.is(1, Wire::bytes)) name = field.bytes().text();
        }
        for (size_t f = 0; f < rules_.size(); f++) {
          if (rules_[f].name == name) found_[f].entry = entry;
        }
      }
    }
  }

  static RecordFault check(const FeatureRule& rule, const Found& found) {
    const int64_t most = volume_of(rule);
    const bool is_string = rule.dtype == DType::uint8;
    if (found.count > 0 && found.kind != kind_of(rule.dtype)) return RecordFault::wrong_type;
    if (!rule.fixed) {
      const bool fits = most == 0 ? found.count == 0 : found.count % most == 0;
      return fits ? RecordFault::none : RecordFault::wrong_multiple;
    }
    if (!is_string && found.count > most) return RecordFault::too_many_values;
    const bool complete = is_string ? found.count > 0 : found.count == most;
    if (!complete && !rule.fallback) return RecordFault::missing_feature;
    return RecordFault::none;
  }

  const std::vector<FeatureRule>& rules_;
  Found* found_;
  Cursor example_;
};

/// Records and what was found in them.
struct BatchContents {
  const Samples& records;
  size_t features;
  std::vector<Found> found;
  std::vector<RecordError> faults;

  bool usable(int64_t i) const { return faults[static_cast<size_t>(i)].fault == RecordFault::none; }
  const Found& at(int64_t i, size_t feature) const {
    return found[static_cast<size_t>(i) * features + feature];
  }
};

/// Strings as parts of the records, if these consist mostly of them.
std::optional<Samples> view_strings(const BatchContents& contents, size_t feature) {
  const Samples& records = contents.records;
  std::vector<Samples::Range> ranges;
  int64_t bytes = 0;
  for (int64_t i = 0; i < records.size(); i++) {
    const Found& item = contents.at(i, feature);
    const bool usable = contents.usable(i);
    if (usable && item.count == 0) return {};
    const auto extent = usable ? static_cast<int64_t>(item.first.size()) : 0;
    ranges.push_back({usable ? item.first.data() - records.data<uint8_t>(i) : 0, extent, 1});
    bytes += extent;
  }
  if (2 * bytes < records.total_volume()) return {};
  return records.slice(ranges, {false}, "");
}

Samples copy_strings(const BatchContents& contents, size_t feature, const FeatureRule& rule) {
  const auto text_of = [&](int64_t i) -> std::string_view {
    if (!contents.usable(i)) return {};
    const Found& item = contents.at(i, feature);
    return item.count > 0 ? item.first.text() : std::string_view(*rule.fallback);
  };
  const int64_t count = contents.records.size();
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < count; i++) sizes.push_back(static_cast<int64_t>(text_of(i).size()));
  const Samples out = Samples::empty(DType::uint8, 1, std::move(sizes), "", count);
  for (int64_t i = 0; i < count; i++) {
    const std::string_view text = text_of(i);
    if (!text.empty()) std::memcpy(out.data(i), text.data(), text.size());
  }
  return out;
}

Samples copy_numbers(BatchContents& contents, size_t feature, const FeatureRule& rule) {
  const int64_t count = contents.records.size(), unit = std::max<int64_t>(1, volume_of(rule));
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < count; i++) {
    if (!rule.fixed) {
      shapes.push_back(contents.usable(i) ? contents.at(i, feature).count / unit : 0);
    }
    shapes.insert(shapes.end(), rule.shape.begin(), rule.shape.end());
  }
  const int ndim = static_cast<int>(rule.shape.size()) + (rule.fixed ? 0 : 1);
  const Samples out = Samples::empty(rule.dtype, ndim, std::move(shapes), "", count);
  for (int64_t i = 0; i < count; i++) {
    if (!contents.usable(i)) continue;
    const Found& item = contents.at(i, feature);
    if (item.count < out.volume(i)) {
      std::memcpy(out.data(i), rule.fallback->data(), rule.fallback->size());
    }
    try {
      copy_values(item, out.data(i));
    } catch (const protobuf::Malformed&) {
      contents.faults[static_cast<size_t>(i)].fault = RecordFault::malformed;
    }
  }
  return out;
}

}  // namespace

RecordIndex index_tfrecord(const files::ByteSource& source) {
  RecordIndex index;
  files::SourceWindow window(source);
  int64_t offset = 0;
  const int64_t total = source.size();
  while (offset < total && index.fault == RecordFault::none) {
    index.fault_offset = offset;
    if (total - offset < kHeader + kFooter) {
      index.fault = RecordFault::cut_short;
      break;
    }
    const auto length = checked_length(window.at(offset, kHeader));
    if (!length) {
      index.fault = RecordFault::bad_length;
    } else if (*length > static_cast<uint64_t>(total - offset - kHeader - kFooter)) {
      index.fault = RecordFault::cut_short;
    } else {
      index.offsets.push_back(offset);
      index.sizes.push_back(static_cast<int64_t>(*length) + kHeader + kFooter);
      offset += index.sizes.back();
    }
  }
  return index;
}

std::vector<Samples> ExampleParser::read(files::Archives& archives, const Pieces& pieces,
                                         std::vector<files::PieceError>& unread,
                                         std::vector<RecordError>& errors) const {
  const size_t features = rules_.size(), count = pieces.files.size();
  std::vector<Found> found(count * features);
  std::vector<RecordError> faults(count, {0, RecordFault::not_read, 0, 0});
  const Samples records =
      archives.read(DType::uint8, pieces.files, pieces.offsets, pieces.sizes, unread,
                    [&](int64_t index, const uint8_t* data, bool known) {
                      const auto k = static_cast<size_t>(index);
                      Record record(rules_, found.data() + k * features);
                      faults[k] = record.read(data, pieces.sizes[k], known);
                      faults[k].index = index;
                      return faults[k].fault == RecordFault::none;
                    });
  BatchContents contents{records, features, std::move(found), std::move(faults)};
  std::vector<Samples> outputs;
  for (size_t f = 0; f < features; f++) {
    if (rules_[f].dtype != DType::uint8) {
      outputs.push_back(copy_numbers(contents, f, rules_[f]));
    } else if (auto views = view_strings(contents, f)) {
      outputs.push_back(std::move(*views));
    } else {
      outputs.push_back(copy_strings(contents, f, rules_[f]));
    }
  }
  for (const RecordError& fault : contents.faults) {
    if (fault.fault != RecordFault::none && fault.fault != RecordFault::not_read) {
      errors.push_back(fault);
    }
  }
  return outputs;
}

}  // namespace daliesque::records
