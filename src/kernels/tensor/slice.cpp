// SPDX-License-Identifier: Apache-2.0
#include "tensor/slice.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/errors.h"
#include "core/parallel.h"
#include "core/rearrange.h"
#include "core/simd.h"
#include "core/stream.h"
#include "tensor/slice_loops.h"

namespace daliesque::tensor {

namespace {

// Measured for batches larger than the caches.
constexpr double kSliceNanosecondsPerByte = 0.15;

ConvertRow find_conversion(DType out, DType in) {
  return DALIESQUE_CHOOSE(find_truncation(out, in));
}

struct SliceAxis {
  int64_t extent;                // of the output
  int64_t before, inside;        // output indices [before, before + inside) lie in the input
  std::vector<int64_t> sources;  // input index for each output index, or kOutside
  int64_t in_step, out_step;     // items
};

SliceAxis make_axis(int64_t extent, int64_t in_extent, int64_t anchor, Border border) {
  SliceAxis axis{extent, 0, 0, {}, 0, 0};
  axis.before = std::clamp<int64_t>(-anchor, 0, extent);
  axis.inside =
      std::clamp<int64_t>(in_extent - std::max<int64_t>(0, anchor), 0, extent - axis.before);
  axis.sources.resize(static_cast<size_t>(extent));
  for (int64_t k = 0; k < extent; k++) {
    axis.sources[static_cast<size_t>(k)] = border_index(anchor + k, in_extent, border);
  }
  return axis;
}

/// Fills memory with copies of a pattern.
void fill_pattern(std::byte* out, size_t bytes, const std::byte* pattern, size_t period) {
  size_t done = std::min(bytes, period);
  std::memcpy(out, pattern, done);
  while (done < bytes) {
    const size_t more = std::min(done, bytes - done);
    std::memcpy(out + done, out, more);
    done += more;
  }
}

/// How one sample is cut. Trailing axes that are taken whole form the items that are moved.
class Window {
 public:
  Window(const Samples& out, const Samples& in, int64_t i, const int64_t* anchor, Border border,
         const PerSample<float>& fill, int channel_axis, ConvertRow convert, bool streamed)
      : in_size_(static_cast<int64_t>(in.itemsize())),
        out_size_(static_cast<int64_t>(out.itemsize())),
        convert_(convert),
        streamed_(streamed) {
    const Shape out_shape = out.shape(i), in_shape = in.shape(i);
    size_t ndim = out_shape.size();
    while (ndim > 1 && anchor[ndim - 1] == 0 && out_shape[ndim - 1] == in_shape[ndim - 1]) {
      item_ *= out_shape[--ndim];
    }
    axes_.resize(ndim);
    int64_t in_step = 1, out_step = 1;
    for (size_t axis = ndim; axis-- > 0;) {
      axes_[axis] = make_axis(out_shape[axis], in_shape[axis], anchor[axis], border);
      axes_[axis].in_step = in_step;
      axes_[axis].out_step = out_step;
      in_step *= in_shape[axis];
      out_step *= out_shape[axis];
    }
    const bool leaves_input =
        std::ranges::any_of(axes_, [](const SliceAxis& axis) { return axis.inside < axis.extent; });
    if (leaves_input && border == Border::constant) make_fill_items(out, i, fill, channel_axis);
  }

  int64_t rows() const { return axes_.empty() ? 1 : axes_[0].extent; }
  int64_t row_bytes() const { return (axes_.empty() ? 1 : axes_[0].out_step) * item_ * out_size_; }

  /// Makes rows [begin, end) of the outermost axis.
  void run(std::byte* out, const std::byte* in, int64_t begin, int64_t end) const {
    if (axes_.empty()) {
      copy(out, in, item_);
    } else {
      take(out, in, 0, begin, end, fill_items_.data());
    }
  }

 private:
  size_t item_bytes() const { return static_cast<size_t>(item_ * out_size_); }

