// SPDX-License-Identifier: Apache-2.0
// The messages in databases of Caffe and Caffe2.
#pragma once

#include <vector>

#include "core/samples.h"
#include "records/fault.h"

namespace daliesque::records {

/// Images (uint8: 1-D if encoded, otherwise HWC) and labels (1-D, int32) of Caffe's `Datum`
/// messages, as far as they are wanted. Records with faults leave entries in `errors`, sorted by
/// index, and samples whose contents mean nothing.
std::vector<Samples> parse_datums(const Samples& records, bool image, bool label,
                                  std::vector<RecordError>& errors);

/// How the labels of Caffe2 are to be understood; the numbers are those of the reference.
enum class LabelType { single, sparse, dense, weighted_sparse, none };

/// What is expected in Caffe2's `TensorProtos` messages.
struct TensorLayout {
  bool image;
  LabelType label_type;
  int64_t num_labels, additional;
  bool box;
};

/// The image, the label, the additional tensors and the box of messages, like parse_datums.
std::vector<Samples> parse_tensors(const Samples& records, const TensorLayout& layout,
                                   std::vector<RecordError>& errors);

}  // namespace daliesque::records
