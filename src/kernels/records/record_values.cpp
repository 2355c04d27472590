// SPDX-License-Identifier: Apache-2.0
#include "records/record_values.h"

#include <cstring>
#include <optional>

#include "core/parallel.h"

namespace daliesque::records {

namespace {

// Looking at a record, and copying what has to be copied, in nanoseconds.
constexpr double kRecordCost = 300, kByteCost = 0.1;

/// The values of all records for one output.
class ValueColumn {
 public:
  ValueColumn(const Samples& records, const std::vector<RecordValue>& values, size_t output,
              size_t outputs, std::vector<RecordError>& errors)
      : records_(records), values_(values), output_(output), outputs_(outputs), errors_(errors) {}

  Samples join() {
    first_ = nullptr;
    for (int64_t i = 0; i < records_.size(); i++) {
      if (!usable(i)) continue;
      const RecordValue& value = at(i);
      if (first_ == nullptr) first_ = &value;
      if (value.dtype != first_->dtype || value.ndim != first_->ndim) {
        errors_[static_cast<size_t>(i)] = {i, RecordFault::mixed, static_cast<int64_t>(output_), 0};
      }
    }
    if (auto views = view()) return std::move(*views);
    return copy();
  }

 private:
  bool usable(int64_t i) const {
    return errors_[static_cast<size_t>(i)].fault == RecordFault::none;
  }
  const RecordValue& at(int64_t i) const {
    return values_[static_cast<size_t>(i) * outputs_ + output_];
  }

  /// Parts of the records, if these consist mostly of them.
  std::optional<Samples> view() const {
    if (first_ == nullptr || first_->dtype != DType::uint8 || first_->ndim != 1) return {};
    std::vector<Samples::Range> ranges;
    int64_t bytes = 0;
    for (int64_t i = 0; i < records_.size(); i++) {
      if (!usable(i)) {
        ranges.push_back({0, 0, 1});
        continue;
      }
      if (!at(i).is_part) return {};
      const protobuf::Cursor& part = at(i).part;
      const auto size = static_cast<int64_t>(part.size());
      // An empty part may lie anywhere.
      const int64_t start = size == 0 ? 0 : part.data() - records_.data<uint8_t>(i);
      ranges.push_back({start, size, 1});
      bytes += size;
    }
    if (2 * bytes < records_.total_volume()) return {};
    return records_.slice(ranges, {false}, "");
  }

  Samples copy() const {
    const int ndim = first_ == nullptr ? 1 : first_->ndim;
    std::vector<int64_t> shapes;
    for (int64_t i = 0; i < records_.size(); i++) {
      for (int axis = 0; axis < ndim; axis++) {
        shapes.push_back(usable(i) ? at(i).shape[static_cast<size_t>(axis)] : 0);
      }
    }
    const DType dtype = first_ == nullptr ? DType::uint8 : first_->dtype;
    const Samples out = Samples::empty(dtype, ndim, std::move(shapes), "", records_.size());
    for (int64_t i = 0; i < records_.size(); i++) {
      if (!usable(i)) continue;
      const std::string_view bytes = at(i).bytes();
      if (!bytes.empty()) std::memcpy(out.data(i), bytes.data(), bytes.size());
    }
    return out;
  }

  const Samples& records_;
  const std::vector<RecordValue>& values_;
  size_t output_, outputs_;
  std::vector<RecordError>& errors_;
  const RecordValue* first_ = nullptr;
};

}  // namespace

void RecordValue::set_part(DType type, protobuf::Cursor bytes) {
  dtype = type;
  shape[0] = static_cast<int64_t>(bytes.size() / dtype_size(type));
  part = bytes;
}

std::vector<Samples> parse_records(const Samples& records, size_t outputs,
                                   const RecordParser& parse, std::vector<RecordError>& errors) {
  const auto count = static_cast<size_t>(records.size());
  std::vector<RecordValue> values(count * outputs);
  std::vector<RecordError> found(count);
  parallel_for(
      records.size(),
      [&](int64_t i) { return kRecordCost + kByteCost * static_cast<double>(records.volume(i)); },
      [&](int64_t i) {
        const auto k = static_cast<size_t>(i);
        const protobuf::Cursor record(records.data(i), static_cast<size_t>(records.volume(i)));
        try {
          found[k] = parse(record, values.data() + k * outputs);
        } catch (const protobuf::Malformed&) {
          found[k] = {i, RecordFault::malformed, 0, 0};
        }
        found[k].index = i;
      });
  std::vector<Samples> columns;
  for (size_t output = 0; output < outputs; output++) {
    columns.push_back(ValueColumn(records, values, output, outputs, found).join());
  }
  for (const RecordError& error : found) {
    if (error.fault != RecordFault::none) errors.push_back(error);
  }
  return columns;
}

}  // namespace daliesque::records
