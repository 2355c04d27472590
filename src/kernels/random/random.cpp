// SPDX-License-Identifier: Apache-2.0
#include "random/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/parallel.h"
#include "core/saturate.h"
#include "core/simd.h"
#include "random/element_words.h"
#include "random/random_loops.h"
#include "random/std_random.h"

namespace daliesque::random {

void philox_words(uint32_t* out, const PhiloxState& sample, int64_t first, int64_t count,
                  int words) {
  DALIESQUE_CHOOSE_512(philox_words(out, sample, first, count, words));
}

void philox_blocks(uint32_t* out, const PhiloxState& sample, int64_t first, int64_t count,
                   int blocks) {
  DALIESQUE_CHOOSE_512(philox_blocks(out, sample, first, count, blocks));
}

namespace {

using RealTypes = Types<float, double>;
using UniformTypes =
    Types<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t, float, double>;
using CoinTypes = Types<bool, uint8_t, int32_t>;

/// Runs body(sample, begin, words, count) for tiles of elements, in parallel; `words` holds
/// `draws` planes of random words.
template <class Body>
void for_each_tile(const Samples& out, const PhiloxState& state, int draws, double element_cost,
                   Body&& body) {
  parallel_slices(
      out.size(), [&](int64_t i) { return out.volume(i); }, [&](int64_t) { return element_cost; },
      [&](int64_t i, int64_t begin, int64_t end) {
        const PhiloxState sample = sample_state(state, i);
        alignas(64) uint32_t words[4 * kPhiloxTile];
        for (int64_t at = begin; at < end; at += kPhiloxTile) {
          const int64_t count = std::min(kPhiloxTile, end - at);
          philox_words(words, sample, at, count, draws);
          body(i, at, words, count);
        }
      });
}

/// What an x86 processor makes of the conversion of a float that may be out of range, where C++
/// leaves it undefined: wide conversions give the lowest integer, narrow ones drop high bits.
template <class T>
T truncate_like_x86(float value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else if constexpr (sizeof(T) == 8 && std::is_unsigned_v<T>) {
    constexpr float half = 0x1p63f;
    if (!(value >= half)) return static_cast<T>(truncate_like_x86<int64_t>(value));
    return static_cast<T>(truncate_like_x86<int64_t>(value - half)) ^ (T{1} << 63);
  } else {
    using Wide = std::conditional_t<sizeof(T) == 8 || (sizeof(T) == 4 && std::is_unsigned_v<T>),
                                    int64_t, int32_t>;
    constexpr float limit = sizeof(Wide) == 8 ? 0x1p63f : 0x1p31f;
    const bool fits = value >= -limit && value < limit;
    return static_cast<T>(fits ? static_cast<Wide>(value) : std::numeric_limits<Wide>::min());
  }
}

template <class T>
UniformRange<DrawType<T>> uniform_range(const float* range) {
  using Real = DrawType<T>;
  const Real start = static_cast<Real>(truncate_like_x86<T>(range[0]));
  const Real end = static_cast<Real>(truncate_like_x86<T>(range[1]));
  UniformRange<Real> result{start, std::nextafter(end, start), 0};
  if (result.low > result.high) std::swap(result.low, result.high);
  const Real unit = sizeof(Real) == 4 ? Real(0x1p-32) : Real(0x1p-64);
  result.factor = (result.high - result.low) * unit;
  return result;
}

uint32_t coin_threshold(float probability) {
  const float scaled = probability * 0x1p32f;
  return scaled >= 0x1p32f ? 0xFFFFFFFFu : static_cast<uint32_t>(scaled);
}

/// A beta variate as the quotient of gamma variates.
template <class Real>
class BetaDraws {
 public:
  BetaDraws(Real alpha, Real beta)
      : both_small_(alpha < 1 && beta < 1),
        beta_(beta),
        ratio_(beta / alpha),
        first_(both_small_ ? alpha + 1 : alpha),
        second_(both_small_ ? beta + 1 : beta) {}

  template <class Engine>
  Real operator()(Engine& rng) {
    const Real a = first_(rng), b = second_(rng);
    if (!both_small_) return a / (a + b);
    // Gamma(s) = Gamma(s + 1) * U^(1/s). Both factors U^(1/s) may underflow, so they are divided by
    // the larger one, in logarithms: -exponential() is log U.
    const Real log_a = -exponential<Real>(rng);
    const Real log_b = -exponential<Real>(rng);
    if (log_a * ratio_ < log_b) {
      const Real scaled = a * std::exp((log_a * ratio_ - log_b) / beta_);
      return scaled / (scaled + b);
    }
    const Real scaled = b * std::exp((log_b - log_a * ratio_) / beta_);
    return a / (a + scaled);
  }

