// SPDX-License-Identifier: Apache-2.0
#include "core/samples.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "core/errors.h"
#include "core/parallel.h"

namespace daliesque {

namespace {

// Multiplying this by the largest item size does not overflow.
constexpr int64_t kMaxVolume = int64_t{1} << 59;

void set_c_strides(std::vector<int64_t>& strides, Shape shape, size_t itemsize) {
  strides.resize(shape.size());
  auto step = static_cast<int64_t>(itemsize);
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape[axis];
  }
}

std::vector<int64_t> c_strides(Shape shape, size_t itemsize) {
  std::vector<int64_t> strides;
  set_c_strides(strides, shape, itemsize);
  return strides;
}

bool is_c_order(Shape shape, std::span<const int64_t> strides, size_t itemsize) {
  auto step = static_cast<int64_t>(itemsize);
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] == 0) return true;
    if (shape[axis] != 1 && strides[axis] != step) return false;
    step *= shape[axis];
  }
  return true;
}

std::string shape_text(Shape shape) {
  std::string text = "(";
  for (size_t axis = 0; axis < shape.size(); axis++) {
    text += (axis ? ", " : "") + std::to_string(shape[axis]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// Copies a strided block into contiguous memory, `out` advancing as it is filled.
void copy_strided(std::byte*& out, const std::byte* in, const int64_t* shape,
                  const int64_t* strides, int ndim, size_t itemsize) {
  if (ndim == 0) {
    std::memcpy(out, in, itemsize);
    out += itemsize;
    return;
  }
  if (ndim == 1 && strides[0] == static_cast<int64_t>(itemsize)) {
    const size_t bytes = static_cast<size_t>(shape[0]) * itemsize;
    std::memcpy(out, in, bytes);
    out += bytes;
    return;
  }
  for (int64_t i = 0; i < shape[0]; i++) {
    copy_strided(out, in + i * strides[0], shape + 1, strides + 1, ndim - 1, itemsize);
  }
}

/// Memory bandwidth of one core, for cost estimates.
constexpr double kCopyNanosecondsPerByte = 0.15;

}  // namespace

int64_t volume(Shape shape) {
  int64_t product = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0) throw UsageError("negative extent in shape " + shape_text(shape));
    if (extent == 0) {
      empty = true;
    } else if (product > kMaxVolume / extent) {
      throw UsageError("the shape " + shape_text(shape) +
                       " has more elements than fit into memory");
    } else {
      product *= extent;
    }
  }
  return empty ? 0 : product;
}

int64_t Samples::volume(int64_t i) const {
  int64_t product = 1;
  for (int64_t extent : shape(i)) product *= extent;
  return product;
}

int64_t Samples::total_volume() const {
  int64_t total = 0;
  for (int64_t i = 0; i < size(); i++) total += volume(i);
  return total;
}

bool Samples::uniform() const {
  for (size_t i = static_cast<size_t>(ndim_); i < shapes_.size(); i++) {
    if (shapes_[i] != shapes_[i - static_cast<size_t>(ndim_)]) return false;
  }
  return true;
}

Samples Samples::outline(DType dtype, int ndim, std::vector<int64_t> shapes, std::string layout,
                         int64_t count) {
  Samples out;
  out.dtype_ = dtype;
  out.ndim_ = ndim;
  out.shapes_ = std::move(shapes);
  out.layout_ = std::move(layout);
  out.packed_ = true;
  out.data_.resize(static_cast<size_t>(count));
  out.owners_.resize(1);
  return out;
}

Samples Samples::outline_like(const Samples& other) { return outline_like(other, other.dtype_); }

Samples Samples::outline_like(const Samples& other, DType dtype) {
  return outline(dtype, other.ndim_, other.shapes_, other.layout_, other.size());
}

void Samples::materialize() {
  std::vector<size_t> offsets(data_.size());
  size_t bytes = 0;
  for (size_t i = 0; i < offsets.size(); i++) {
    offsets[i] = bytes;
    const auto elements = daliesque::volume(shape(static_cast<int64_t>(i)));
    const size_t added = static_cast<size_t>(elements) * itemsize();
    if (added > SIZE_MAX / 2 - bytes) throw OutOfMemory("the batch is larger than memory");
    bytes += added;
  }
  owners_[0] = allocate(bytes);
  auto* base = static_cast<std::byte*>(owners_[0].get());
  for (size_t i = 0; i < offsets.size(); i++) data_[i] = base + offsets[i];
}

