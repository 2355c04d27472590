// SPDX-License-Identifier: Apache-2.0
// Filters that work along one axis after the other: innermost first, as the reference does.
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "core/parallel.h"
#include "core/scratch.h"
#include "core/simd.h"
#include "image/filter_loops.h"
#include "image/filters.h"
#include "image/slice_filter.h"
#include "image/strips.h"

namespace daliesque::image {

const FilterLoops& filter_loops() { return DALIESQUE_CHOOSE_512(filter_loops); }
const WordLoops& word_loops() { return DALIESQUE_CHOOSE_512(word_loops); }

namespace {

using FilterWindow = std::vector<float>;
constexpr double kSeparableNanosecondsPerTap = 0.08;

using Term = FilterTerm<float>;
using Terms = FilterTerms<float>;
using WordTerms = FilterTerms<int16_t>;

double cost_per_value(const Terms& terms) {
  double taps = 0;
  for (const Term& term : terms) {
    for (const FilterWindow& window : term.windows) taps += static_cast<double>(window.size());
  }
  return 1 + taps * kSeparableNanosecondsPerTap;
}

/// The same terms in integers, if all sums over bytes fit into words. All windows of an axis become
/// as long as the longest one.
std::optional<WordTerms> as_words(const Terms& terms) {
  constexpr float kLargest = 255, kMost = std::numeric_limits<int16_t>::max();
  float total = 0;
  WordTerms words;
  for (const Term& term : terms) {
    float gain = kLargest;
    FilterTerm<int16_t>& own = words.emplace_back();
    for (size_t axis = 0; axis < own.windows.size(); axis++) {
      const int64_t radius = largest_radius(terms, axis), beside = radius - term.radius(axis);
      own.windows[axis].resize(static_cast<size_t>(2 * radius + 1));
      float sum = 0;
      for (size_t k = 0; k < term.windows[axis].size(); k++) {
        const float weight = term.windows[axis][k];
        // Also weights that are not numbers.
        if (!(std::abs(weight) <= kMost) || weight != std::rint(weight)) return std::nullopt;
        own.windows[axis][static_cast<size_t>(beside) + k] = static_cast<int16_t>(weight);
        sum += std::abs(weight);
      }
      gain *= sum;
    }
    total += gain;
  }
  if (!(total <= kMost)) return std::nullopt;
  return words;
}

/// Adds up the terms in place and returns the sums: those of the first term.
float* add_terms(float* results, int64_t stride, int64_t count, const Terms& terms) {
  const FilterLoops& loops = filter_loops();
  if (terms[0].scale != 1) loops.scale(results, terms[0].scale, count);
  for (size_t t = 1; t < terms.size(); t++) {
    loops.add_scaled(results, results + static_cast<int64_t>(t) * stride, terms[t].scale, count);
  }
  return results;
}

/// Whether a slice filter adds up the terms by itself.
template <class Value>
bool has_unscaled_sum(const Terms& terms) {
  if (std::is_same_v<Value, float> && terms.size() > 1) return false;
  return std::all_of(terms.begin(), terms.end(), [](const Term& term) { return term.scale == 1; });
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
    if (volumes) return run_volumes();
    const std::vector<WordTerms> words = all_as_words();
    if (words.empty()) return run_images(terms_, reader_);
    run_images(words,
               RowReader(word_loops().widen, DType::int16, DType::uint8, Border::reflect_101));
  }

 private:
  const Terms& terms(int64_t i) const {
    return terms_[terms_.size() == 1 ? 0 : static_cast<size_t>(i)];
  }
  /// Nothing unless this is possible for all samples.
  std::vector<WordTerms> all_as_words() const {
    std::vector<WordTerms> all;
    if (in_.dtype() != DType::uint8) return all;
    for (const Terms& terms : terms_) {
      std::optional<WordTerms> words = as_words(terms);
      if (!words) return {};
      all.push_back(std::move(*words));
    }
    return all;
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

  template <class Value>
  void run_images(const std::vector<FilterTerms<Value>>& all, const RowReader& reader) const {
    for_bands([&](int64_t i, int64_t slice, int64_t begin, int64_t end) {
      const FilterShape& s = shape(i);
      const bool to_bytes = to_bytes_ && has_unscaled_sum<Value>(terms(i));
      const int64_t step = to_bytes && std::is_same_v<Value, float> ? kWindowRows : 1;
      SliceFilter<Value> filter(s, all[all.size() == 1 ? 0 : static_cast<size_t>(i)], reader, step);
      filter.run(input(i, slice * s.slice()), in_.itemsize(), begin, end,
                 [&](int64_t y, int64_t rows, int64_t first, int64_t count) {
                   std::byte* to = output(i, slice * s.slice() + y * s.row() + first);
                   if (to_bytes) {
                     return filter.bytes(reinterpret_cast<uint8_t*>(to), s.row(), y, rows);
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
                 [&](int64_t y, int64_t, int64_t first, int64_t count) {
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