 private:
  bool both_small_;
  Real beta_, ratio_;
  Gamma<Real> first_, second_;
};

/// Gamma variates keep half of a pair of normal variates for the next element, so that elements
/// depend on the ones before them, up to these borders (which are the reference's).
int64_t beta_chunks(int64_t volume) {
  constexpr int64_t whole = 1 << 18, chunk = 1 << 16;
  return volume < whole ? 1 : (volume + chunk - 1) / chunk;
}

template <class Real>
void fill_beta(Real* out, int64_t begin, int64_t end, const PhiloxState& sample,
               BetaDraws<Real> draws) {
  // Enough for nearly all elements.
  constexpr int kBlocks = sizeof(Real) == 4 ? 3 : 5;
  alignas(64) uint32_t words[4 * kBlocks * kPhiloxTile];
  for (int64_t at = begin; at < end; at += kPhiloxTile) {
    const int64_t count = std::min(kPhiloxTile, end - at);
    philox_blocks(words, sample, at, count, kBlocks);
    for (int64_t k = 0; k < count; k++) {
      ElementWords<kBlocks> rng(words + k, sample, at + k);
      out[at + k] = draws(rng);
    }
  }
}

/// The row of a per-sample input that may be shared by all samples.
int64_t row_of(const Samples& samples, int64_t i) { return samples.size() == 1 ? 0 : i; }

template <class T>
int64_t read_count(const Samples& from, int64_t i) {
  return static_cast<int64_t>(*from.data<T>(i));
}

int64_t entry_count(const Samples& from, int64_t i) {
  if (from.ndim() > 0) return from.shape(i)[0];
  int64_t count = 0;
  dispatch(IntegerTypes{}, from.dtype(),
           [&](auto tag) { count = read_count<typename decltype(tag)::type>(from, i); });
  return count;
}

/// Chooses entries of each sample's array.
class Choosers {
 public:
  Choosers(const Samples& from, const Samples* weights, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
      last_.push_back(static_cast<uint64_t>(entry_count(from, row_of(from, i))) - 1);
    }
    for (int64_t row = 0; weights && row < weights->size(); row++) {
      weighted_.emplace_back(weights->data<float>(row), static_cast<size_t>(weights->volume(row)));
    }
  }

  bool weighted() const { return !weighted_.empty(); }
  uint64_t last(int64_t sample) const { return last_[static_cast<size_t>(sample)]; }

  template <class Engine>
  int64_t choose(int64_t sample, Engine& engine) const {
    const auto i = static_cast<size_t>(sample);
    if (weighted_.empty()) return static_cast<int64_t>(uniform_up_to(engine, last_[i]));
    return weighted_[weighted_.size() == 1 ? 0 : i](engine);
  }

 private:
  std::vector<uint64_t> last_;
  std::vector<Discrete> weighted_;
};

/// Replays the first words of an element; if a distribution wants more, draws them.
class PreparedWords {
 public:
  using result_type = uint32_t;
  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return 0xFFFFFFFFu; }

  PreparedWords(const uint32_t* words, int count, const PhiloxState& sample, int64_t element)
      : words_(words), count_(count), sample_(sample), element_(element) {}

  uint32_t operator()() {
    if (used_ < count_) return words_[used_++ * kPhiloxTile];
    PhiloxState state = element_state(sample_, element_);
    state.skip(static_cast<uint64_t>(used_++));
    return Philox(state)();
  }

 private:
  const uint32_t* words_;
  int count_, used_ = 0;
  const PhiloxState& sample_;
  int64_t element_;
};

/// Up to this many, a tile hardly ever holds a word that uniform_up_to() may reject.
constexpr uint64_t kFewChoices = 1 << 16;

/// The choices of a tile of elements, given their first words.
void choose_indices(int64_t* out, const uint32_t* words, int64_t count, const Choosers& choosers,
                    int64_t sample_index, const PhiloxState& sample, int64_t first) {
  if (!choosers.weighted() && choosers.last(sample_index) < kFewChoices) {
    const auto choices = static_cast<uint32_t>(choosers.last(sample_index) + 1);
    if (DALIESQUE_CHOOSE_512(scale_words(out, words, count, choices))) return;
  }
  const int draws = choosers.weighted() ? 2 : 1;
  for (int64_t k = 0; k < count; k++) {
    PreparedWords engine(words + k, draws, sample, first + k);
    out[k] = choosers.choose(sample_index, engine);
  }
}

/// `Word` is an integer of the size of one entry.
template <class Word>
void choose_scalars(Samples& out, const PhiloxState& state, const Samples& from,
                    const Choosers& choosers) {
  const int draws = choosers.weighted() ? 2 : 1;
  for_each_tile(out, state, draws, 8.0,
                [&](int64_t i, int64_t at, const uint32_t* words, int64_t count) {
                  int64_t indices[kPhiloxTile];
                  choose_indices(indices, words, count, choosers, i, sample_state(state, i), at);
                  Word* target = out.data<Word>(i) + at;
                  if (from.ndim() == 0) {
                    for (int64_t k = 0; k < count; k++) target[k] = static_cast<Word>(indices[k]);
                  } else {
                    const Word* entries = from.data<Word>(row_of(from, i));
                    for (int64_t k = 0; k < count; k++) target[k] = entries[indices[k]];
                  }
                });
}