Samples Samples::empty(DType dtype, int ndim, std::vector<int64_t> shapes, std::string layout,
                       int64_t count) {
  Samples out = outline(dtype, ndim, std::move(shapes), std::move(layout), count);
  out.materialize();
  return out;
}

Samples Samples::empty_like(const Samples& other) { return empty_like(other, other.dtype_); }

Samples Samples::empty_like(const Samples& other, DType dtype) {
  return empty(dtype, other.ndim_, other.shapes_, other.layout_, other.size());
}

Samples Samples::wrap(DType dtype, std::vector<int64_t> shape, std::vector<int64_t> strides,
                      void* data, Buffer owner, bool readonly, bool external) {
  Samples out;
  out.dtype_ = dtype;
  out.ndim_ = static_cast<int>(shape.size());
  out.shapes_ = std::move(shape);
  out.packed_ = strides.empty() || is_c_order(out.shapes_, strides, out.itemsize());
  if (!out.packed_) out.strides_ = std::move(strides);
  out.data_ = {data};
  out.owners_ = {std::move(owner)};
  out.readonly_ = readonly;
  out.external_ = external;
  return out;
}

Samples Samples::view(DType dtype, int ndim, std::vector<int64_t> shapes, std::vector<void*> data,
                      Buffer owner, bool readonly) {
  Samples out;
  out.dtype_ = dtype;
  out.ndim_ = ndim;
  out.shapes_ = std::move(shapes);
  out.data_ = std::move(data);
  out.owners_ = {std::move(owner)};
  out.readonly_ = readonly;
  out.packed_ = true;
  for (int64_t i = 1; i < out.size(); i++) {
    const size_t bytes = static_cast<size_t>(out.volume(i - 1)) * out.itemsize();
    out.packed_ &= out.data<std::byte>(i) == out.data<std::byte>(i - 1) + bytes;
  }
  return out;
}

Samples Samples::join(const std::vector<const Samples*>& parts) {
  Samples out;
  if (parts.empty()) throw std::invalid_argument("nothing to join");
  out.dtype_ = parts[0]->dtype_;
  out.ndim_ = parts[0]->ndim_;
  out.layout_ = parts[0]->layout_;
  bool strided = false, one_owner = true, adjacent = true;
  const std::byte* expected = nullptr;
  for (const Samples* part : parts) {
    if (part->dtype_ != out.dtype_ || part->ndim_ != out.ndim_) {
      throw UsageError("samples of one batch must have one type and dimensionality");
    }
    strided |= !part->contiguous();
    out.external_ |= part->external_;
    out.readonly_ |= part->readonly_;
    for (int64_t i = 0; i < part->size(); i++) {
      one_owner &= part->owner(i) == parts[0]->owners_[0];
      const auto* data = static_cast<const std::byte*>(part->data(i));
      adjacent &= expected == nullptr || data == expected;
      expected = data + static_cast<size_t>(part->volume(i)) * part->itemsize();
    }
    out.shapes_.insert(out.shapes_.end(), part->shapes_.begin(), part->shapes_.end());
    out.data_.insert(out.data_.end(), part->data_.begin(), part->data_.end());
  }
  for (const Samples* part : parts) {
    for (int64_t i = 0; i < part->size(); i++) {
      if (!one_owner || out.owners_.empty()) out.owners_.push_back(part->owner(i));
      if (strided) {
        const auto strides = part->strides(i);
        out.strides_.insert(out.strides_.end(), strides.begin(), strides.end());
      }
    }
  }
  out.packed_ = !strided && one_owner && adjacent;
  return out;
}

