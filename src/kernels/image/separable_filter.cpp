// SPDX-License-Identifier: Apache-2.0
// Filters that work along one axis after the other: innermost first, as the reference does.
#include <array>
#include <cmath>
#include <stdexcept>

#include "core/parallel.h"
#include "core/scratch.h"
#include "core/simd.h"
#include "image/filter_loops.h"
#include "image/filters.h"
#include "image/strips.h"

namespace daliesque::image {

const FilterLoops& filter_loops() { return DALIESQUE_CHOOSE_512(filter_loops); }

namespace {

using FilterWindow = std::vector<float>;
constexpr double kSeparableNanosecondsPerTap = 0.08;
// What the rows of a strip may occupy of the fastest cache.
constexpr int64_t kSeparableStripBytes = 96 << 10;

/// A window for each of three axes (depth, height, width), and the factor of the result.
struct Term {
  std::array<FilterWindow, 3> windows;
  float scale = 1;

  int64_t radius(size_t axis) const { return static_cast<int64_t>(windows[axis].size()) / 2; }
};

/// The terms that are added up for a sample.
using Terms = std::vector<Term>;

int64_t largest_radius(const Terms& terms, size_t axis) {
  int64_t largest = 0;
  for (const Term& term : terms) largest = std::max(largest, term.radius(axis));
  return largest;
}

double cost_per_value(const Terms& terms) {
  double taps = 0;
  for (const Term& term : terms) {
    for (const FilterWindow& window : term.windows) taps += static_cast<double>(window.size());
  }
  return 1 + taps * kSeparableNanosecondsPerTap;
}

int64_t padded(int64_t count) {
  return (count + kFilterPadding - 1) / kFilterPadding * kFilterPadding;
}

/// Filters a slice (an image) along its two axes, strip by strip.
class SliceFilter {
 public:
  SliceFilter(const FilterShape& shape, const Terms& terms, const RowReader& reader)
      : shape_(shape),
        terms_(terms),
        reader_(reader),
        radius_x_(largest_radius(terms, 2)),
        radius_y_(largest_radius(terms, 1)),
        slots_(std::min(2 * radius_y_ + 1, shape.height)) {}

  /// Rows [begin, end) of a slice. Calls store(y, first, count) for values [first, first + count)
  /// of row y, which sums() or bytes() then gives.
  template <class Store>
  void run(const std::byte* slice, size_t itemsize, int64_t begin, int64_t end, Store&& store) {
    const int64_t terms = static_cast<int64_t>(terms_.size());
    for_strips(shape_.width, slots_ * terms * shape_.channels * 4, kSeparableStripBytes,
               [&](int64_t first, int64_t last) {
                 prepare(first, last);
                 int64_t next = std::max<int64_t>(0, begin - radius_y_);
                 for (int64_t y = begin; y < end; y++) {
                   const int64_t needed = std::min(shape_.height - 1, y + radius_y_);
                   for (; next <= needed; next++) {
                     prefetch_after(slice, next, shape_, itemsize, first - radius_x_,
                                    last + radius_x_);
                     const size_t offset = static_cast<size_t>(next * shape_.row()) * itemsize;
                     filter_row(slice + offset, next);
                   }
                   store(y, first * shape_.channels, count_);
                 }
               });
  }

  /// The sums of each term, result_stride() apart, for the part of row y that is due.
  float* sums(int64_t y) {
    for (size_t t = 0; t < terms_.size(); t++) {
      const auto term = static_cast<int64_t>(t);
      const FilterWindow& window = find_rows(y, term);
      loops_.weigh_rows(results_.data() + term * stride_, taps_.data(), window.data(),
                        static_cast<int64_t>(window.size()), count_);
    }
    return results_.data();
  }

  /// The sums of the only term as bytes.
  void bytes(uint8_t* out, int64_t y) {
    const FilterWindow& window = find_rows(y, 0);
    loops_.weigh_to_bytes(out, taps_.data(), window.data(), static_cast<int64_t>(window.size()),
                          count_, false);
  }

  int64_t result_stride() const { return stride_; }

 private:
  void prepare(int64_t first, int64_t last) {
    count_ = (last - first) * shape_.channels;
    stride_ = padded(count_) + kFilterPadding;
    const auto terms = static_cast<int64_t>(terms_.size());
    // What is converted begins at a cache line: stores across two of them are slow.
    const int64_t border = std::max<int64_t>(radius_x_ - first, 0) * shape_.channels;
    row_.require(stride_ + 2 * radius_x_ * shape_.channels + 2 * kFilterPadding);
    line_ = row_.data() + padded(border) - border;
    columns_.clear();
    for (int64_t x = 0; x <= 2 * radius_x_; x++) columns_.push_back(line_ + x * shape_.channels);
    reader_.choose(shape_.width, shape_.channels, first - radius_x_, last + radius_x_);
    rows_.require(slots_ * terms * stride_);
    results_.require(terms * stride_);
  }

