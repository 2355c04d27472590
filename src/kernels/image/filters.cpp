// SPDX-License-Identifier: Apache-2.0
// Filters with a window of any shape.
#include "image/filters.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/scratch.h"
#include "image/filter_loops.h"
#include "image/strips.h"

namespace daliesque::image {

namespace {

constexpr double kFilterNanosecondsPerTap = 0.06;
// What the rows of a strip may occupy of the fastest cache.
constexpr int64_t kFilterStripBytes = 40 << 10;

bool is_floating(DType type) {
  return type == DType::float16 || type == DType::bfloat16 || type == DType::float32 ||
         type == DType::float64;
}

/// A weight that is not zero, and where it is in the window.
struct Tap {
  int64_t z, y, x;
  float weight;
};

/// The window of one sample. If it is a product of a column and a row, as most are, rows are
/// filtered with `row` first and the taps have x = 0; otherwise `row` is empty.
struct Kernel {
  int64_t depth = 1, height = 1, width = 1;
  int64_t anchor_z = 0, anchor_y = 0, anchor_x = 0;
  std::vector<Tap> taps;
  std::vector<float> row;

  Kernel(const float* values, Shape shape, const int32_t* anchor, bool valid) {
    const bool volume = shape.size() == 3;
    if (volume) depth = shape[0];
    height = shape[volume ? 1 : 0];
    width = shape[volume ? 2 : 1];
    for (int64_t k = 0; k < depth * height * width; k++) {
      if (values[k] != 0) add_tap(k / width, k % width, values[k]);
    }
    factor(values);
    if (valid) return;  // the window then begins where the output does
    if (volume) anchor_z = anchor[0];
    anchor_y = anchor[volume ? 1 : 0];
    anchor_x = anchor[volume ? 2 : 1];
  }

 private:
  void add_tap(int64_t line, int64_t x, float weight) {
    taps.push_back({line / height, line % height, x, weight});
  }

  /// Finds the column and the row, if that saves work.
  void factor(const float* values) {
    // Errors of this size are those of weights given as float.
    constexpr double kTolerance = 1e-6;
    const int64_t lines = depth * height;
    if (static_cast<int64_t>(taps.size()) <= lines + width) return;
    const auto larger = [](float x, float y) { return std::abs(x) < std::abs(y); };
    const int64_t pivot = std::max_element(values, values + lines * width, larger) - values;
    const float* main_row = values + pivot / width * width;
    const auto largest = static_cast<double>(values[pivot]);
    std::vector<double> column;
    for (int64_t k = 0; k < lines; k++) {
      column.push_back(static_cast<double>(values[k * width + pivot % width]) / largest);
      for (int64_t x = 0; x < width; x++) {
        const double product = column.back() * static_cast<double>(main_row[x]);
        const double error = std::abs(product - static_cast<double>(values[k * width + x]));
        // Also if the weights are not finite.
        if (!(error <= kTolerance * std::abs(largest))) return;
      }
    }
    row.assign(main_row, main_row + width);
    taps.clear();
    for (int64_t k = 0; k < lines; k++) {
      add_tap(k, 0, static_cast<float>(column[static_cast<size_t>(k)]));
    }
  }
};

/// Filters rows of one slice of the output, strip by strip.
class WindowFilter {
 public:
  WindowFilter(const FilterShape& in, const FilterShape& out, const Kernel& kernel,
               const RowReader& reader, Border border, float fill)
      : in_(in),
        out_(out),
        kernel_(kernel),
        reader_(reader),
        border_(border),
        fill_(static_cast<size_t>(in.channels), fill) {
    for (const Tap& tap : kernel.taps) weights_.push_back(tap.weight);
    share_products();
    const auto taps = static_cast<int64_t>(kernel.taps.size());
    grouped_ = taps == kernel.height * kernel.width && factors_.empty() && kernel.row.empty() &&
               kernel.depth == 1 && kernel.height >= kWindowRows;
    slots_ = kernel.height + (grouped_ ? kWindowRows - 1 : 0);
  }

  /// Rows [begin, end) of slice z of a volume. Calls store(y, rows, first, count) for values
  /// [first, first + count) of some rows from y on, which sums() or bytes() then gives.
  template <class Store>
  void run(const std::byte* volume, size_t itemsize, int64_t z, int64_t begin, int64_t end,
           Store&& store) {
    const int64_t bytes = kernel_.height * kernel_.depth * in_.channels * 4;
    for_strips(out_.width, bytes, kFilterStripBytes, [&](int64_t first, int64_t last) {
      prepare(first, last);
      int64_t next = begin, rows = 1;
      for (int64_t y = begin; y < end; y += rows) {
        rows = grouped_ && y + kWindowRows <= end ? kWindowRows : 1;
        for (; next < y + rows + kernel_.height - 1; next++) read_rows(volume, itemsize, z, next);
        store(y, rows, first * out_.channels, count_);
      }
    });
  }

