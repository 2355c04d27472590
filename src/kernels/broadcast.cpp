// SPDX-License-Identifier: Apache-2.0
#include "broadcast.h"

#include <algorithm>
#include <stdexcept>
#include <string>

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
  throw std::invalid_argument(text + " cannot be broadcast together (sample " + std::to_string(i) +
                              "). Extents must be equal or 1, counted from the last axis.");
}

bool is_ending(const std::string& whole, const std::string& part) { return whole.ends_with(part); }

/// Writes `count` elements of a row from `in`, `stride` (0 or 1) apart.
template <class T>
T* copy_row(T* out, const T* in, int64_t stride, int64_t count) {
  if (stride == 0) {
    const T value = *in;
    for (int64_t i = 0; i < count; i++) out[i] = value;
  } else {
    for (int64_t i = 0; i < count; i++) out[i] = in[i * stride];
  }
  return out + count;
}

template <class T>
void gather_elements(T* out, const T* in, const std::vector<int64_t>& extents,
                     const std::vector<int64_t>& strides, int64_t begin, int64_t count) {
  const size_t last = extents.size() - 1;
  std::vector<int64_t> index(extents.size());
  int64_t offset = 0;
  for (size_t axis = extents.size(); axis-- > 0;) {
    index[axis] = begin % extents[axis];
    begin /= extents[axis];
    offset += index[axis] * strides[axis];
  }
  while (count > 0) {
    const int64_t run = std::min(count, extents[last] - index[last]);
    out = copy_row(out, in + offset, strides[last], run);
    count -= run;
    offset -= index[last] * strides[last];
    index[last] = 0;
    for (size_t axis = last; axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < extents[axis]) break;
      offset -= extents[axis] * strides[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace

int64_t broadcast_count(std::span<const Samples* const> operands) {
  int64_t count = 1;
  for (const Samples* operand : operands) {
    if (operand->size() == 1) continue;
    if (count != 1 && operand->size() != count) {
      throw std::invalid_argument(
          "the operands have different numbers of samples: " + std::to_string(count) + " and " +
          std::to_string(operand->size()));
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
    if (!(longer ? is_ending(layout, *longest) : is_ending(*longest, layout))) {
      throw std::invalid_argument("the layouts \"" + *longest + "\" and \"" + layout +
                                  "\" contradict each other: one must be the ending of the other");
    }
    if (longer) longest = &layout;
  }
  return longest->size() == static_cast<size_t>(ndim) ? *longest : "";
}

BroadcastAxes broadcast_axes(Shape result, std::span<const Shape> operands) {
  BroadcastAxes axes;
  axes.strides.resize(operands.size());
  std::vector<int64_t> steps(operands.size(), 1);
  // Built from the last axis outwards, then turned round.
  for (size_t axis = 0; axis < result.size(); axis++) {
    const int64_t extent = extent_from_end(result, axis);
    if (extent == 1) continue;
    bool merges = !axes.extents.empty();
    std::vector<int64_t> strides(operands.size());
    for (size_t k = 0; k < operands.size(); k++) {
      const int64_t own = extent_from_end(operands[k], axis);
      strides[k] = own == 1 ? 0 : steps[k];
      steps[k] *= own;
      if (merges) merges = strides[k] == axes.strides[k].back() * axes.extents.back();
    }
    if (merges) {
      axes.extents.back() *= extent;
      continue;
    }
    axes.extents.push_back(extent);
    for (size_t k = 0; k < operands.size(); k++) axes.strides[k].push_back(strides[k]);
  }
  std::ranges::reverse(axes.extents);
  for (auto& strides : axes.strides) std::ranges::reverse(strides);
  return axes;
}

BroadcastReader::BroadcastReader(const BroadcastAxes& axes, size_t operand)
    : extents_(axes.extents), strides_(axes.strides[operand]) {
  size_t first = 0;
  while (first < strides_.size() && strides_[first] == 0) first++;
  constant_ = first == strides_.size();
  int64_t step = 1;
  bool contiguous = true;
  for (size_t axis = strides_.size(); axis-- > first;) {
    contiguous &= strides_[axis] == step;
    step *= extents_[axis];
  }
  linear_ = contiguous && first == 0 && !constant_;
  if (contiguous && first > 0 && !constant_) period_ = step;
}

void BroadcastReader::gather(void* out, const void* in, size_t itemsize, int64_t begin,
                             int64_t count) const {
  const auto run = [&]<class T>(T) {
    gather_elements(static_cast<T*>(out), static_cast<const T*>(in), extents_, strides_, begin,
                    count);
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