  float* slot(int64_t number, int64_t term) {
    return rows_.data() + (number * static_cast<int64_t>(terms_.size()) + term) * stride_;
  }

  void filter_row(const std::byte* row, int64_t y) {
    reader_.read(line_, row, nullptr);
    for (size_t t = 0; t < terms_.size(); t++) {
      const FilterWindow& window = terms_[t].windows[2];
      const float* const* taps = columns_.data() + radius_x_ - terms_[t].radius(2);
      loops_.weigh_rows(slot(y % slots_, static_cast<int64_t>(t)), taps, window.data(),
                        static_cast<int64_t>(window.size()), count_);
    }
  }

  /// Points taps_ to the rows under the window of a term, and gives this window.
  const FilterWindow& find_rows(int64_t y, int64_t term) {
    const Term& own = terms_[static_cast<size_t>(term)];
    const int64_t before = y / slots_ * slots_;
    taps_.clear();
    for (int64_t k = -own.radius(1); k <= own.radius(1); k++) {
      // Rows are less than slots_ away from y: one step brings the number into its range.
      const int64_t number = border_index(y + k, shape_.height, Border::reflect_101) - before;
      const int64_t step = number < 0 ? slots_ : number < slots_ ? 0 : -slots_;
      taps_.push_back(slot(number + step, term));
    }
    return own.windows[1];
  }

  const FilterShape& shape_;
  const Terms& terms_;
  RowReader reader_;
  const FilterLoops& loops_ = filter_loops();
  int64_t radius_x_, radius_y_, slots_;
  int64_t count_ = 0, stride_ = 0;
  Scratch<float> row_, rows_, results_;
  float* line_ = nullptr;              // the part of row_ that is read to
  std::vector<const float*> columns_;  // where it begins, and each pixel after that
  std::vector<const float*> taps_;
};

/// Adds up the terms in place and returns the sums: those of the first term.
float* add_terms(float* results, int64_t stride, int64_t count, const Terms& terms) {
  const FilterLoops& loops = filter_loops();
  if (terms[0].scale != 1) loops.scale(results, terms[0].scale, count);
  for (size_t t = 1; t < terms.size(); t++) {
    loops.add_scaled(results, results + static_cast<int64_t>(t) * stride, terms[t].scale, count);
  }
  return results;
}

/// All samples, with the terms of each or the same for all.
class SeparableFilter {
 public:
  SeparableFilter(Samples& out, const Samples& in, FilterAxes axes, std::vector<Terms> terms)
      : out_(out),
        in_(in),
        terms_(std::move(terms)),
        reader_(in.dtype() == DType::uint8 ? filter_loops().widen
                                           : convert_loop(DType::float32, in.dtype()),
                DType::float32, in.dtype(), Border::reflect_101),
        store_(convert_loop(out.dtype(), DType::float32)),
        to_bytes_(out.dtype() == DType::uint8) {
    for (int64_t i = 0; i < in.size(); i++) {
      shapes_.emplace_back(in.shape(i), axes.outer, axes.spatial);
    }
  }

  void run(bool volumes) {
    if (volumes) {
      run_volumes();
    } else {
      run_images();
    }
  }

 private:
  const Terms& terms(int64_t i) const {
    return terms_[terms_.size() == 1 ? 0 : static_cast<size_t>(i)];
  }
  const FilterShape& shape(int64_t i) const { return shapes_[static_cast<size_t>(i)]; }
  std::byte* output(int64_t i, int64_t offset) const {
    return out_.data<std::byte>(i) + static_cast<size_t>(offset) * out_.itemsize();
  }
  const std::byte* input(int64_t i, int64_t offset) const {
    return in_.data<const std::byte>(i) + static_cast<size_t>(offset) * in_.itemsize();
  }

  /// Calls body(i, slice, begin, end) for bands of rows of all slices of all samples.
  template <class Body>
  void for_bands(Body&& body) const {
    parallel_slices(
        in_.size(),
        [&](int64_t i) {
          const FilterShape& s = shape(i);
          return in_.volume(i) ? s.planes * s.depth * s.height : 0;
        },
        [&](int64_t i) { return static_cast<double>(shape(i).row()) * cost_per_value(terms(i)); },
        [&](int64_t i, int64_t begin, int64_t end) {
          const int64_t height = shape(i).height;
          while (begin < end) {
            const int64_t slice = begin / height;
            const int64_t stop = std::min(end, (slice + 1) * height);
            body(i, slice, begin - slice * height, stop - slice * height);
            begin = stop;
          }
        });
  }

