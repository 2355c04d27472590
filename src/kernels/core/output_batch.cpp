// SPDX-License-Identifier: Apache-2.0
#include "core/output_batch.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace daliesque {

struct OutputBatch::State {
  explicit State(int64_t samples) : count(samples) {}

  const int64_t count;
  std::mutex mutex;
  Buffer buffer;  // null until the first part is allocated
  DType dtype = DType::uint8;
  std::vector<int64_t> shape;
  size_t sample_bytes = 0;

  std::byte* sample(int64_t i) const {
    return static_cast<std::byte*>(buffer.get()) + static_cast<size_t>(i) * sample_bytes;
  }
};

namespace {

/// The part that a thread makes, until it has claimed its piece.
struct Part {
  std::shared_ptr<OutputBatch::State> batch;
  int64_t first = 0, count = 0;
};

thread_local Part current;

bool all_equal(const std::vector<int64_t>& shapes, size_t ndim) {
  return std::equal(shapes.begin() + static_cast<ptrdiff_t>(ndim), shapes.end(), shapes.begin());
}

}  // namespace

OutputBatch::OutputBatch(int64_t count) : state_(std::make_shared<State>(count)) {}

void OutputBatch::begin(int64_t first, int64_t count) {
  if (first < 0 || count < 1 || first + count > state_->count) {
    throw std::invalid_argument("the part is not in the batch");
  }
  current = {state_, first, count};
}

void OutputBatch::end() { current = {}; }

bool OutputBatch::holds(int64_t first, const Samples& part) const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->buffer || part.dtype() != state_->dtype || !part.contiguous() ||
      first + part.size() > state_->count) {
    return false;
  }
  for (int64_t i = 0; i < part.size(); i++) {
    if (part.data(i) != state_->sample(first + i) ||
        !std::ranges::equal(part.shape(i), state_->shape)) {
      return false;
    }
  }
  return true;
}

Samples OutputBatch::batch(const std::string& layout) const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->buffer) throw std::invalid_argument("no part of the batch was made");
  std::vector<int64_t> shape = {state_->count};
  shape.insert(shape.end(), state_->shape.begin(), state_->shape.end());
  Samples samples = Samples::wrap(state_->dtype, std::move(shape), {}, state_->buffer.get(),
                                  state_->buffer, false, false)
                        .unfold();
  samples.set_layout(layout);
  return samples;
}

std::optional<OutputPiece> claim_output(DType dtype, int ndim, const std::vector<int64_t>& shapes,
                                        int64_t count, size_t bytes) {
  if (!current.batch || count != current.count || bytes == 0) return std::nullopt;
  const auto axes = static_cast<size_t>(ndim);
  if (!all_equal(shapes, axes)) return std::nullopt;
  OutputBatch::State& batch = *current.batch;
  const std::lock_guard lock(batch.mutex);
  if (!batch.buffer) {
    batch.dtype = dtype;
    batch.shape.assign(shapes.begin(), shapes.begin() + static_cast<ptrdiff_t>(axes));
    batch.sample_bytes = bytes / static_cast<size_t>(count);
    batch.buffer = allocate(batch.sample_bytes * static_cast<size_t>(batch.count));
  } else if (dtype != batch.dtype || batch.shape.size() != axes ||
             !std::equal(batch.shape.begin(), batch.shape.end(), shapes.begin())) {
    return std::nullopt;
  }
  OutputPiece piece{batch.buffer, batch.sample(current.first)};
  current = {};
  return piece;
}

}  // namespace daliesque
