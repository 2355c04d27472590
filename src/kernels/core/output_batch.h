// SPDX-License-Identifier: Apache-2.0
// One buffer for a batch that several threads make, each a part of it at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/samples.h"

namespace daliesque {

/// The buffer of a batch of `count` samples of equal shapes, which are known only when the first
/// part of it is allocated. Between begin() and end(), the first Samples that the calling thread
/// allocates for as many samples as the part has lies in the part's piece of the buffer.
class OutputBatch {
 public:
  explicit OutputBatch(int64_t count);

  void begin(int64_t first, int64_t count);
  static void end();

  /// Whether samples lie in the buffer from sample `first` on, one after the other.
  bool holds(int64_t first, const Samples& part) const;
  /// The whole batch. All parts of it must have been made.
  Samples batch(const std::string& layout) const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// Memory in the buffer of the batch that the calling thread makes a part of.
struct OutputPiece {
  Buffer owner;
  void* data;
};

/// The piece for samples of `bytes` bytes together, if the calling thread makes a part of a batch
/// that they fit into. A part has one piece.
std::optional<OutputPiece> claim_output(DType dtype, int ndim, const std::vector<int64_t>& shapes,
                                        int64_t count, size_t bytes);

}  // namespace daliesque