/// Entries of more dimensions are drawn one after the other, without the gaps between elements.
void choose_arrays(Samples& out, const PhiloxState& state, const Samples& from,
                   const Choosers& choosers) {
  parallel_for(
      out.size(), [&](int64_t i) { return 20.0 + 0.5 * static_cast<double>(out.volume(i)); },
      [&](int64_t i) {
        const int64_t row = row_of(from, i), volume = out.volume(i);
        if (volume == 0) return;
        const int64_t entry = from.volume(row) / from.shape(row)[0];
        const size_t bytes = static_cast<size_t>(entry) * from.itemsize();
        const char* entries = from.data<char>(row);
        char* target = out.data<char>(i);
        Philox rng(sample_state(state, i));
        for (int64_t k = 0; k < volume / entry; k++, target += bytes) {
          std::memcpy(target, entries + static_cast<size_t>(choosers.choose(i, rng)) * bytes,
                      bytes);
        }
      });
}

}  // namespace

void uniform(Samples& out, const PhiloxState& state, const PerSample<float>& range) {
  dispatch(UniformTypes{}, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int draws = sizeof(DrawType<T>) / 4;
    for_each_tile(out, state, draws, 3.0 * draws,
                  [&](int64_t i, int64_t at, const uint32_t* words, int64_t count) {
                    const auto limits = uniform_range<T>(range.row(i));
                    DALIESQUE_CHOOSE_512(uniform(out.data<T>(i) + at, words, count, limits));
                  });
  });
}

void uniform_values(Samples& out, const PhiloxState& state, const Samples& values) {
  dispatch(UniformTypes{}, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_tile(out, state, 1, 4.0,
                  [&](int64_t i, int64_t at, const uint32_t* words, int64_t count) {
                    const int64_t row = values.size() == 1 ? 0 : i;
                    const float* choices = values.data<float>(row);
                    const auto size = static_cast<uint64_t>(values.volume(row));
                    T* target = out.data<T>(i) + at;
                    for (int64_t k = 0; k < count; k++) {
                      target[k] = saturate<T>(choices[words[k] * size >> 32]);
                    }
                  });
  });
}

void normal(Samples& out, const PhiloxState& state, const PerSample<float>& mean,
            const PerSample<float>& stddev) {
  dispatch(UniformTypes{}, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int draws = 2 * sizeof(DrawType<T>) / 4;
    for_each_tile(out, state, draws, draws == 2 ? 5.0 : 12.0,
                  [&](int64_t i, int64_t at, const uint32_t* words, int64_t count) {
                    const DrawType<T> center = mean[i], width = stddev[i];
                    DALIESQUE_CHOOSE_512(normal(out.data<T>(i) + at, words, count, center, width));
                  });
  });
}

void coin_flip(Samples& out, const PhiloxState& state, const PerSample<float>& probability) {
  dispatch(CoinTypes{}, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_tile(out, state, 1, 3.0,
                  [&](int64_t i, int64_t at, const uint32_t* words, int64_t count) {
                    const uint32_t threshold = coin_threshold(probability[i]);
                    DALIESQUE_CHOOSE_512(at_most(out.data<T>(i) + at, words, count, threshold));
                  });
  });
}

void beta(Samples& out, const PhiloxState& state, const PerSample<float>& alpha,
          const PerSample<float>& beta) {
  struct Chunk {
    int64_t sample, begin, end;
  };
  std::vector<Chunk> chunks;
  for (int64_t i = 0; i < out.size(); i++) {
    const int64_t volume = out.volume(i), count = beta_chunks(volume);
    for (int64_t c = 0; c < count; c++) {
      chunks.push_back({i, volume * c / count, volume * (c + 1) / count});
    }
  }
  dispatch(RealTypes{}, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto chunk = [&](int64_t c) -> const Chunk& { return chunks[static_cast<size_t>(c)]; };
    parallel_for(
        static_cast<int64_t>(chunks.size()),
        [&](int64_t c) { return 100.0 * static_cast<double>(chunk(c).end - chunk(c).begin); },
        [&](int64_t c) {
          const auto [i, begin, end] = chunk(c);
          fill_beta(out.data<T>(i), begin, end, sample_state(state, i),
                    BetaDraws<T>(alpha[i], beta[i]));
        });
  });
}

void choice(Samples& out, const PhiloxState& state, const Samples& from, const Samples* weights) {
  const Choosers choosers(from, weights, out.size());
  if (from.ndim() > 1) return choose_arrays(out, state, from, choosers);
  switch (from.itemsize()) {
    case 1:
      return choose_scalars<uint8_t>(out, state, from, choosers);
    case 2:
      return choose_scalars<uint16_t>(out, state, from, choosers);
    case 4:
      return choose_scalars<uint32_t>(out, state, from, choosers);
    default:
      return choose_scalars<uint64_t>(out, state, from, choosers);
  }
}

}  // namespace daliesque::random
