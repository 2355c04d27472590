// SPDX-License-Identifier: Apache-2.0
// RecordIO files of MXNet.
#pragma once

#include <vector>

#include "core/samples.h"
#include "records/fault.h"

namespace daliesque::records {

/// Images (1-D, uint8) and labels (1-D, float32) of records. Records with faults leave entries in
/// `errors`, sorted by index, and samples whose contents mean nothing.
std::vector<Samples> parse_recordio(const Samples& records, std::vector<RecordError>& errors);

}  // namespace daliesque::records
