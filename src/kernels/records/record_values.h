// SPDX-License-Identifier: Apache-2.0
// Records of a few values each, made into batches.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/samples.h"
#include "records/fault.h"
#include "records/protobuf.h"

namespace daliesque::records {

/// One value of a record: part of its bytes, or something that was decoded.
struct RecordValue {
  DType dtype = DType::uint8;
  int ndim = 1;
  std::array<int64_t, 3> shape{};
  protobuf::Cursor part;
  std::string decoded;
  bool is_part = true;

  /// 1-D, in the bytes of the record.
  void set_part(DType type, protobuf::Cursor bytes);
  /// 1-D, copied from `values`.
  template <class T>
  void set_values(DType type, const std::vector<T>& values) {
    dtype = type;
    shape[0] = static_cast<int64_t>(values.size());
    decoded.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    is_part = false;
  }

  std::string_view bytes() const { return is_part ? part.text() : std::string_view(decoded); }
};

/// Takes a record apart: fills its values, or says what is wrong with it. May throw
/// protobuf::Malformed.
using RecordParser = std::function<RecordError(protobuf::Cursor record, RecordValue* values)>;

/// Calls `parse` for each record, which has `outputs` values. Records with faults leave entries in
/// `errors`, sorted by index, and samples whose contents mean nothing. Large values may share the
/// memory of `records`.
std::vector<Samples> parse_records(const Samples& records, size_t outputs,
                                   const RecordParser& parse, std::vector<RecordError>& errors);

}  // namespace daliesque::records
