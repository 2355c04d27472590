// SPDX-License-Identifier: Apache-2.0
// Runs the kernels that move and normalise on many shapes, in memory of exactly the right size: the
// portable and the vector code must agree with plain loops. Meant to be run under sanitizers.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <vector>

#include "core/cpu.h"
#include "image/crop_mirror_normalize.h"
#include "image/flip.h"
#include "tensor/normalize.h"
#include "tensor/slice.h"
#include "tensor/transpose.h"

namespace {

using namespace daliesque;
using Extents = std::vector<int64_t>;

long checks = 0, failures = 0;

void check(bool good, const char* what, const Extents& shape) {
  checks++;
  if (good || failures++ >= 20) return;
  std::printf("%s of", what);
  for (const int64_t extent : shape) std::printf(" %ld", static_cast<long>(extent));
  std::printf("\n");
}

/// A sample whose memory ends where its last element does.
Samples exact_sample(DType type, const Extents& shape) {
  const size_t bytes = static_cast<size_t>(volume(shape)) * dtype_size(type);
  auto* memory = new uint8_t[bytes + (bytes == 0)];
  Buffer owner(memory, [](void* data) { delete[] static_cast<uint8_t*>(data); });
  return Samples::wrap(type, shape, {}, memory, owner, false, false);
}

Samples random_sample(std::mt19937_64& rng, DType type, const Extents& shape) {
  Samples out = exact_sample(type, shape);
  const int64_t bytes = out.volume(0) * static_cast<int64_t>(out.itemsize());
  for (int64_t k = 0; k < bytes; k++) out.data<uint8_t>(0)[k] = static_cast<uint8_t>(rng());
  return out;
}

/// The index of an element as places along the axes, and back.
Extents places(int64_t index, const Extents& shape) {
  Extents out(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    out[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return out;
}
int64_t index_of(const Extents& at, const Extents& shape) {
  int64_t index = 0;
  for (size_t axis = 0; axis < shape.size(); axis++) index = index * shape[axis] + at[axis];
  return index;
}

bool same_element(const Samples& a, int64_t i, const Samples& b, int64_t j) {
  const size_t size = a.itemsize();
  return std::memcmp(a.data<uint8_t>(0) + static_cast<size_t>(i) * size,
                     b.data<uint8_t>(0) + static_cast<size_t>(j) * size, size) == 0;
}

void test_transpose(std::mt19937_64& rng, DType type, const Extents& shape) {
  std::vector<int> order(shape.size());
  for (size_t k = 0; k < order.size(); k++) order[k] = static_cast<int>(k);
  std::shuffle(order.begin(), order.end(), rng);
  Extents out_shape;
  for (const int axis : order) out_shape.push_back(shape[static_cast<size_t>(axis)]);
  const Samples in = random_sample(rng, type, shape);
  Samples out = exact_sample(type, out_shape);
  transpose(out, in, order);
  bool good = true;
  for (int64_t k = 0; good && k < out.volume(0); k++) {
    const Extents at = places(k, out_shape);
    Extents from(shape.size());
    for (size_t axis = 0; axis < order.size(); axis++) {
      from[static_cast<size_t>(order[axis])] = at[axis];
    }
    good = same_element(out, k, in, index_of(from, shape));
  }
  check(good, "transpose", shape);
}

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
    Extents at = places(k, shape);
    for (size_t axis = 0; axis < shape.size(); axis++) {
      if (flags[axis]) at[axis] = shape[axis] - 1 - at[axis];
    }
    good = same_element(out, k, in, index_of(at, shape));
  }
  check(good, "flip", shape);
}

void test_slice(std::mt19937_64& rng, DType type, const Extents& shape) {
  const Samples in = random_sample(rng, type, shape);
  Extents anchor, window;
  for (const int64_t extent : shape) {
    const bool whole = rng() % 2;
    anchor.push_back(whole ? 0 : static_cast<int64_t>(rng() % 9) - 4);
    window.push_back(whole ? extent : static_cast<int64_t>(rng() % 12));
  }
  const size_t channel = rng() % shape.size();
  const bool per_channel = rng() % 2 && window[channel] > 0;
  std::vector<float> fill(static_cast<size_t>(per_channel ? window[channel] : 1));
  for (float& value : fill) value = static_cast<float>(rng() % 100);
  Samples out = exact_sample(type, window);
  slice(out, in, PerSample<int64_t>(anchor.data(), 1, static_cast<int64_t>(anchor.size())),
        Border::constant, PerSample<float>(fill.data(), 1, static_cast<int64_t>(fill.size())),
        static_cast<int>(channel));
  bool good = true;
  Samples filled = exact_sample(type, {1});
  for (int64_t k = 0; good && k < out.volume(0); k++) {
    Extents at = places(k, window);
    store_fill(filled.data(0), type, fill[per_channel ? static_cast<size_t>(at[channel]) : 0]);
    bool inside = true;
    for (size_t axis = 0; axis < shape.size(); axis++) {
      at[axis] += anchor[axis];
      inside &= at[axis] >= 0 && at[axis] < shape[axis];
    }
    good = inside ? same_element(out, k, in, index_of(at, shape)) : same_element(out, k, filled, 0);
  }
  check(good, "slice", shape);
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
    const Extents at = places(k, {channels, height, width});
    const int64_t x = mirror ? width - 1 - at[2] : at[2];
    const uint8_t value = in.data<uint8_t>(0)[index_of({at[1], x, at[0]}, shape)];
    good = out.data<float>(0)[k] == (static_cast<float>(value) - mean) * (1 / deviation);
  }
  check(good, "crop_mirror_normalize", shape);
}