  /// One item of fill values if all are equal or the channels lie inside the item; otherwise one
  /// for each index of the channel axis.
  void make_fill_items(const Samples& out, int64_t i, const PerSample<float>& fill,
                       int channel_axis) {
    const bool channels_inside =
        fill.width() == 1 || static_cast<size_t>(channel_axis) >= axes_.size();
    fill_axis_ = channels_inside ? -1 : channel_axis;
    const int64_t items = channels_inside ? 1 : fill.width();
    const Shape shape = out.shape(i);
    int64_t below = 1;  // elements of an item for each channel
    for (size_t axis = static_cast<size_t>(channel_axis) + 1; axis < shape.size(); axis++) {
      below *= shape[axis];
    }
    fill_items_.resize(static_cast<size_t>(items) * item_bytes());
    for (int64_t k = 0; k < items * item_; k++) {
      const int64_t channel = fill.width() == 1 ? 0
                              : channels_inside ? k / below % fill.width()
                                                : k / item_;
      store_fill(fill_items_.data() + k * out_size_, out.dtype(), fill.row(i)[channel]);
    }
    one_byte_ = !fill_items_.empty() && std::ranges::all_of(fill_items_, [&](std::byte value) {
      return value == fill_items_[0];
    });
  }

  /// Fills memory with copies of an item of fill values.
  void fill_with(std::byte* out, size_t bytes, const std::byte* item) const {
    if (one_byte_ && streamed_ && bytes >= kLeastStreamed) {
      constexpr uint64_t kOnes = 0x0101010101010101;
      stream_fill(out, std::to_integer<uint64_t>(*item) * kOnes, bytes);
    } else if (one_byte_) {
      std::memset(out, std::to_integer<int>(*item), bytes);
    } else {
      fill_pattern(out, bytes, item, item_bytes());
    }
  }

  void copy(std::byte* out, const std::byte* in, int64_t elements) const {
    if (convert_) {
      convert_(out, in, elements);
    } else {
      copy_bytes(out, in, static_cast<size_t>(elements * out_size_), streamed_);
    }
  }

  void take(std::byte* out, const std::byte* in, size_t depth, int64_t begin, int64_t end,
            const std::byte* fill) const {
    const SliceAxis& axis = axes_[depth];
    if (depth + 1 == axes_.size()) {
      take_items(out, in, axis, begin, end, fill);
      return;
    }
    if (depth + 2 == axes_.size() && takes_runs(axes_[depth + 1])) {
      take_runs(out, in, axis, axes_[depth + 1], begin, end, fill);
      return;
    }
    const bool whole_rows =
        depth + 2 == axes_.size() && axes_[depth + 1].inside == axes_[depth + 1].extent;
    if (whole_rows && axis.before <= begin && end <= axis.before + axis.inside) {
      take_rows(out, in, axis, axes_[depth + 1], begin, end);
      return;
    }
    for (int64_t k = begin; k < end; k++) {
      const int64_t source = axis.sources[static_cast<size_t>(k)];
      const std::byte* values = fill_for(fill, depth, k);
      std::byte* to = out + k * axis.out_step * item_ * out_size_;
      if (source == kOutside) {
        fill_block(to, depth + 1, values);
      } else {
        take(to, in + source * axis.in_step * item_ * in_size_, depth + 1, 0,
             axes_[depth + 1].extent, values);
      }
    }
  }

  /// Rows [begin, end), of which nothing is outside of the input.
  void take_rows(std::byte* out, const std::byte* in, const SliceAxis& axis, const SliceAxis& inner,
                 int64_t begin, int64_t end) const {
    const int64_t in_step = axis.in_step * item_ * in_size_;
    const int64_t out_step = axis.out_step * item_ * out_size_;
    in += axis.sources[static_cast<size_t>(begin)] * in_step + inner.sources[0] * item_ * in_size_;
    for (int64_t k = begin; k < end; k++, in += in_step) {
      copy(out + k * out_step, in, axis.out_step * item_);
    }
  }

