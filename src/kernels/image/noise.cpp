// SPDX-License-Identifier: Apache-2.0
#include "image/noise.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/errors.h"
#include "core/parallel.h"
#include "core/saturate.h"
#include "core/simd.h"
#include "image/noise_loops.h"
#include "random/element_words.h"
#include "random/std_random.h"
#include "tensor/slice.h"

namespace daliesque::image {

namespace {

using NoiseTypes =
    Types<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t, float>;

/// Calls body(i, begin, count) for tiles of `extent(i)` elements of each sample.
template <class Extent, class Body>
void for_each_tile(int64_t samples, double element_cost, Extent&& extent, Body&& body) {
  parallel_slices(
      samples, extent, [&](int64_t) { return element_cost; },
      [&](int64_t i, int64_t begin, int64_t end) {
        for (int64_t at = begin; at < end; at += random::kPhiloxTile) {
          body(i, at, std::min(random::kPhiloxTile, end - at));
        }
      });
}

}  // namespace

void gaussian_noise(Samples& out, const Samples& in, const random::PhiloxState& state,
                    const PerSample<float>& mean, const PerSample<float>& stddev) {
  dispatch(NoiseTypes{}, in.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int draws = 2 * sizeof(random::DrawType<T>) / 4;
    for_each_tile(
        in.size(), 8.0 * draws, [&](int64_t i) { return in.volume(i); },
        [&](int64_t i, int64_t at, int64_t count) {
          alignas(64) uint32_t words[4 * random::kPhiloxTile];
          random::philox_words(words, random::sample_state(state, i), at, count, draws);
          const random::DrawType<T> center = mean[i], width = stddev[i];
          DALIESQUE_CHOOSE_512(add_normal(out.data<T>(i) + at, in.data<const T>(i) + at, words,
                                          count, center, width));
        });
  });
}

namespace {

/// The number of words w for which float(w) * 2^-32 < probability; they are the lowest.
uint32_t words_below(float probability) {
  uint64_t low = 0, high = uint64_t{1} << 32;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (static_cast<float>(static_cast<uint32_t>(middle)) * 0x1p-32f < probability) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return static_cast<uint32_t>(low);
}

/// How noise is put on a sample: pixels of `channels` elements that lie `channel_step` apart, and
/// begin `pixel_step` apart.
struct GrainSteps {
  int64_t pixels, channels, pixel_step, channel_step;

  GrainSteps(Shape shape, int channel_axis) {
    pixels = volume(shape);
    channels = 1;
    if (channel_axis >= 0) channels = shape[static_cast<size_t>(channel_axis)];
    pixels = channels ? pixels / channels : 0;
    const bool last = channel_axis == static_cast<int>(shape.size()) - 1;
    pixel_step = last ? channels : 1;
    channel_step = last ? 1 : pixels;
  }
};

template <class T>
struct Grains {
  T values[2];  // pepper, salt
};

template <class T>
Grains<T> grains_of(const SaltAndPepper& arguments, int64_t i) {
  using Limits = std::numeric_limits<T>;
  Grains<T> grains{{Limits::min(), Limits::max()}};
  if constexpr (!std::is_integral_v<T>) grains = {{T(-1), T(1)}};
  if (arguments.pepper) tensor::store_fill(&grains.values[0], dtype_of<T>, (*arguments.pepper)[i]);
  if (arguments.salt) tensor::store_fill(&grains.values[1], dtype_of<T>, (*arguments.salt)[i]);
  return grains;
}

template <class T>
void put_grains(T* out, const T* in, const uint8_t* kinds, int64_t at, int64_t count,
                const GrainSteps& steps, const Grains<T>& grains) {
  if (steps.channels == 1) {
    for (int64_t k = 0; k < count; k++) {
      out[at + k] = kinds[k] ? grains.values[kinds[k] - 1] : in[at + k];
    }
    return;
  }
  // Grains are few: most pixels are only copied.
  const bool together = steps.channel_step == 1;
  const int64_t runs = together ? 1 : steps.channels, length = together ? steps.channels : 1;
  for (int64_t c = 0; c < runs; c++) {
    const int64_t first = c * steps.channel_step + at * steps.pixel_step;
    std::memcpy(out + first, in + first, static_cast<size_t>(count * length) * sizeof(T));
    for (int64_t k = 0; k < count; k++) {
      if (kinds[k]) std::fill_n(out + first + k * length, length, grains.values[kinds[k] - 1]);
    }
  }
}

}  // namespace