/// The entry for fused paths: rows of an image with space between them.
void test_normalize_to_planes(std::mt19937_64& rng, const Extents& shape) {
  const int64_t height = shape[0], width = shape[1], channels = shape[2],
                row = width * channels + 5;
  const Samples in = random_sample(rng, DType::uint8, {height, row});
  Samples out = exact_sample(DType::float32, {channels, height, width});
  const std::vector<float> mean(static_cast<size_t>(channels), 3.0f);
  const std::vector<float> scale(static_cast<size_t>(channels), 0.5f);
  const bool mirror = rng() % 2;
  constexpr int64_t kFloat = sizeof(float);
  normalize_to_planes(
      out.data(0), DType::float32, in.data(0), DType::uint8,
      {height, width, channels, row, width * kFloat, height * width * kFloat, mirror}, mean.data(),
      scale.data());
  bool good = true;
  for (int64_t k = 0; good && k < out.volume(0); k++) {
    const Extents at = places(k, {channels, height, width});
    const int64_t x = mirror ? width - 1 - at[2] : at[2];
    const uint8_t value = in.data<uint8_t>(0)[at[1] * row + x * channels + at[0]];
    good = out.data<float>(0)[k] == (static_cast<float>(value) - 3.0f) * 0.5f;
  }
  check(good, "normalize_to_planes", shape);
}

void test_normalize(std::mt19937_64& rng, const Extents& shape) {
  const Samples in = random_sample(rng, DType::uint8, shape);
  Samples out = exact_sample(DType::float32, shape), again = exact_sample(DType::float32, shape);
  std::vector<bool> reduced;
  for (size_t k = 0; k < shape.size(); k++) reduced.push_back(rng() % 2);
  const NormalizeArgs args{{reduced, false}, nullptr, nullptr, 0, 1.0f, 1.0f, 0.0f};
  normalize(out, in, args);
  set_simd_enabled(false);
  normalize(again, in, args);
  set_simd_enabled(true);
  const auto bytes = static_cast<size_t>(out.volume(0)) * sizeof(float);
  check(std::memcmp(out.data(0), again.data(0), bytes) == 0, "normalize", shape);
}

}  // namespace

int main() {
  std::mt19937_64 rng(1);
  constexpr DType kTypes[] = {DType::uint8, DType::int16, DType::float32, DType::float64};
  constexpr int64_t kExtents[] = {0, 1, 2, 3, 4, 5, 7, 15, 16, 17, 33, 70};
  for (int round = 0; round < 3000; round++) {
    set_simd_enabled(round % 4 != 0);
    Extents shape(1 + rng() % 4);
    for (int64_t& extent : shape) extent = kExtents[rng() % std::size(kExtents)];
    if (volume(shape) > 100000) continue;
    const DType type = kTypes[rng() % std::size(kTypes)];
    test_transpose(rng, type, shape);
    test_flip(rng, type, shape);
    test_slice(rng, type, shape);
    test_normalize(rng, shape);
    const Extents image = {static_cast<int64_t>(rng() % 4), static_cast<int64_t>(rng() % 70),
                           static_cast<int64_t>(1 + rng() % 4)};
    test_crop_mirror_normalize(rng, image);
    test_normalize_to_planes(rng, image);
  }
  std::printf("%ld checks, %ld failures\n", checks, failures);
  return failures != 0;
}
