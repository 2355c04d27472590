// SPDX-License-Identifier: Apache-2.0
// Runs the kernels that mirror, normalize, filter and warp images on many shapes, in memory of
// exactly the right size: the portable and the vector code must agree with plain loops. Meant to be
// run under sanitizers.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <vector>

#include "arrays.h"
#include "check.h"
#include "core/simd.h"
#include "image/crop_mirror_normalize.h"
#include "image/flip.h"
#include "image/rank_filters.h"
#include "image/warp.h"

using namespace daliesque;
using namespace daliesque::image;
using testing::check;
using testing::coordinates;
using testing::exact_sample;
using testing::Extents;
using testing::index_of;
using testing::passed;
using testing::random_sample;
using testing::same_element;
using testing::text_of_shape;

namespace {

void test_flip(std::mt19937_64& rng, DType type, const Extents& shape) {
  const Samples in = random_sample(rng, type, shape);
  Samples out = exact_sample(type, shape);
  std::vector<int32_t> flags;
  for (size_t k = 0; k < shape.size(); k++) flags.push_back(static_cast<int32_t>(rng() % 2));
  std::vector<FlipAxis> axes;
  for (size_t k = 0; k < shape.size(); k++) {
    axes.push_back({static_cast<int>(k), PerSample<int32_t>(&flags[k], 1, 1)});
  }
  flip(out, in, axes);
  bool good = true;
  for (int64_t k = 0; good && k < out.volume(0); k++) {
    Extents at = coordinates(k, shape);
    for (size_t axis = 0; axis < shape.size(); axis++) {
      if (flags[axis]) at[axis] = shape[axis] - 1 - at[axis];
    }
    good = same_element(out, k, in, index_of(at, shape));
  }
  check(good, "flip", text_of_shape(shape));
}

/// Pixels of bytes to planes of floats, which have loops of their own.
void test_crop_mirror_normalize(std::mt19937_64& rng, const Extents& shape) {
  const Samples in = random_sample(rng, DType::uint8, shape);
  const int64_t height = shape[0], width = shape[1], channels = shape[2];
  Samples out = exact_sample(DType::float32, {channels, height, width});
  const int64_t anchor[3] = {};
  const int32_t mirror = static_cast<int32_t>(rng() % 2);
  const float mean = 100, deviation = 4, zero = 0;
  crop_mirror_normalize(out, in,
                        {PerSample<int64_t>(anchor, 1, 3),
                         {2, 0, 1},
                         PerSample<int32_t>(&mirror, 1, 1),
                         PerSample<float>(&mean, 1, 1),
                         PerSample<float>(&deviation, 1, 1),
                         1.0f,
                         0.0f,
                         PerSample<float>(&zero, 1, 1),
                         1,
                         2});
  bool good = true;
  for (int64_t k = 0; good && k < out.volume(0); k++) {
    const Extents at = coordinates(k, {channels, height, width});
    const int64_t x = mirror ? width - 1 - at[2] : at[2];
    const uint8_t value = in.data<uint8_t>(0)[index_of({at[1], x, at[0]}, shape)];
    good = out.data<float>(0)[k] == (static_cast<float>(value) - mean) * (1 / deviation);
  }
  check(good, "crop_mirror_normalize", text_of_shape(shape));
}

/// The largest, smallest or middle value under a window of any size, the border clamped or left
/// out.
template <class T>
void test_rank_filter(std::mt19937_64& rng, DType type, const Extents& shape) {
  const Samples in = random_sample(rng, type, shape);
  Samples out = exact_sample(type, shape);
  const Rank rank = static_cast<Rank>(rng() % 3);
  // Tall windows are found in another way.
  const int widest = rank == Rank::median ? 4 : 20, tallest = rng() % 8 == 0 ? 3 * widest : widest;
  const int32_t window[] = {static_cast<int32_t>(1 + rng() % widest),
                            static_cast<int32_t>(1 + rng() % tallest)};
  const int32_t anchor[] = {static_cast<int32_t>(rng() % window[0]),
                            static_cast<int32_t>(rng() % window[1])};
  const bool clamp = rank == Rank::median || rng() % 2;
  rank_filter(out, in, {0, 2, true},
              {rank, PerSample<int32_t>(window, 1, 2), PerSample<int32_t>(anchor, 1, 2),
               clamp ? Border::clamp : Border::constant});
  bool good = true;
  std::vector<T> values;
  for (int64_t k = 0; good && k < out.volume(0); k++) {
    const Extents at = coordinates(k, shape);
    values.clear();
    for (int64_t j = 0; j < window[0] * window[1]; j++) {
      const int64_t y = at[0] + j / window[0] - anchor[1], x = at[1] + j % window[0] - anchor[0];
      const Extents from = {std::clamp<int64_t>(y, 0, shape[0] - 1),
                            std::clamp<int64_t>(x, 0, shape[1] - 1), at[2]};
      if (!clamp && (from[0] != y || from[1] != x)) continue;
      values.push_back(in.data<T>(0)[index_of(from, shape)]);
    }
    auto expected = values.begin() + static_cast<int64_t>(values.size() / 2);
    if (rank == Rank::median) {
      std::nth_element(values.begin(), expected, values.end());
    } else if (rank == Rank::smallest) {
      expected = std::min_element(values.begin(), values.end());
    } else {
      expected = std::max_element(values.begin(), values.end());
    }
    good = out.data<T>(0)[k] == *expected;
  }
  check(good, "rank_filter", text_of_shape(shape));
}

/// Pixels of some sizes are moved with what follows them: not behind the image.
void test_nearest(std::mt19937_64& rng, DType type, const Extents& shape) {
  const Samples in = random_sample(rng, type, shape);
  const Extents size = {shape[0] + 3, shape[1] + 70, shape[2]};
  Samples out = exact_sample(type, size);
  // Sums of these are exact.
  const float matrix[] = {0.5f, 0.25f, -2, -0.25f, 1, static_cast<float>(rng() % 3)};
  warp(out, in, AffineMapping(PerSample<float>(matrix, 1, 6), 2),
       {WarpInterp::nearest, Border::clamp, {}});
  bool good = true;
  for (int64_t k = 0; good && k < out.volume(0); k++) {
    const Extents at = coordinates(k, size);
    const float x = static_cast<float>(at[1]) + 0.5f, y = static_cast<float>(at[0]) + 0.5f;
    const auto column = static_cast<int64_t>(std::floor(matrix[0] * x + matrix[1] * y + matrix[2]));
    const auto row = static_cast<int64_t>(std::floor(matrix[3] * x + matrix[4] * y + matrix[5]));
    const Extents from = {std::clamp<int64_t>(row, 0, shape[0] - 1),
                          std::clamp<int64_t>(column, 0, shape[1] - 1), at[2]};
    good = same_element(out, k, in, index_of(from, shape));
  }
  check(good, "nearest", text_of_shape(shape));
}

}  // namespace