Samples Samples::pick(const std::vector<const Samples*>& parts, std::span<const int64_t> which,
                      std::span<const int64_t> at) {
  if (parts.empty()) throw std::out_of_range("nothing to pick from");
  Samples out;
  out.dtype_ = parts[0]->dtype_;
  out.ndim_ = parts[0]->ndim_;
  out.layout_ = parts[0]->layout_;
  bool strided = false, one_owner = true, adjacent = true;
  for (const Samples* part : parts) {
    if (part->dtype_ != out.dtype_ || part->ndim_ != out.ndim_) {
      throw UsageError("samples of one batch must have one type and dimensionality");
    }
    strided |= !part->contiguous();
    one_owner &= part->owners_.size() == 1 && part->owners_[0] == parts[0]->owners_[0];
    out.external_ |= part->external_;
    out.readonly_ |= part->readonly_;
  }
  if (one_owner) out.owners_ = parts[0]->owners_;
  out.data_.reserve(which.size());
  out.shapes_.reserve(which.size() * static_cast<size_t>(out.ndim_));
  const std::byte* expected = nullptr;
  for (size_t k = 0; k < which.size(); k++) {
    const int64_t i = at[k];
    if (which[k] < 0 || which[k] >= static_cast<int64_t>(parts.size()) || i < 0 ||
        i >= parts[static_cast<size_t>(which[k])]->size()) {
      throw std::out_of_range("no such sample");
    }
    const Samples& part = *parts[static_cast<size_t>(which[k])];
    const auto* data = part.data<const std::byte>(i);
    adjacent &= expected == nullptr || data == expected;
    expected = data + static_cast<size_t>(part.volume(i)) * part.itemsize();
    out.data_.push_back(part.data(i));
    const Shape extents = part.shape(i);
    out.shapes_.insert(out.shapes_.end(), extents.begin(), extents.end());
    if (!one_owner) out.owners_.push_back(part.owner(i));
    if (strided) {
      const auto strides = part.strides(i);
      out.strides_.insert(out.strides_.end(), strides.begin(), strides.end());
    }
  }
  out.packed_ = !strided && one_owner && adjacent;
  return out;
}

std::vector<int64_t> Samples::strides(int64_t i) const {
  if (strides_.empty()) return c_strides(shape(i), itemsize());
  const auto begin = strides_.begin() + i * ndim_;
  return {begin, begin + ndim_};
}

Samples Samples::select(std::span<const int64_t> indices) const {
  Samples out;
  out.dtype_ = dtype_;
  out.ndim_ = ndim_;
  out.layout_ = layout_;
  out.readonly_ = readonly_;
  out.external_ = external_;
  out.data_.reserve(indices.size());
  out.shapes_.reserve(indices.size() * static_cast<size_t>(ndim_));
  bool consecutive = true;
  for (size_t k = 0; k < indices.size(); k++) {
    const int64_t i = indices[k];
    consecutive &= k == 0 || i == indices[k - 1] + 1;
    out.data_.push_back(data(i));
    const Shape extents = shape(i);
    out.shapes_.insert(out.shapes_.end(), extents.begin(), extents.end());
    if (!strides_.empty()) {
      const auto begin = strides_.begin() + i * ndim_;
      out.strides_.insert(out.strides_.end(), begin, begin + ndim_);
    }
    if (owners_.size() > 1) out.owners_.push_back(owners_[static_cast<size_t>(i)]);
  }
  if (owners_.size() == 1) out.owners_ = owners_;
  out.packed_ = out.strides_.empty() && (indices.size() == 1 || (packed_ && consecutive));
  return out;
}

Samples Samples::unfold() const {
  if (ndim_ == 0) throw std::invalid_argument("a scalar has no outermost axis");
  Samples out;
  out.dtype_ = dtype_;
  out.ndim_ = ndim_ - 1;
  out.layout_ = layout_.empty() ? "" : layout_.substr(1);
  out.readonly_ = readonly_;
  out.external_ = external_;
  out.packed_ = packed_;
  if (owners_.size() == 1) out.owners_ = owners_;
  bool ordered = true;
  for (int64_t i = 0; i < size(); i++) {
    const Shape inner = shape(i).subspan(1);
    const auto steps = strides(i);
    const std::vector<int64_t> inner_steps(steps.begin() + 1, steps.end());
    ordered &= is_c_order(inner, inner_steps, itemsize());
    for (int64_t k = 0; k < shape(i)[0]; k++) {
      out.data_.push_back(static_cast<std::byte*>(data(i)) + k * steps[0]);
      out.shapes_.insert(out.shapes_.end(), inner.begin(), inner.end());
      out.strides_.insert(out.strides_.end(), inner_steps.begin(), inner_steps.end());
      if (owners_.size() != 1) out.owners_.push_back(owner(i));
    }
  }
  if (ordered) out.strides_.clear();
  return out;
}

