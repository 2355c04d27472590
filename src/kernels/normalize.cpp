// SPDX-License-Identifier: Apache-2.0
#include "normalize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "normalize_rows.h"
#include "parallel.h"

namespace daliesque {

namespace {

constexpr double kNanosecondsPerValue = 0.5;
// Values that one thread takes at a time. Fixed, so that sums do not depend on the threads.
constexpr int64_t kPiece = 65536;
// Values converted at a time, in the first-level cache.
constexpr int64_t kBlock = 1024;

/// Neighbouring axes along which both parameters vary, or do not, taken as one.
struct Group {
  int64_t extent;
  std::array<bool, 2> varies;
  std::array<int64_t, 2> steps;  // in the parameters; 0 where they do not vary
};

/// A sample as chunks: dense runs of `repeats` times `period` values. Within a chunk a parameter is
/// constant (period 1) or depends on the place in the period.
struct Chunks {
  std::vector<Group> outer;
  std::array<int64_t, 2> inner_steps{};  // 1 if the parameter varies along the period
  int64_t count = 1, repeats = 1, period = 1;

  int64_t length() const { return repeats * period; }

  /// Where the parameters of a chunk begin.
  std::array<int64_t, 2> parameters(int64_t chunk) const {
    std::array<int64_t, 2> offsets{};
    for (size_t k = outer.size(); k-- > 0;) {
      const int64_t place = chunk % outer[k].extent;
      chunk /= outer[k].extent;
      for (size_t p = 0; p < 2; p++) offsets[p] += place * outer[k].steps[p];
    }
    return offsets;
  }
};

Chunks find_chunks(Shape shape, Shape first, Shape second) {
  std::vector<Group> groups;
  for (size_t axis = 0; axis < shape.size(); axis++) {
    if (shape[axis] == 1) continue;
    const std::array<bool, 2> varies = {first[axis] != 1, second[axis] != 1};
    if (!groups.empty() && groups.back().varies == varies) {
      groups.back().extent *= shape[axis];
    } else {
      groups.push_back({shape[axis], varies, {}});
    }
  }
  std::array<int64_t, 2> steps = {1, 1};
  for (size_t k = groups.size(); k-- > 0;) {
    for (size_t p = 0; p < 2; p++) {
      if (!groups[k].varies[p]) continue;
      groups[k].steps[p] = steps[p];
      steps[p] *= groups[k].extent;
    }
  }
  const auto is_constant = [](const Group& group) { return !group.varies[0] && !group.varies[1]; };
  Chunks chunks;
  if (!groups.empty() && !is_constant(groups.back())) {
    chunks.period = groups.back().extent;
    chunks.inner_steps = groups.back().steps;
    groups.pop_back();
  }
  if (!groups.empty() && is_constant(groups.back())) {
    chunks.repeats = groups.back().extent;
    groups.pop_back();
  }
  for (const Group& group : groups) chunks.count *= group.extent;
  chunks.outer = std::move(groups);
  return chunks;
}

/// A parameter repeated until it is worth a vector loop.
std::vector<float> repeated(const float* values, int64_t period, int64_t step, int64_t repeats) {
  std::vector<float> pattern(static_cast<size_t>(period * repeats));
  for (int64_t k = 0; k < period * repeats; k++) {
    pattern[static_cast<size_t>(k)] = values[k % period * step];
  }
  return pattern;
}

int64_t pattern_repeats(int64_t period) { return std::max<int64_t>(1, kBlock / period); }

/// Sums of values, or of their squared distances from a mean, over part of a chunk. With a period
/// of 1 all values go into one sum, otherwise value k of each period into sum k.
class PieceSummer {
 public:
  /// Sums values if `squares` is false; then there are no means.
  PieceSummer(DType in, bool squares)
      : loops_(normalize_loops()),
        normalize_(loops_.find_normalize(in)),
        normalize_each_(loops_.find_normalize_each(in)),
        size_(static_cast<int64_t>(dtype_size(in))),
        squares_(squares) {
    if (!normalize_) throw std::invalid_argument("this type cannot be normalized");
  }