int main() {
  std::mt19937_64 rng(1);
  constexpr DType kElements[] = {DType::uint8, DType::int16, DType::float32, DType::float64};
  constexpr int64_t kExtents[] = {0, 1, 2, 3, 4, 5, 7, 15, 16, 17, 33, 70};
  for (int round = 0; round < 3000; round++) {
    set_simd_enabled(round % 4 != 0, round % 4 != 1);
    Extents shape(1 + rng() % 4);
    for (int64_t& extent : shape) extent = kExtents[rng() % std::size(kExtents)];
    if (volume(shape) > 100000) continue;
    const DType type = kElements[rng() % std::size(kElements)];
    test_flip(rng, type, shape);
    test_crop_mirror_normalize(rng,
                               {static_cast<int64_t>(rng() % 4), static_cast<int64_t>(rng() % 70),
                                static_cast<int64_t>(1 + rng() % 4)});
    if (round % 10 >= 4) continue;
    const Extents filtered = {static_cast<int64_t>(rng() % 20), static_cast<int64_t>(rng() % 50),
                              static_cast<int64_t>(1 + rng() % 4)};
    test_rank_filter<uint8_t>(rng, DType::uint8, filtered);
    test_rank_filter<int16_t>(rng, DType::int16, filtered);
    if (volume(filtered) > 0) test_nearest(rng, type, filtered);
  }
  set_simd_enabled(true);
  return passed("image_test");
}
