// SPDX-License-Identifier: Apache-2.0
// What can be wrong with a record.
#pragma once

#include <cstdint>

namespace daliesque::records {

enum class RecordFault {
  none,
  too_short,        ///< shorter than a header
  bad_length,       ///< the checksum of the length does not fit
  cut_short,        ///< it is longer than what there is
  bad_checksum,     ///< the checksum of the contents does not fit
  malformed,        ///< it is not the message that was expected
  missing_feature,  ///< a feature is missing, and there is no default
  wrong_type,       ///< values have another type than expected
  too_many_values,  ///< a feature has more values than its shape
  wrong_multiple,   ///< the number of values is no multiple of what the partial shape needs
  bad_magic,        ///< it does not begin like a record
  wrong_size,       ///< the number of values is not that of the shape
  mixed,            ///< type or dimensionality differ from those of other records
  bad_label,        ///< a label is out of range
  missing_tensor,   ///< there are fewer tensors than expected
  not_read,         ///< the read error says why
};

/// A record that cannot be used; `part` (a feature or tensor) and `value` say more.
struct RecordError {
  int64_t index;
  RecordFault fault;
  int64_t part;
  int64_t value;
};

}  // namespace daliesque::records