  void run(double* sums, const std::byte* in, int64_t periods, int64_t period, const float* mean) {
    if (period == 1) {
      sum_all(sums, in, periods, squares_ ? *mean : 0.0f);
    } else if (period <= kBlock / 2) {
      sum_patterns(sums, in, periods, period, mean);
    } else {
      for (int64_t row = 0; row < periods; row++) {
        sum_row(sums, in + row * period * size_, period, mean);
      }
    }
  }

 private:
  void sum_all(double* sum, const std::byte* in, int64_t count, float mean) {
    double parts[kSums] = {};
    for (int64_t i = 0; i < count; i += kBlock) {
      const int64_t length = std::min(kBlock, count - i);
      normalize_(block_, in + i * size_, length, mean, 1.0f, 0.0f);
      (squares_ ? loops_.add_squares : loops_.add)(parts, block_, length);
    }
    for (const double part : parts) *sum += part;
  }

  void sum_patterns(double* sums, const std::byte* in, int64_t periods, int64_t period,
                    const float* mean) {
    const int64_t repeats = pattern_repeats(period);
    const auto means = squares_ ? repeated(mean, period, 1, repeats) : std::vector<float>();
    std::vector<double> parts(static_cast<size_t>(period * repeats));
    for (int64_t i = 0; i < periods; i += repeats) {
      const int64_t length = std::min(repeats, periods - i) * period;
      add_each(parts.data(), in + i * period * size_, length, means.data());
    }
    for (size_t k = 0; k < parts.size(); k++) sums[k % static_cast<size_t>(period)] += parts[k];
  }

  void sum_row(double* sums, const std::byte* in, int64_t period, const float* mean) {
    for (int64_t i = 0; i < period; i += kBlock) {
      add_each(sums + i, in + i * size_, std::min(kBlock, period - i),
               squares_ ? mean + i : nullptr);
    }
  }

  /// At most a block.
  void add_each(double* sums, const std::byte* in, int64_t count, const float* mean) {
    static constexpr auto kOnes = [] {
      std::array<float, kBlock> ones{};
      ones.fill(1.0f);
      return ones;
    }();
    if (squares_) {
      normalize_each_(block_, in, count, mean, kOnes.data(), 0.0f);
      loops_.add_each_square(sums, block_, count);
    } else {
      normalize_(block_, in, count, 0.0f, 1.0f, 0.0f);
      loops_.add_each(sums, block_, count);
    }
  }

  const NormalizeLoops& loops_;
  NormalizeToFloat normalize_;
  NormalizeEachToFloat normalize_each_;
  int64_t size_;
  bool squares_;
  alignas(64) float block_[kBlock];
};

std::vector<int64_t> reduced_shape(Shape shape, const std::vector<bool>& reduced) {
  std::vector<int64_t> out(shape.begin(), shape.end());
  for (size_t axis = 0; axis < out.size(); axis++) {
    if (reduced[axis]) out[axis] = 1;
  }
  return out;
}

/// Sums over one sample, in double, for each element of the reduced shape.
class SampleSums {
 public:
  /// `mean` has the reduced shape, or is null to sum the values themselves.
  SampleSums(const Samples& in, int64_t i, const std::vector<int64_t>& shape, const float* mean)
      : chunks_(find_chunks(in.shape(i), shape, shape)),
        in_(in.data<const std::byte>(i)),
        mean_(mean),
        size_(static_cast<int64_t>(in.itemsize())),
        sums_(static_cast<size_t>(volume(shape))) {
    if (in.volume(i) == 0) return;
    pieces_ = 1;
    // Big chunks are cut, each piece with sums of its own that are added up in order afterwards.
    if (chunks_.length() >= 2 * kPiece) {
      periods_ = std::max<int64_t>(1, kPiece / chunks_.period);
      cuts_ = (chunks_.repeats + periods_ - 1) / periods_;
      pieces_ = chunks_.count * cuts_;
      partial_.resize(static_cast<size_t>(pieces_ * chunks_.period));
    }
  }