  /// The parts of rows that are due, stride() apart.
  float* sums(int64_t y, int64_t rows) {
    if (rows == kWindowRows) {
      find_rows(y);
      loops_.weigh_windows(results_.data(), stride(), inputs_.data(), window(), count_);
    } else {
      find_taps(y);
      loops_.weigh_rows(results_.data(), inputs_.data(), weights_.data(),
                        static_cast<int64_t>(inputs_.size()), count_);
    }
    return results_.data();
  }

  int64_t stride() const { return (count_ / kFilterPadding + 1) * kFilterPadding; }

  /// The same as bytes, to rows that are `pitch` apart.
  void bytes(uint8_t* out, int64_t pitch, int64_t y, int64_t rows) {
    if (rows == kWindowRows) {
      find_rows(y);
      return loops_.weigh_windows_to_bytes(out, pitch, inputs_.data(), window(), count_, true);
    }
    find_taps(y);
    const auto taps = static_cast<int64_t>(inputs_.size());
    if (!factors_.empty()) return loops_.add_to_bytes(out, inputs_.data(), taps, count_, true);
    loops_.weigh_to_bytes(out, inputs_.data(), weights_.data(), taps, count_, true);
  }

 private:
  /// Taps of equal weights share products: if there are few different weights, each row is
  /// multiplied by them once, and products are added.
  void share_products() {
    constexpr size_t kMostFactors = 2, kLeastTaps = 4;
    if (!kernel_.row.empty() || weights_.size() < kLeastTaps) return;
    for (float weight : weights_) {
      const auto found = std::find(factors_.begin(), factors_.end(), weight);
      numbers_.push_back(found - factors_.begin());
      if (found != factors_.end()) continue;
      // Also weights that are not numbers, of which no two are equal.
      if (factors_.size() == kMostFactors) {
        factors_.clear();
        return;
      }
      factors_.push_back(weight);
    }
    std::fill(weights_.begin(), weights_.end(), 1.0f);
  }

  DenseWindow window() const {
    return {weights_.data(), kernel_.height, kernel_.width, in_.channels};
  }

  /// The rows under the windows of kWindowRows rows, from row y on.
  void find_rows(int64_t y) {
    inputs_.clear();
    for (int64_t k = 0; k < slots_; k++) inputs_.push_back(slot(0, y + k));
  }

  /// How many rows of floats a row of the input becomes.
  int64_t copies() const { return std::max<int64_t>(static_cast<int64_t>(factors_.size()), 1); }

  void prepare(int64_t first, int64_t last) {
    first_ = first - kernel_.anchor_x;
    last_ = last - kernel_.anchor_x + kernel_.width - 1;
    count_ = (last - first) * out_.channels;
    // The last taps of a row read up to the padding behind it.
    stride_ = ((last_ - first_) * in_.channels / kFilterPadding + 2) * kFilterPadding;
    reader_.choose(in_.width, in_.channels, first_, last_);
    rows_.require(kernel_.depth * slots_ * copies() * stride_);
    line_.require(stride_);
    results_.require((grouped_ ? kWindowRows : 1) * stride());
  }

  /// Window row `y` (counted from the first row under the window for output row 0).
  float* slot(int64_t z, int64_t y) {
    return rows_.data() + ((y % slots_) * kernel_.depth + z) * copies() * stride_;
  }

  void read_rows(const std::byte* volume, size_t itemsize, int64_t z, int64_t y) {
    const int64_t source_y = border_index(y - kernel_.anchor_y, in_.height, border_);
    for (int64_t k = 0; k < kernel_.depth; k++) {
      const int64_t source_z = border_index(z + k - kernel_.anchor_z, in_.depth, border_);
      float* to = kernel_.row.empty() && factors_.empty() ? slot(k, y) : line_.data();
      if (source_y == kOutside || source_z == kOutside) {
        std::fill(to, to + (last_ - first_) * in_.channels, fill_[0]);
      } else {
        const std::byte* slice = volume + static_cast<size_t>(source_z * in_.slice()) * itemsize;
        prefetch_after(slice, source_y, in_, itemsize, first_, last_);
        reader_.read(to, slice + static_cast<size_t>(source_y * in_.row()) * itemsize,
                     fill_.data());
      }
      if (!kernel_.row.empty()) weigh_line(slot(k, y));
      for (size_t f = 0; f < factors_.size(); f++) {
        loops_.multiply(slot(k, y) + static_cast<int64_t>(f) * stride_, to, factors_[f],
                        (last_ - first_) * in_.channels);
      }
    }
  }