  /// The innermost axis: single items at the borders, one copy between them.
  void take_items(std::byte* out, const std::byte* in, const SliceAxis& axis, int64_t begin,
                  int64_t end, const std::byte* fill) const {
    const int64_t first = std::clamp(axis.before, begin, end);
    const int64_t last = std::clamp(axis.before + axis.inside, first, end);
    take_border(out, in, axis, begin, first, fill);
    if (last > first) {
      copy(out + first * item_ * out_size_,
           in + axis.sources[static_cast<size_t>(first)] * item_ * in_size_,
           (last - first) * item_);
    }
    take_border(out, in, axis, last, end, fill);
  }

  void take_border(std::byte* out, const std::byte* in, const SliceAxis& axis, int64_t begin,
                   int64_t end, const std::byte* fill) const {
    if (begin >= end) return;
    const bool constant = axis.sources[static_cast<size_t>(begin)] == kOutside;
    if (constant && fill_axis_ != static_cast<int>(axes_.size()) - 1) {
      fill_with(out + begin * item_ * out_size_, static_cast<size_t>(end - begin) * item_bytes(),
                fill);
      return;
    }
    for (int64_t k = begin; k < end; k++) {
      std::byte* to = out + k * item_ * out_size_;
      if (constant) {
        std::memcpy(to, fill_for(fill, axes_.size() - 1, k), item_bytes());
      } else {
        copy(to, in + axis.sources[static_cast<size_t>(k)] * item_ * in_size_, item_);
      }
    }
  }

  /// The innermost axis is short, as when channels are chosen or added: copying run by run would
  /// spend its time in calls.
  bool takes_runs(const SliceAxis& inner) const {
    constexpr int64_t kShort = 64;
    const bool one_run = inner.inside == inner.extent || inner.sources[0] == kOutside ||
                         inner.sources.back() == kOutside;
    return !convert_ && one_run && inner.inside > 0 && inner.extent * item_ * out_size_ <= kShort;
  }

  void take_runs(std::byte* out, const std::byte* in, const SliceAxis& axis, const SliceAxis& inner,
                 int64_t begin, int64_t end, const std::byte* fill) const {
    const bool padded = inner.inside < inner.extent;
    const int64_t first = std::clamp(axis.before, begin, end);
    const int64_t last = std::clamp(axis.before + axis.inside, first, end);
    for (const auto& [from, to] : {std::pair(begin, first), std::pair(last, end)}) {
      if (from < to && axis.sources[static_cast<size_t>(from)] == kOutside) {
        fill_rows(out, axes_.size() - 2, from, to, fill);
      } else {
        for (int64_t k = from; k < to; k++) copy_runs(out, in, axis, inner, k, 1);
      }
    }
    if (first < last) {
      if (padded) fill_rows(out, axes_.size() - 2, first, last, fill);
      copy_runs(out, in, axis, inner, first, last - first);
    }
  }

  void copy_runs(std::byte* out, const std::byte* in, const SliceAxis& axis, const SliceAxis& inner,
                 int64_t row, int64_t count) const {
    const int64_t source = axis.sources[static_cast<size_t>(row)] * axis.in_step +
                           inner.sources[static_cast<size_t>(inner.before)];
    const int64_t size = item_ * out_size_;
    rearrange_loops().copy_runs(out + (row * axis.out_step + inner.before) * size,
                                axis.out_step * size, in + source * size, axis.in_step * size,
                                inner.inside * size, count);
  }

  const std::byte* fill_for(const std::byte* fill, size_t depth, int64_t index) const {
    return static_cast<int>(depth) == fill_axis_ ? fill + static_cast<size_t>(index) * item_bytes()
                                                 : fill;
  }

  void fill_block(std::byte* out, size_t depth, const std::byte* fill) const {
    if (static_cast<int>(depth) > fill_axis_) {
      const int64_t items = depth < axes_.size() ? axes_[depth].extent * axes_[depth].out_step : 1;
      fill_with(out, static_cast<size_t>(items) * item_bytes(), fill);
      return;
    }
    const SliceAxis& axis = axes_[depth];
    for (int64_t k = 0; k < axis.extent; k++) {
      fill_block(out + k * axis.out_step * item_ * out_size_, depth + 1, fill_for(fill, depth, k));
    }
  }

