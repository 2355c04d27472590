// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <stdexcept>
#include <utility>

#include "core/errors.h"
#include "core/parallel.h"
#include "tensor/normalize.h"
#include "tensor/normalize_chunks.h"
#include "tensor/normalize_rows.h"

namespace daliesque::tensor {

namespace {

// Values that one thread takes at a time. Fixed, so that sums do not depend on the threads.
constexpr int64_t kStatisticsPiece = 65536;
static_assert(2 * kStatisticsPiece <= kMostBytes);

// Sums for a period are kept for several periods at a time, so that vectors are full: up to
// kPatternLength of them, unless the period is longer.
constexpr int64_t kPatternLength = 96;
constexpr int64_t kLongestPattern = 512;

int64_t pattern_repeats(int64_t period) { return std::max<int64_t>(1, kPatternLength / period); }

constexpr auto kOnes = [] {
  std::array<float, kNormalizeBlock> ones{};
  ones.fill(1.0f);
  return ones;
}();

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
        squares_(squares),
        bytes_(in == DType::uint8) {
    if (!normalize_) throw UsageError("this type cannot be normalized");
  }

  void run(double* sums, const std::byte* in, int64_t periods, int64_t period, const float* mean) {
    if (bytes_ && periods * period <= kMostBytes && period <= kLongestPattern) {
      sum_bytes(sums, reinterpret_cast<const uint8_t*>(in), periods, period, mean);
    } else if (period == 1) {
      sum_all(sums, in, periods, squares_ ? *mean : 0.0f);
    } else if (period <= kLongestPattern) {
      sum_patterns(sums, in, periods, period, mean);
    } else {
      for (int64_t row = 0; row < periods; row++) {
        sum_row(sums, in + row * period * size_, period, mean);
      }
    }
  }

  /// At most a block of values, or of distances from means; valid until the next call.
  const float* terms(const std::byte* in, int64_t count, const float* mean) {
    if (squares_) {
      normalize_each_(block_, in, count, mean, kOnes.data(), 0.0f);
    } else {
      normalize_(block_, in, count, 0.0f, 1.0f, 0.0f);
    }
    return block_;
  }

 private:
  /// Bytes are summed exactly, as integers; squared distances follow from sums and squares.
  void sum_bytes(double* sums, const uint8_t* in, int64_t periods, int64_t period,
                 const float* mean) {
    const auto add = [&](int64_t k, uint64_t sum, uint64_t squares) {
      const double total = static_cast<double>(sum), around = squares_ ? mean[k] : 0;
      sums[k] += !squares_ ? total
                           : std::max(0.0, static_cast<double>(squares) - 2 * around * total +
                                               static_cast<double>(periods) * around * around);
    };
    if (period == 1) {
      uint64_t sum = 0, squares = 0;
      loops_.add_bytes(&sum, &squares, in, periods);
      add(0, sum, squares);
      return;
    }
    const int64_t length = std::min(periods, pattern_repeats(period)) * period;
    std::fill_n(byte_sums_, length, 0);
    std::fill_n(byte_squares_, length, 0);
    loops_.add_bytes_each(byte_sums_, byte_squares_, length, in, periods * period);
    for (int64_t k = 0; k < period; k++) {
      uint64_t sum = 0, squares = 0;
      for (int64_t at = k; at < length; at += period) {
        sum += byte_sums_[at];
        squares += byte_squares_[at];
      }
      add(k, sum, squares);
    }
  }

  void sum_all(double* sum, const std::byte* in, int64_t count, float mean) {
    double parts[kSums] = {};
    for (int64_t i = 0; i < count; i += kNormalizeBlock) {
      const int64_t length = std::min(kNormalizeBlock, count - i);
      normalize_(block_, in + i * size_, length, mean, 1.0f, 0.0f);
      (squares_ ? loops_.add_squares : loops_.add)(parts, block_, length);
    }
    for (const double part : parts) *sum += part;
  }

  void sum_patterns(double* sums, const std::byte* in, int64_t periods, int64_t period,
                    const float* mean) {
    const int64_t repeats = std::min(periods, kNormalizeBlock / period);
    const int64_t length = std::min(repeats, pattern_repeats(period)) * period;
    if (squares_) repeat(means_, mean, period, 1, repeats);
    std::fill_n(parts_, length, 0);
    // Whole patterns, so that each block begins with the first sum.
    const int64_t step = repeats * period / length * length;
    for (int64_t i = 0; i < periods * period; i += step) {
      add_each(parts_, length, in + i * size_, std::min(step, periods * period - i), means_);
    }
    for (int64_t k = 0; k < length; k++) sums[k % period] += parts_[k];
  }

  void sum_row(double* sums, const std::byte* in, int64_t period, const float* mean) {
    for (int64_t i = 0; i < period; i += kNormalizeBlock) {
      const int64_t count = std::min(kNormalizeBlock, period - i);
      add_each(sums + i, count, in + i * size_, count, squares_ ? mean + i : nullptr);
    }
  }

  /// At most a block.
  void add_each(double* sums, int64_t length, const std::byte* in, int64_t count,
                const float* mean) {
    const float* values = terms(in, count, mean);
    (squares_ ? loops_.add_each_square : loops_.add_each)(sums, length, values, count);
  }