  void run_images() const {
    for_bands([&](int64_t i, int64_t slice, int64_t begin, int64_t end) {
      const FilterShape& s = shape(i);
      SliceFilter filter(s, terms(i), reader_);
      filter.run(input(i, slice * s.slice()), in_.itemsize(), begin, end,
                 [&](int64_t y, int64_t first, int64_t count) {
                   std::byte* to = output(i, slice * s.slice() + y * s.row() + first);
                   if (to_bytes_ && terms(i).size() == 1 && terms(i)[0].scale == 1) {
                     return filter.bytes(reinterpret_cast<uint8_t*>(to), y);
                   }
                   store_(to, add_terms(filter.sums(y), filter.result_stride(), count, terms(i)),
                          count);
                 });
    });
  }

  /// First all slices, to float volumes, one for each term; then along the depth.
  void run_volumes() const {
    std::vector<Samples> volumes;
    for (size_t t = 0; t < terms_[0].size(); t++) {
      volumes.push_back(Samples::empty_like(in_, DType::float32));
    }
    for_bands([&](int64_t i, int64_t slice, int64_t begin, int64_t end) {
      const FilterShape& s = shape(i);
      SliceFilter filter(s, terms(i), reader_);
      filter.run(input(i, slice * s.slice()), in_.itemsize(), begin, end,
                 [&](int64_t y, int64_t first, int64_t count) {
                   const float* results = filter.sums(y);
                   for (size_t t = 0; t < volumes.size(); t++) {
                     std::memcpy(
                         volumes[t].data<float>(i) + slice * s.slice() + y * s.row() + first,
                         results + static_cast<int64_t>(t) * filter.result_stride(),
                         static_cast<size_t>(count) * sizeof(float));
                   }
                 });
    });
    for_bands([&](int64_t i, int64_t slice, int64_t begin, int64_t end) {
      for (int64_t y = begin; y < end; y++) filter_depth(volumes, i, slice, y);
    });
  }

  /// One row of a slice from the rows above and below it.
  void filter_depth(const std::vector<Samples>& volumes, int64_t i, int64_t slice,
                    int64_t y) const {
    constexpr int64_t kBlock = 1024;
    const FilterShape& s = shape(i);
    const int64_t z = slice % s.depth, plane = slice / s.depth;
    const int64_t count = s.row();
    float results[3 * kBlock];
    std::vector<const float*> taps;
    for (int64_t first = 0; first < count; first += kBlock) {
      const int64_t length = std::min(kBlock, count - first);
      for (size_t t = 0; t < volumes.size(); t++) {
        const Term& term = terms(i)[t];
        taps.clear();
        for (int64_t k = -term.radius(0); k <= term.radius(0); k++) {
          const int64_t source = border_index(z + k, s.depth, Border::reflect_101);
          taps.push_back(volumes[t].data<float>(i) + plane * s.volume() + source * s.slice() +
                         y * s.row() + first);
        }
        weigh_exactly(results + static_cast<int64_t>(t) * kBlock, taps, term.windows[0], length);
      }
      const float* sums = add_terms(results, kBlock, length, terms(i));
      store_(output(i, slice * s.slice() + y * s.row() + first), sums, length);
    }
  }

  /// Like weigh_rows, but reads no further than `count`.
  static void weigh_exactly(float* out, std::vector<const float*>& taps, const FilterWindow& window,
                            int64_t count) {
    const auto length = static_cast<int64_t>(window.size());
    const int64_t whole = count / kFilterPadding * kFilterPadding;
    filter_loops().weigh_rows(out, taps.data(), window.data(), length, whole);
    for (int64_t i = whole; i < count; i++) {
      float sum = 0;
      for (int64_t k = 0; k < length; k++) {
        const auto tap = static_cast<size_t>(k);
        sum += taps[tap][i] * window[tap];
      }
      out[i] = sum;
    }
  }