  void weigh_line(float* out) {
    inputs_.clear();
    for (size_t x = 0; x < kernel_.row.size(); x++) {
      inputs_.push_back(line_.data() + static_cast<int64_t>(x) * in_.channels);
    }
    loops_.weigh_rows(out, inputs_.data(), kernel_.row.data(), static_cast<int64_t>(inputs_.size()),
                      count_);
  }

  void find_taps(int64_t y) {
    inputs_.clear();
    for (const Tap& tap : kernel_.taps) {
      const int64_t number = factors_.empty() ? 0 : numbers_[inputs_.size()];
      inputs_.push_back(slot(tap.z, y + tap.y) + number * stride_ + tap.x * in_.channels);
    }
  }

  const FilterShape &in_, &out_;
  const Kernel& kernel_;
  RowReader reader_;
  Border border_;
  const FilterLoops& loops_ = filter_loops();
  Scratch<float> line_, rows_, results_;
  std::vector<float> fill_, weights_;
  std::vector<float> factors_;    // by which rows are multiplied, if products are shared
  std::vector<int64_t> numbers_;  // the factor of each tap
  std::vector<const float*> inputs_;
  bool grouped_ = false;  // whether rows are computed kWindowRows at a time
  int64_t slots_ = 0;     // rows that are kept
  int64_t first_ = 0, last_ = 0, count_ = 0, stride_ = 0;
};

}  // namespace

void filter(Samples& out, const Samples& in, FilterAxes axes, const Samples& kernels,
            PerSample<int32_t> anchor, Border border, PerSample<float> fill) {
  std::vector<FilterShape> in_shapes, out_shapes;
  std::vector<Kernel> windows;
  for (int64_t i = 0; i < in.size(); i++) {
    in_shapes.emplace_back(in.shape(i), axes.outer, axes.spatial);
    out_shapes.emplace_back(out.shape(i), axes.outer, axes.spatial);
    const bool valid = out.volume(i) != in.volume(i);
    windows.emplace_back(kernels.data<const float>(i), kernels.shape(i), anchor.row(i), valid);
  }
  const RowReader reader(
      in.dtype() == DType::uint8 ? filter_loops().widen : convert_loop(DType::float32, in.dtype()),
      DType::float32, in.dtype(), border);
  const ConvertLoop convert = convert_loop(out.dtype(), DType::float32);
  const bool rounded = !is_floating(out.dtype()), bytes = out.dtype() == DType::uint8;
  const auto size = static_cast<int64_t>(out.itemsize());
  parallel_slices(
      in.size(),
      [&](int64_t i) {
        const FilterShape& s = out_shapes[static_cast<size_t>(i)];
        return out.volume(i) ? s.planes * s.depth * s.height : 0;
      },
      [&](int64_t i) {
        const Kernel& window = windows[static_cast<size_t>(i)];
        const auto taps = static_cast<double>(window.taps.size() + window.row.size());
        const auto values = static_cast<double>(out_shapes[static_cast<size_t>(i)].row());
        return values * (1 + taps * kFilterNanosecondsPerTap);
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const FilterShape &from = in_shapes[static_cast<size_t>(i)],
                          &to = out_shapes[static_cast<size_t>(i)];
        WindowFilter window(from, to, windows[static_cast<size_t>(i)], reader, border, fill[i]);
        while (begin < end) {
          const int64_t slice = begin / to.height;
          const int64_t stop = std::min(end, (slice + 1) * to.height);
          const int64_t plane = slice / to.depth, z = slice % to.depth;
          const auto* source = in.data<const std::byte>(i) +
                               static_cast<size_t>(plane * from.volume()) * in.itemsize();
          window.run(source, in.itemsize(), z, begin - slice * to.height, stop - slice * to.height,
                     [&](int64_t y, int64_t rows, int64_t first, int64_t count) {
                       const int64_t offset = slice * to.slice() + y * to.row() + first;
                       std::byte* results = out.data<std::byte>(i) + offset * size;
                       if (bytes) {
                         auto* byte_rows = reinterpret_cast<uint8_t*>(results);
                         return window.bytes(byte_rows, to.row(), y, rows);
                       }
                       float* sums = window.sums(y, rows);
                       for (int64_t k = 0; k < rows; k++, sums += window.stride()) {
                         if (rounded) filter_loops().round_even(sums, count);
                         convert(results + k * to.row() * size, sums, count);
                       }
                     });
          begin = stop;
        }
      });
}

}  // namespace daliesque::image