  const NormalizeLoops& loops_;
  NormalizeToFloat normalize_;
  NormalizeEachToFloat normalize_each_;
  int64_t size_;
  bool squares_, bytes_;
  alignas(64) float block_[kNormalizeBlock];
  alignas(64) float means_[kNormalizeBlock];
  alignas(64) double parts_[kLongestPattern];
  alignas(64) uint32_t byte_sums_[kLongestPattern], byte_squares_[kLongestPattern];
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
    if (chunks_.length() >= 2 * kStatisticsPiece) {
      periods_ = std::max<int64_t>(1, kStatisticsPiece / chunks_.period);
      cuts_ = (chunks_.repeats + periods_ - 1) / periods_;
      pieces_ = chunks_.count * cuts_;
      partial_.resize(static_cast<size_t>(pieces_ * chunks_.period));
    }
  }

  int64_t pieces() const { return pieces_; }
  int64_t piece_length() const {
    return cuts_ ? kStatisticsPiece : chunks_.count * chunks_.length();
  }

  void run(PieceSummer& summer, int64_t piece) {
    if (!cuts_ && chunks_.has_short_runs()) {
      run_short(summer);
      return;
    }
    if (!cuts_) {
      ChunkWalk walk(chunks_, 0);
      for (int64_t chunk = 0; chunk < chunks_.count; chunk++, walk.next()) {
        summer.run(sums_.data() + walk.offset(0), in_ + chunk * chunks_.length() * size_,
                   chunks_.repeats, chunks_.period, mean_ ? mean_ + walk.offset(0) : nullptr);
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
  void run_short(PieceSummer& summer) {
    const int64_t length = chunks_.repeats, most = kNormalizeBlock / length;
    float means[kNormalizeBlock];
    ChunkWalk reader(chunks_, 0), writer(chunks_, 0);
    for (int64_t chunk = 0; chunk < chunks_.count; chunk += most) {
      const int64_t count = std::min(most, chunks_.count - chunk);
      for (int64_t k = 0; k < count * length && mean_; k += length, reader.next()) {
        std::fill_n(means + k, length, mean_[reader.offset(0)]);
      }
      const float* terms = summer.terms(in_ + chunk * length * size_, count * length, means);
      for (int64_t k = 0; k < count; k++, writer.next()) {
        double sum = 0;
        for (int64_t j = 0; j < length; j++) {
          const auto term = static_cast<double>(terms[k * length + j]);
          sum += mean_ ? term * term : term;
        }
        sums_[static_cast<size_t>(writer.offset(0))] += sum;
      }
    }
  }

  const float* mean_of(int64_t chunk) const {
    return mean_ ? mean_ + chunks_.parameters(chunk)[0] : nullptr;
  }

  Chunks chunks_;
  const std::byte* in_;
  const float* mean_;
  int64_t size_, pieces_ = 0, cuts_ = 0, periods_ = 0;
  std::vector<double> sums_, partial_;
};

/// The means of sample i with the reduced shape; if they have to be repeated, in new memory.
const float* expanded(const Samples& means, int64_t i, Shape shape,
                      std::list<std::vector<float>>& memory) {
  const int64_t from = means.size() > 1 ? i : 0;
  const auto* values = means.data<const float>(from);
  const Shape extents = means.shape(from);
  if (std::ranges::equal(extents, shape)) return values;
  std::vector<float>& out = memory.emplace_back(static_cast<size_t>(volume(shape)));
  for (size_t k = 0; k < out.size(); k++) {
    auto rest = static_cast<int64_t>(k);
    int64_t offset = 0, step = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (extents[axis] != 1) offset += rest % shape[axis] * step;
      rest /= shape[axis];
      step *= extents[axis];
    }
    out[k] = values[offset];
  }
  return out.data();
}

/// Sums each sample and calls `finish(result, sums, number of values in each sum)` for each, or
/// once for the batch.
template <class Finish>
Samples reduce(const Samples& in, const NormalizeScope& scope, const Samples* means,
               Finish&& finish) {
  const int64_t results = scope.batch ? std::min<int64_t>(1, in.size()) : in.size();
  std::vector<int64_t> shapes;
  std::vector<SampleSums> sums;
  std::list<std::vector<float>> mean_memory;
  sums.reserve(static_cast<size_t>(in.size()));
  for (int64_t i = 0; i < in.size(); i++) {
    const auto shape = reduced_shape(in.shape(i), scope.reduced);
    if (i < results) shapes.insert(shapes.end(), shape.begin(), shape.end());
    sums.emplace_back(in, i, shape, means ? expanded(*means, i, shape, mean_memory) : nullptr);
  }
  Samples out = Samples::empty(DType::float32, in.ndim(), std::move(shapes), in.layout(), results);
  parallel_slices(
      in.size(), [&](int64_t i) { return sums[static_cast<size_t>(i)].pieces(); },
      [&](int64_t i) {
        return static_cast<double>(sums[static_cast<size_t>(i)].piece_length()) *
               kNormalizeNanoseconds;
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

}  // namespace daliesque::tensor