Samples Samples::fold(std::span<const int64_t> counts, const std::string& layout) const {
  if (!packed_) throw std::invalid_argument("only packed samples can be folded");
  Samples out;
  out.dtype_ = dtype_;
  out.ndim_ = ndim_ + 1;
  out.layout_ = layout;
  out.readonly_ = readonly_;
  out.external_ = external_;
  out.packed_ = true;
  out.owners_ = owners_;
  int64_t first = 0;
  for (int64_t count : counts) {
    out.shapes_.push_back(count);
    if (count == 0) {
      out.shapes_.insert(out.shapes_.end(), static_cast<size_t>(ndim_), 0);
      out.data_.push_back(owners_.empty() ? nullptr : owners_[0].get());
      continue;
    }
    const Shape inner = shape(first);
    for (int64_t k = 1; k < count; k++) {
      if (!std::ranges::equal(shape(first + k), inner)) {
        throw UsageError("the frames of one sequence must have one shape");
      }
    }
    out.shapes_.insert(out.shapes_.end(), inner.begin(), inner.end());
    out.data_.push_back(data(first));
    first += count;
  }
  return out;
}

Samples Samples::reshape(int ndim, std::vector<int64_t> shapes, std::string layout) const {
  return reshape(dtype_, ndim, std::move(shapes), std::move(layout));
}

Samples Samples::reshape(DType dtype, int ndim, std::vector<int64_t> shapes,
                         std::string layout) const {
  if (!contiguous()) throw std::invalid_argument("only contiguous samples can be reshaped");
  Samples out = *this;
  out.dtype_ = dtype;
  out.ndim_ = ndim;
  out.shapes_ = std::move(shapes);
  out.layout_ = std::move(layout);
  const auto old_size = static_cast<int64_t>(itemsize());
  const auto new_size = static_cast<int64_t>(out.itemsize());
  for (int64_t i = 0; i < size(); i++) {
    if (daliesque::volume(out.shape(i)) * new_size != volume(i) * old_size) {
      throw UsageError("cannot reshape " + shape_text(shape(i)) + " to " +
                       shape_text(out.shape(i)));
    }
  }
  return out;
}

Samples Samples::stack_view() const {
  if (!packed_ || !uniform()) throw std::invalid_argument("the batch is not one dense array");
  const int64_t count = size();
  if (count > 0) return fold(std::span(&count, 1), "");
  Samples out = *this;
  out.ndim_ = ndim_ + 1;
  out.layout_.clear();
  out.shapes_.assign(static_cast<size_t>(out.ndim_), 0);
  out.data_ = {owners_.empty() ? nullptr : owners_[0].get()};
  if (out.owners_.empty()) out.owners_.push_back(nullptr);
  return out;
}

Samples Samples::reinterpret(DType dtype) const {
  if (dtype_size(dtype) != itemsize()) throw std::invalid_argument("the item sizes differ");
  Samples out = *this;
  out.dtype_ = dtype;
  return out;
}

