// SPDX-License-Identifier: Apache-2.0
// Batches as Arrow columns, over the same memory.
#pragma once

#include "core/arrow.h"
#include "core/samples.h"

namespace daliesque::arrow {

/// How the samples of a batch are the rows of a column.
enum class Form {
  numbers,       ///< samples without axes as plain values
  fixed_lists,   ///< uniform samples as lists of one length
  lists,         ///< all elements of a sample as a list, with 32-bit offsets
  large_lists,   ///< likewise, with 64-bit offsets
  bytes,         ///< vectors of uint8 as binary values, with 32-bit offsets
  large_bytes,   ///< likewise, with 64-bit offsets
  tensors,       ///< structs of a list of the elements and a list of int32 extents
  large_tensors  ///< likewise, with 64-bit offsets of the elements
};

/// Fills in an array over the memory of packed samples; the consumer calls its `release`. Offsets
/// and shapes are new, and so are booleans, which Arrow packs into bits. Throws UsageError if
/// elements or extents are too many for 32 bits where the form has these.
void export_samples(const Samples& samples, Form form, Array* out);

}  // namespace daliesque::arrow