  Samples& out_;
  const Samples& in_;
  std::vector<Terms> terms_;
  RowReader reader_;
  ConvertLoop store_;
  bool to_bytes_;
  std::vector<FilterShape> shapes_;
};

/// The value of an argument for one axis: its own, or the one for all.
template <class T>
T for_axis(const PerSample<T>& argument, int64_t i, int axis) {
  return argument.row(i)[argument.width() == 1 ? 0 : axis];
}

/// Normalized in float as the reference does it: half of the window is added up, from the outside.
FilterWindow gaussian_window(float sigma, int64_t size) {
  const int64_t radius = (size - 1) / 2;
  const float exponent = 0.5f / (sigma * sigma);
  FilterWindow window(static_cast<size_t>(size));
  float sum = 0;
  for (int64_t x = -radius; x < 0; x++) {
    const float weight = std::exp(-(static_cast<float>(x * x) * exponent));
    window[static_cast<size_t>(x + radius)] = weight;
    sum += weight;
  }
  sum = sum * 2 + 1;
  const float scale = 1 / sum;
  window[static_cast<size_t>(radius)] = scale;
  for (int64_t x = 0; x < radius; x++) {
    window[static_cast<size_t>(x)] *= scale;
    window[static_cast<size_t>(2 * radius - x)] = window[static_cast<size_t>(x)];
  }
  return window;
}

FilterWindow gaussian_window_for(float sigma, int32_t size) {
  // The relation between the two is that of OpenCV.
  if (size == 0) {
    size = 2 * static_cast<int32_t>(std::ceil(sigma * 3)) + 1;
  } else if (sigma == 0) {
    sigma = static_cast<float>(((size - 1) / 2 - 1) * 0.3 + 0.8);
  }
  return gaussian_window(sigma, size);
}

/// Binomial coefficients: [1, 1] convolved with itself. In float, where large ones are rounded.
FilterWindow smoothing_window(int64_t size) {
  FilterWindow window{1};
  while (static_cast<int64_t>(window.size()) < size) {
    window.push_back(0);
    for (size_t j = window.size() - 1; j > 0; j--) window[j] += window[j - 1];
  }
  return window;
}

/// A shorter smoothing window convolved with [1, -2, 1], that is with [-1, 1] twice.
FilterWindow derivative_window(int64_t size) {
  FilterWindow window = smoothing_window(size - 2);
  for (int step = 0; step < 2; step++) {
    window.push_back(0);
    for (size_t j = window.size() - 1; j > 0; j--) window[j] = window[j - 1] - window[j];
    window[0] = -window[0];
  }
  return window;
}

Terms laplacian_terms(const Laplacian& arguments, int64_t i, int axes) {
  Terms terms;
  for (int axis = 0; axis < axes; axis++) {
    Term term;
    const int32_t size = for_axis(arguments.window_size, i, axis);
    int64_t total = 0;
    for (FilterWindow& window : term.windows) window = {1};
    for (int other = 0; other < axes; other++) {
      const auto dimension = static_cast<size_t>(3 - axes + other);
      const int32_t smoothing =
          arguments.smoothing_size ? for_axis(*arguments.smoothing_size, i, other) : size;
      term.windows[dimension] =
          other == axis ? derivative_window(size) : smoothing_window(smoothing);
      total += other == axis ? size : smoothing;
    }
    term.scale = arguments.normalized ? std::exp2(-static_cast<float>(total - axes - 2))
                                      : for_axis(arguments.scale, i, axis);
    terms.push_back(std::move(term));
  }
  return terms;
}

}  // namespace

void gaussian_blur(Samples& out, const Samples& in, FilterAxes axes, PerSample<float> sigma,
                   PerSample<int32_t> window_size) {
  if (in.size() == 0) return;
  const int64_t count = std::max(sigma.rows(), window_size.rows()) == 1 ? 1 : in.size();
  std::vector<Terms> terms;
  for (int64_t i = 0; i < count; i++) {
    Term term;
    for (FilterWindow& window : term.windows) window = {1};
    for (int axis = 0; axis < axes.spatial; axis++) {
      term.windows[static_cast<size_t>(3 - axes.spatial + axis)] =
          gaussian_window_for(for_axis(sigma, i, axis), for_axis(window_size, i, axis));
    }
    terms.push_back({std::move(term)});
  }
  SeparableFilter(out, in, axes, std::move(terms)).run(axes.spatial == 3);
}

void laplacian(Samples& out, const Samples& in, FilterAxes axes, const Laplacian& arguments) {
  std::vector<Terms> terms;
  for (int64_t i = 0; i < in.size(); i++) {
    terms.push_back(laplacian_terms(arguments, i, axes.spatial));
  }
  if (in.size() > 0) SeparableFilter(out, in, axes, std::move(terms)).run(axes.spatial == 3);
}

}  // namespace daliesque::image