  /// Fills rows [begin, end) of an axis.
  void fill_rows(std::byte* out, size_t depth, int64_t begin, int64_t end,
                 const std::byte* fill) const {
    const int64_t step = axes_[depth].out_step * item_ * out_size_;
    if (static_cast<int>(depth) == fill_axis_) {
      for (int64_t k = begin; k < end; k++) {
        fill_block(out + k * step, depth + 1, fill_for(fill, depth, k));
      }
      return;
    }
    if (one_byte_) {
      // Not streamed, since part of it may be written again.
      std::memset(out + begin * step, std::to_integer<int>(*fill),
                  static_cast<size_t>((end - begin) * step));
      return;
    }
    fill_block(out + begin * step, depth + 1, fill);
    fill_pattern(out + (begin + 1) * step, static_cast<size_t>((end - begin - 1) * step),
                 out + begin * step, static_cast<size_t>(step));
  }

  int64_t item_ = 1;  // elements
  int64_t in_size_, out_size_;
  ConvertRow convert_;
  bool streamed_;
  std::vector<SliceAxis> axes_;
  std::vector<std::byte> fill_items_;
  bool one_byte_ = false;  // all bytes of them are equal
  int fill_axis_ = -1;
};

template <class T>
T wrapped(float value) {
  constexpr float kLimit = 9.2233720e18f;
  if (!(std::abs(value) < kLimit)) {
    return value != value ? T{0}
           : value > 0    ? std::numeric_limits<T>::max()
                          : std::numeric_limits<T>::min();
  }
  return static_cast<T>(static_cast<int64_t>(value));
}

}  // namespace

void store_fill(void* out, DType type, float value) {
  dispatch(AllTypes{}, type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T converted;
    if constexpr (std::is_same_v<T, bool>) {
      converted = value != 0;
    } else if constexpr (std::is_integral_v<T>) {
      converted = wrapped<T>(value);
    } else {
      converted = static_cast<T>(value);
    }
    std::memcpy(out, &converted, sizeof(T));
  });
}

void slice(Samples& out, const Samples& in, const PerSample<int64_t>& anchors, Border border,
           const PerSample<float>& fill, int channel_axis) {
  ConvertRow convert = nullptr;
  if (out.dtype() != in.dtype()) {
    convert = find_conversion(out.dtype(), in.dtype());
    if (!convert) throw UsageError("slice cannot convert between these types");
  }
  // About as much is read as is written.
  const bool streamed = exceeds_caches(out, out);
  // Samples of one shape, which is the usual batch, share a window.
  std::vector<Window> windows;
  std::vector<size_t> number(static_cast<size_t>(in.size()));
  for (int64_t i = 0; i < in.size(); i++) {
    const bool same = i > 0 && anchors.rows() == 1 && fill.rows() == 1 &&
                      std::ranges::equal(out.shape(i), out.shape(i - 1)) &&
                      std::ranges::equal(in.shape(i), in.shape(i - 1));
    if (!same) {
      windows.emplace_back(out, in, i, anchors.row(i), border, fill, channel_axis, convert,
                           streamed);
    }
    number[static_cast<size_t>(i)] = windows.size() - 1;
  }
  const auto window_of = [&](int64_t i) -> const Window& {
    return windows[number[static_cast<size_t>(i)]];
  };
  parallel_slices(
      in.size(), [&](int64_t i) { return out.volume(i) ? window_of(i).rows() : 0; },
      [&](int64_t i) {
        return static_cast<double>(window_of(i).row_bytes()) * kSliceNanosecondsPerByte;
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        window_of(i).run(out.data<std::byte>(i), in.data<const std::byte>(i), begin, end);
        if (streamed) stream_fence();
      });
}

}  // namespace daliesque::tensor