  int64_t pieces() const { return pieces_; }
  int64_t piece_length() const { return cuts_ ? kPiece : chunks_.count * chunks_.length(); }

  void run(PieceSummer& summer, int64_t piece) {
    if (!cuts_) {
      for (int64_t chunk = 0; chunk < chunks_.count; chunk++) {
        summer.run(sums_.data() + chunks_.parameters(chunk)[0],
                   in_ + chunk * chunks_.length() * size_, chunks_.repeats, chunks_.period,
                   mean_of(chunk));
      }
      return;
    }
    const int64_t chunk = piece / cuts_, begin = piece % cuts_ * periods_;
    const int64_t end = std::min(chunks_.repeats, begin + periods_);
    summer.run(partial_.data() + piece * chunks_.period,
               in_ + (chunk * chunks_.repeats + begin) * chunks_.period * size_, end - begin,
               chunks_.period, mean_of(chunk));
  }

  const std::vector<double>& finish() {
    for (int64_t piece = 0; cuts_ && piece < pieces_; piece++) {
      double* sums = sums_.data() + chunks_.parameters(piece / cuts_)[0];
      for (int64_t k = 0; k < chunks_.period; k++) {
        sums[k] += partial_[static_cast<size_t>(piece * chunks_.period + k)];
      }
    }
    return sums_;
  }

 private:
  const float* mean_of(int64_t chunk) const {
    return mean_ ? mean_ + chunks_.parameters(chunk)[0] : nullptr;
  }