void salt_and_pepper_noise(Samples& out, const Samples& in, const random::PhiloxState& state,
                           const SaltAndPepper& arguments) {
  struct Limits {
    uint32_t noise, salt;
  };
  std::vector<Limits> limits;
  std::vector<GrainSteps> steps;
  for (int64_t i = 0; i < in.size(); i++) {
    const float probability = arguments.probability[i];
    limits.push_back(
        {words_below(probability), words_below(probability * arguments.salt_vs_pepper[i])});
    steps.emplace_back(in.shape(i), arguments.channel_axis);
  }
  dispatch(NoiseTypes{}, in.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_tile(
        in.size(), 5.0, [&](int64_t i) { return steps[static_cast<size_t>(i)].pixels; },
        [&](int64_t i, int64_t at, int64_t count) {
          alignas(64) uint32_t words[4 * random::kPhiloxTile];
          alignas(64) uint8_t kinds[random::kPhiloxTile];
          random::philox_words(words, random::sample_state(state, i), at, count, 1);
          const auto [noise, salt] = limits[static_cast<size_t>(i)];
          DALIESQUE_CHOOSE_512(count_below(kinds, words, count, noise, salt));
          put_grains(out.data<T>(i), in.data<const T>(i), kinds, at, count,
                     steps[static_cast<size_t>(i)], grains_of<T>(arguments, i));
        });
  });
}

namespace {

constexpr int kPreparedBlocks = 5;

/// Distributions for the values of an image, kept where there are few different ones.
template <class T>
class PoissonTable {
 public:
  explicit PoissonTable(float factor) : inverse_(1.0f / factor) {
    if constexpr (sizeof(T) == 1) {
      for (int value = kLowest; value <= std::numeric_limits<T>::max(); value++) {
        table_.push_back(make(static_cast<T>(value)));
      }
    }
  }

  random::Poisson operator()(T value) const {
    if (!(mean(value) < kTooLarge)) {
      throw UsageError("the input divided by 'factor' must be below 2147483648.");
    }
    if constexpr (sizeof(T) == 1) {
      return table_[static_cast<size_t>(value - kLowest)];
    } else {
      return make(value);
    }
  }

 private:
  static constexpr float kTooLarge = 0x1p31f;

  float mean(T value) const {
    // The comparison lets NaN become 0.
    const float scaled = static_cast<float>(value) * inverse_;
    return scaled > 0 ? scaled : 0.0f;
  }

  random::Poisson make(T value) const {
    return random::Poisson(std::min(mean(value), kTooLarge / 2));
  }

  static constexpr int kLowest = std::numeric_limits<T>::min();
  float inverse_;
  std::vector<random::Poisson> table_;
};

}  // namespace

void shot_noise(Samples& out, const Samples& in, const random::PhiloxState& state,
                const PerSample<float>& factor) {
  dispatch(NoiseTypes{}, in.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_slices(
        in.size(), [&](int64_t i) { return in.volume(i); }, [&](int64_t) { return 80.0; },
        [&](int64_t i, int64_t begin, int64_t end) {
          if (factor[i] == 0) {
            std::fill(out.data<T>(i) + begin, out.data<T>(i) + end, T{0});
            return;
          }
          const PoissonTable<T> distributions(factor[i]);
          const random::PhiloxState sample = random::sample_state(state, i);
          alignas(64) uint32_t words[4 * kPreparedBlocks * random::kPhiloxTile];
          for (int64_t at = begin; at < end; at += random::kPhiloxTile) {
            const int64_t count = std::min(random::kPhiloxTile, end - at);
            random::philox_blocks(words, sample, at, count, kPreparedBlocks);
            for (int64_t k = 0; k < count; k++) {
              random::ElementWords<kPreparedBlocks> engine(words + k, sample, at + k);
              random::Poisson draw = distributions(in.data<const T>(i)[at + k]);
              const auto events = static_cast<float>(draw(engine));
              out.data<T>(i)[at + k] = saturate<T>(events * factor[i]);
            }
          }
        });
  });
}

}  // namespace daliesque::image
