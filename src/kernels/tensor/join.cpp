// SPDX-License-Identifier: Apache-2.0
#include "tensor/join.h"

#include <algorithm>
#include <stdexcept>

#include "core/errors.h"
#include "core/parallel.h"
#include "core/rearrange.h"

namespace daliesque::tensor {

namespace {

// Of copying, and of each run that is copied.
constexpr double kJoinNanosecondsPerByte = 0.15, kJoinNanosecondsPerRun = 3;
// Short runs of all parts are interleaved while their target is in the cache.
constexpr int64_t kBlockBytes = 16384;

std::vector<int64_t> joined_shapes(const std::vector<const Samples*>& parts, size_t axis) {
  const Samples& first = *parts[0];
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < first.size(); i++) {
    const size_t begin = shapes.size();
    shapes.insert(shapes.end(), first.shape(i).begin(), first.shape(i).end());
    for (size_t p = 1; p < parts.size(); p++) {
      const Shape shape = parts[p]->shape(i);
      for (size_t k = 0; k < shape.size(); k++) {
        if (k == axis) {
          shapes[begin + k] += shape[k];
        } else if (shape[k] != shapes[begin + k]) {
          throw UsageError("the shapes do not fit together");
        }
      }
    }
  }
  return shapes;
}

/// The bytes of a part that stay together, i.e. of an index of the axes before `axis`.
int64_t run_bytes(const Samples& part, int64_t i, size_t axis) {
  return volume(part.shape(i).subspan(axis)) * static_cast<int64_t>(part.itemsize());
}

/// Copies the runs [begin, end) of all parts.
void copy_block(std::byte* out, const std::vector<const Samples*>& parts, int64_t i, size_t axis,
                int64_t row, int64_t begin, int64_t end) {
  const RearrangeLoops& loops = rearrange_loops();
  int64_t offset = 0;
  for (const Samples* part : parts) {
    const int64_t bytes = run_bytes(*part, i, axis);
    if (bytes) {
      loops.copy_runs(out + begin * row + offset, row, part->data<std::byte>(i) + begin * bytes,
                      bytes, bytes, end - begin);
    }
    offset += bytes;
  }
}

}  // namespace

Samples concatenate(const std::vector<const Samples*>& parts, int axis, std::string layout) {
  const Samples& first = *parts.at(0);
  const auto along = static_cast<size_t>(axis);
  for (const Samples* part : parts) {
    if (part->size() != first.size() || part->dtype() != first.dtype() ||
        part->ndim() != first.ndim()) {
      throw std::invalid_argument("the parts differ in type or number of axes");
    }
  }
  Samples out = Samples::empty(first.dtype(), first.ndim(), joined_shapes(parts, along),
                               std::move(layout), first.size());
  parallel_slices(
      out.size(), [&](int64_t i) { return out.volume(i) ? volume(out.shape(i).first(along)) : 0; },
      [&](int64_t i) {
        return static_cast<double>(run_bytes(out, i, along)) * kJoinNanosecondsPerByte +
               static_cast<double>(parts.size()) * kJoinNanosecondsPerRun;
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const int64_t row = run_bytes(out, i, along);
        const int64_t block = std::max<int64_t>(1, kBlockBytes / row);
        for (int64_t k = begin; k < end; k += block) {
          copy_block(out.data<std::byte>(i), parts, i, along, row, k, std::min(end, k + block));
        }
      });
  return out;
}

}  // namespace daliesque::tensor