Samples Samples::slice(const std::vector<Range>& ranges, const std::vector<bool>& dropped,
                       std::string layout) const {
  Samples out;
  out.dtype_ = dtype_;
  out.ndim_ = static_cast<int>(std::count(dropped.begin(), dropped.end(), false));
  out.layout_ = std::move(layout);
  out.readonly_ = readonly_;
  out.external_ = external_;
  out.owners_ = owners_;
  bool ordered = true;
  const size_t extents = data_.size() * static_cast<size_t>(out.ndim_);
  out.data_.reserve(data_.size());
  out.shapes_.reserve(extents);
  out.strides_.reserve(extents);
  std::vector<int64_t> dense;
  for (int64_t i = 0; i < size(); i++) {
    if (strides_.empty()) set_c_strides(dense, shape(i), itemsize());
    const int64_t* old = strides_.empty() ? dense.data() : strides_.data() + i * ndim_;
    auto* base = static_cast<std::byte*>(data(i));
    const size_t begin = out.shapes_.size();
    for (size_t axis = 0; axis < dropped.size(); axis++) {
      const Range& range = ranges[static_cast<size_t>(i) * dropped.size() + axis];
      if (range.extent > 0) base += range.start * old[axis];
      if (dropped[axis]) continue;
      out.shapes_.push_back(range.extent);
      out.strides_.push_back(old[axis] * range.step);
    }
    out.data_.push_back(base);
    ordered &= is_c_order(Shape(out.shapes_).subspan(begin),
                          std::span<const int64_t>(out.strides_).subspan(begin), itemsize());
  }
  if (ordered) out.strides_.clear();
  out.packed_ = ordered && size() == 1;
  return out;
}

void copy(Samples& out, const Samples& in) {
  const size_t itemsize = in.itemsize();
  parallel_slices(
      in.size(), [&](int64_t i) { return in.ndim() && in.shape(i)[0] > 1 ? in.shape(i)[0] : 1; },
      [&](int64_t i) {
        const int64_t units = in.ndim() ? std::max<int64_t>(1, in.shape(i)[0]) : 1;
        return static_cast<double>(in.volume(i)) * static_cast<double>(itemsize) *
               kCopyNanosecondsPerByte / static_cast<double>(units);
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        if (in.volume(i) == 0) return;
        auto* to = out.data<std::byte>(i);
        const auto* from = in.data<const std::byte>(i);
        const Shape shape = in.shape(i);
        const int64_t rows = in.ndim() ? shape[0] : 1;
        const size_t row = static_cast<size_t>(in.volume(i) / rows) * itemsize;
        to += static_cast<size_t>(begin) * row;
        if (in.contiguous()) {
          std::memcpy(to, from + static_cast<size_t>(begin) * row,
                      static_cast<size_t>(end - begin) * row);
          return;
        }
        std::vector<int64_t> extents(shape.begin(), shape.end());
        const auto strides = in.strides(i);
        if (in.ndim()) {
          from += begin * strides[0];
          extents[0] = end - begin;
        }
        copy_strided(to, from, extents.data(), strides.data(), in.ndim(), itemsize);
      });
}

Samples clone(const Samples& in) {
  Samples out = Samples::empty_like(in);
  copy(out, in);
  return out;
}

namespace {

void copy_corner(std::byte* out, const std::byte* in, Shape big, Shape small,
                 const int64_t* strides, size_t itemsize) {
  if (big.empty()) {
    std::memcpy(out, in, itemsize);
    return;
  }
  const size_t row = static_cast<size_t>(volume(big.subspan(1))) * itemsize;
  if (big.size() == 1 && strides[0] == static_cast<int64_t>(itemsize)) {
    std::memcpy(out, in, static_cast<size_t>(small[0]) * itemsize);
  } else {
    for (int64_t i = 0; i < small[0]; i++) {
      copy_corner(out + static_cast<size_t>(i) * row, in + i * strides[0], big.subspan(1),
                  small.subspan(1), strides + 1, itemsize);
    }
  }
  std::memset(out + static_cast<size_t>(small[0]) * row, 0,
              static_cast<size_t>(big[0] - small[0]) * row);
}

}  // namespace

void copy_padded(Samples& out, const Samples& in) {
  parallel_for(
      in.size(),
      [&](int64_t i) {
        return static_cast<double>(out.volume(i)) * static_cast<double>(out.itemsize()) *
               kCopyNanosecondsPerByte;
      },
      [&](int64_t i) {
        copy_corner(out.data<std::byte>(i), in.data<const std::byte>(i), out.shape(i), in.shape(i),
                    in.strides(i).data(), in.itemsize());
      });
}

}  // namespace daliesque
