// SPDX-License-Identifier: Apache-2.0
#include "core/broadcast.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "core/errors.h"

namespace daliesque {

namespace {

std::string text_of(Shape shape) {
  std::string text = "(";
  for (size_t axis = 0; axis < shape.size(); axis++) {
    text += (axis ? ", " : "") + std::to_string(shape[axis]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

Shape shape_of(const Samples& operand, int64_t i) {
  return operand.shape(operand.size() == 1 ? 0 : i);
}

/// The extent of an axis counted from the last one; 1 for axes that the shape does not have.
int64_t extent_from_end(Shape shape, size_t axis) {
  return axis < shape.size() ? shape[shape.size() - 1 - axis] : 1;
}

[[noreturn]] void refuse(std::span<const Samples* const> operands, int64_t i) {
  std::string text = "the shapes ";
  for (size_t k = 0; k < operands.size(); k++) {
    if (k) text += k + 1 == operands.size() ? " and " : ", ";
    text += text_of(shape_of(*operands[k], i));
  }
  throw UsageError(text + " cannot be broadcast together (sample " + std::to_string(i) +
                   "): counted from the last axis, extents must be equal or 1");
}

template <class T, int64_t times>
void repeat_whole_groups(T* __restrict out, const T* __restrict in, int64_t groups) {
  for (int64_t i = 0; i < groups; i++) {
    for (int64_t k = 0; k < times; k++) out[i * times + k] = in[i];
  }
}

/// Writes [begin, begin + count) of the sequence in which each element comes `times` times.
template <class T>
void repeat_elements(T* out, const T* in, int64_t times, int64_t begin, int64_t count) {
  in += begin / times;
  const int64_t started = begin % times;
  if (started > 0) {
    const int64_t rest = std::min(count, times - started);
    out = std::fill_n(out, rest, *in++);
    count -= rest;
  }
  const int64_t groups = count / times;
  switch (times) {
    case 2:
      repeat_whole_groups<T, 2>(out, in, groups);
      break;
    case 3:
      repeat_whole_groups<T, 3>(out, in, groups);
      break;
    case 4:
      repeat_whole_groups<T, 4>(out, in, groups);
      break;
    default:
      for (int64_t i = 0; i < groups; i++) std::fill_n(out + i * times, times, in[i]);
  }
  if (count > groups * times) std::fill_n(out + groups * times, count - groups * times, in[groups]);
}

/// Writes [begin, begin + count) of the endless repetition of a row.
template <class T>
void repeat_row(T* out, const T* row, int64_t extent, int64_t begin, int64_t count) {
  const int64_t started = begin % extent;
  const int64_t tail = std::min(count, extent - started);
  std::copy_n(row + started, tail, out);
  int64_t done = tail;
  const int64_t first = std::min(count - done, extent);
  std::copy_n(row, first, out + done);
  done += first;
  // What has been written since the end of the first, partial row repeats itself.
  while (done < count) {
    const int64_t added = std::min(count - done, (done - tail) / extent * extent);
    std::memcpy(out + done, out + tail, static_cast<size_t>(added) * sizeof(T));
    done += added;
  }
}

}  // namespace

int64_t broadcast_count(std::span<const Samples* const> operands) {
  int64_t count = 1;
  for (const Samples* operand : operands) {
    if (operand->size() == 1) continue;
    if (count != 1 && operand->size() != count) {
      throw UsageError("the operands have different numbers of samples: " + std::to_string(count) +
                       " and " + std::to_string(operand->size()));
    }
    count = operand->size();
  }
  return count;
}

std::vector<int64_t> broadcast_shapes(std::span<const Samples* const> operands, int64_t count,
                                      int ndim) {
  const auto axes = static_cast<size_t>(ndim);
  std::vector<int64_t> shapes(static_cast<size_t>(count) * axes, 1);
  for (int64_t i = 0; i < count; i++) {
    int64_t* result = shapes.data() + static_cast<size_t>(i) * axes;
    for (const Samples* operand : operands) {
      const Shape shape = shape_of(*operand, i);
      for (size_t axis = 0; axis < shape.size(); axis++) {
        int64_t& extent = result[axes - 1 - axis];
        const int64_t other = extent_from_end(shape, axis);
        if (other == 1 || other == extent) continue;
        if (extent != 1) refuse(operands, i);
        extent = other;
      }
    }
  }
  return shapes;
}

std::string broadcast_layout(std::span<const Samples* const> operands, int ndim) {
  const std::string* longest = &operands[0]->layout();
  for (const Samples* operand : operands.subspan(1)) {
    const std::string& layout = operand->layout();
    const bool longer = layout.size() > longest->size();
    if (!(longer ? layout.ends_with(*longest) : longest->ends_with(layout))) {
      throw UsageError("the layouts \"" + *longest + "\" and \"" + layout +
                       "\" contradict each other: one must be the ending of the other");
    }
    if (longer) longest = &layout;
  }
  return longest->size() == static_cast<size_t>(ndim) ? *longest : "";
}

BroadcastReader::BroadcastReader(Shape result, Shape operand) {
  bool repeats = false;
  for (size_t axis = 0; axis < result.size(); axis++) {
    const int64_t extent = extent_from_end(result, axis);
    if (extent == 1) continue;
    const bool repeated = extent_from_end(operand, axis) == 1;
    if (axes_ == 0) repeats_ = repeated;
    if (axes_ > 0 && repeated == repeats) {
      extents_[axes_ - 1] *= extent;
      continue;
    }
    if (axes_ == kMaxAxes) throw UsageError("there are too many axes to broadcast");
    extents_[axes_++] = extent;
    repeats = repeated;
  }
}

template <class T>
void BroadcastReader::gather_elements(T* out, const T* in, int64_t begin, int64_t count) const {
  // The two last axes together are a plane, handled at once.
  const int64_t plane = extents_[0] * extents_[1];
  const int64_t plane_elements = repeats_ ? extents_[1] : extents_[0];
  while (count > 0) {
    int64_t rest = begin / plane, offset = 0, step = plane_elements;
    for (size_t axis = 2; axis < axes_; axis++) {
      // Axis 0 decides about all even axes, and the odd ones are the opposite.
      const bool repeated = repeats_ == (axis % 2 == 0);
      if (!repeated) {
        offset += rest % extents_[axis] * step;
        step *= extents_[axis];
      }
      rest /= extents_[axis];
    }
    const int64_t first = begin % plane, run = std::min(count, plane - first);
    if (repeats_) {
      repeat_elements(out, in + offset, extents_[0], first, run);
    } else {
      repeat_row(out, in + offset, extents_[0], first, run);
    }
    out += run;
    begin += run;
    count -= run;
  }
}

void BroadcastReader::gather(void* out, const void* in, size_t itemsize, int64_t begin,
                             int64_t count) const {
  const auto run = [&]<class T>(T) {
    gather_elements(static_cast<T*>(out), static_cast<const T*>(in), begin, count);
  };
  switch (itemsize) {
    case 1:
      return run(uint8_t{});
    case 2:
      return run(uint16_t{});
    case 4:
      return run(uint32_t{});
    default:
      return run(uint64_t{});
  }
}

}  // namespace daliesque