  Chunks chunks_;
  const std::byte* in_;
  const float* mean_;
  int64_t size_, pieces_ = 0, cuts_ = 0, periods_ = 0;
  std::vector<double> sums_, partial_;
};

/// Sums each sample and calls `finish(result, sums, number of values in each sum)` for each, or
/// once for the batch.
template <class Finish>
Samples reduce(const Samples& in, const NormalizeScope& scope, const Samples* means,
               Finish&& finish) {
  const int64_t results = scope.batch ? std::min<int64_t>(1, in.size()) : in.size();
  std::vector<int64_t> shapes;
  std::vector<SampleSums> sums;
  sums.reserve(static_cast<size_t>(in.size()));
  for (int64_t i = 0; i < in.size(); i++) {
    const auto shape = reduced_shape(in.shape(i), scope.reduced);
    if (i < results) shapes.insert(shapes.end(), shape.begin(), shape.end());
    const int64_t mean = means && means->size() > 1 ? i : 0;
    if (means && means->volume(mean) != volume(shape)) {
      throw std::invalid_argument("the means do not have the reduced shape");
    }
    sums.emplace_back(in, i, shape, means ? means->data<const float>(mean) : nullptr);
  }
  Samples out = Samples::empty(DType::float32, in.ndim(), std::move(shapes), in.layout(), results);
  parallel_slices(
      in.size(), [&](int64_t i) { return sums[static_cast<size_t>(i)].pieces(); },
      [&](int64_t i) {
        return static_cast<double>(sums[static_cast<size_t>(i)].piece_length()) *
               kNanosecondsPerValue;
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        PieceSummer summer(in.dtype(), means != nullptr);
        for (int64_t piece = begin; piece < end; piece++) {
          sums[static_cast<size_t>(i)].run(summer, piece);
        }
      });
  std::vector<double> total;
  int64_t total_values = 0;
  for (int64_t i = 0; i < in.size(); i++) {
    const std::vector<double>& sample = sums[static_cast<size_t>(i)].finish();
    const int64_t values = sample.empty() ? 0 : in.volume(i) / static_cast<int64_t>(sample.size());
    if (!scope.batch) {
      finish(out.data<float>(i), sample, values);
      continue;
    }
    total.resize(sample.size());
    for (size_t k = 0; k < sample.size(); k++) total[k] += sample[k];
    total_values += values;
  }
  if (scope.batch && results) finish(out.data<float>(0), total, total_values);
  return out;
}

void normalize_piece(std::byte* out, const std::byte* in, int64_t out_size, int64_t in_size,
                     const RowNormalizer& rows, const Chunks& chunks, const float* mean,
                     const float* factor, int64_t begin, int64_t end, float shift) {
  const int64_t period = chunks.period;
  if (period == 1) {
    rows.run(out + begin * out_size, in + begin * in_size, end - begin, *mean, *factor, shift);
    return;
  }
  const int64_t repeats = std::min(pattern_repeats(period), end - begin);
  const auto means = repeated(mean, period, chunks.inner_steps[0], repeats);
  const auto factors = repeated(factor, period, chunks.inner_steps[1], repeats);
  for (int64_t k = begin; k < end; k += repeats) {
    rows.run_each(out + k * period * out_size, in + k * period * in_size,
                  std::min(repeats, end - k) * period, means.data(), factors.data(), shift);
  }
}

}  // namespace

Samples normalize_means(const Samples& in, const NormalizeScope& scope) {
  return reduce(in, scope, nullptr,
                [](float* out, const std::vector<double>& sums, int64_t values) {
                  for (size_t k = 0; k < sums.size(); k++) {
                    out[k] = values ? static_cast<float>(sums[k] / static_cast<double>(values)) : 0;
                  }
                });
}

Samples normalize_factors(const Samples& in, const Samples& means, const NormalizeScope& scope,
                          int ddof, float epsilon, float scale) {
  return reduce(
      in, scope, &means, [&](float* out, const std::vector<double>& sums, int64_t values) {
        const int64_t freedom = values - ddof;
        for (size_t k = 0; k < sums.size(); k++) {
          const double variance = freedom > 0 ? sums[k] / static_cast<double>(freedom) : 0;
          const double regular = variance + static_cast<double>(epsilon);
          out[k] = regular > 0 ? static_cast<float>(scale / std::sqrt(regular)) : 0;
        }
      });
}

void normalize(Samples& out, const Samples& in, const Samples& means, const Samples& factors,
               float shift) {
  const RowNormalizer rows(out.dtype(), in.dtype());
  std::vector<Chunks> plans;
  plans.reserve(static_cast<size_t>(in.size()));
  const auto pick = [](const Samples& parameters, int64_t i) {
    return parameters.size() > 1 ? i : 0;
  };
  for (int64_t i = 0; i < in.size(); i++) {
    plans.push_back(
        find_chunks(in.shape(i), means.shape(pick(means, i)), factors.shape(pick(factors, i))));
  }
  const auto in_size = static_cast<int64_t>(in.itemsize());
  const auto out_size = static_cast<int64_t>(out.itemsize());
  // A unit is a period; a slice of them may span several chunks.
  parallel_slices(
      in.size(),
      [&](int64_t i) {
        const Chunks& chunks = plans[static_cast<size_t>(i)];
        return in.volume(i) ? chunks.count * chunks.repeats : 0;
      },
      [&](int64_t i) {
        return static_cast<double>(plans[static_cast<size_t>(i)].period) * kNanosecondsPerValue;
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const Chunks& chunks = plans[static_cast<size_t>(i)];
        for (int64_t unit = begin; unit < end;) {
          const int64_t chunk = unit / chunks.repeats, first = chunk * chunks.repeats;
          const int64_t stop = std::min(end, first + chunks.repeats);
          const auto [mean, factor] = chunks.parameters(chunk);
          const int64_t start = first * chunks.period;
          normalize_piece(out.data<std::byte>(i) + start * out_size,
                          in.data<const std::byte>(i) + start * in_size, out_size, in_size, rows,
                          chunks, means.data<const float>(pick(means, i)) + mean,
                          factors.data<const float>(pick(factors, i)) + factor, unit - first,
                          stop - first, shift);
          unit = stop;
        }
      });
}

}  // namespace daliesque
