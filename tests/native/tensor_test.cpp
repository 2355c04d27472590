// SPDX-License-Identifier: Apache-2.0
// Runs arithmetic and conversions on every pair of types, and the kernels that move and normalize
// on many shapes, in memory of exactly the right size: the portable and the vector code must agree
// with each other or with plain loops. Meant to be run under sanitizers.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <stdexcept>
#include <vector>

#include "arrays.h"
#include "check.h"
#include "core/convert.h"
#include "core/errors.h"
#include "core/simd.h"
#include "tensor/arithmetic.h"
#include "tensor/normalize.h"
#include "tensor/slice.h"
#include "tensor/transpose.h"

using namespace daliesque;
using namespace daliesque::tensor;
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

constexpr DType kTypes[] = {DType::uint8,   DType::uint16,   DType::uint32,  DType::uint64,
                            DType::int8,    DType::int16,    DType::int32,   DType::int64,
                            DType::float16, DType::bfloat16, DType::float32, DType::float64,
                            DType::boolean};

/// Samples of random bits: numbers of all magnitudes, infinities and NaN among them.
Samples random_samples(std::mt19937_64& rng, DType type, const std::vector<int64_t>& shape,
                       int64_t count) {
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < count; i++) shapes.insert(shapes.end(), shape.begin(), shape.end());
  Samples out = Samples::empty(type, static_cast<int>(shape.size()), shapes, "", count);
  for (int64_t i = 0; i < count; i++) {
    auto* bytes = out.data<uint8_t>(i);
    const size_t size = static_cast<size_t>(out.volume(i)) * out.itemsize();
    for (size_t k = 0; k < size; k++) {
      bytes[k] = static_cast<uint8_t>(type == DType::boolean ? rng() & 1 : rng());
    }
  }
  return out;
}

template <class T>
bool same_values(const Samples& a, const Samples& b, int64_t i) {
  for (int64_t k = 0; k < a.volume(i); k++) {
    const T x = a.data<const T>(i)[k], y = b.data<const T>(i)[k];
    if (std::memcmp(&x, &y, sizeof x) != 0 && (x == x || y == y)) return false;
  }
  return true;
}

/// Bitwise equal, but for the bits of NaN.
bool same(const Samples& a, const Samples& b) {
  bool equal = a.dtype() == b.dtype() && a.size() == b.size();
  for (int64_t i = 0; equal && i < a.size(); i++) {
    dispatch(AllTypes{}, a.dtype(),
             [&](auto tag) { equal &= same_values<typename decltype(tag)::type>(a, b, i); });
  }
  return equal;
}

/// The result, or an empty Samples if the types or a division by zero are refused.
Samples try_arithmetic(ArithmeticOp op, std::span<const Samples* const> operands, bool simd,
                       bool avx512 = true) {
  set_simd_enabled(simd, avx512);
  try {
    return arithmetic(op, operands);
  } catch (const UsageError&) {
    return {};
  } catch (const std::invalid_argument&) {  // the number of operands
    return {};
  }
}

void compare_paths(ArithmeticOp op, std::span<const Samples* const> operands) {
  const Samples fast = try_arithmetic(op, operands, true);
  const Samples narrow = try_arithmetic(op, operands, true, false);
  const Samples plain = try_arithmetic(op, operands, false);
  check(same(fast, plain) && same(narrow, plain), "operation on", dtype_name(operands[0]->dtype()),
        dtype_name(operands.back()->dtype()));
}

void test_operations(std::mt19937_64& rng, const std::vector<std::vector<int64_t>>& shapes) {
  constexpr int last = static_cast<int>(ArithmeticOp::clamp);
  for (DType a : kTypes) {
    for (DType b : kTypes) {
      const Samples left = random_samples(rng, a, shapes[0], 2);
      const Samples right = random_samples(rng, b, shapes[1], 2);
      const Samples third = random_samples(rng, b, shapes[2], 1);
      const Samples* operands[] = {&left, &right, &third};
      for (int op = 0; op <= last; op++) {
        const auto name = static_cast<ArithmeticOp>(op);
        // Operations of another arity are refused, which is fine.
        for (size_t arity = 1; arity <= 3; arity++) compare_paths(name, {operands, arity});
      }
    }
  }
}

void test_conversions(std::mt19937_64& rng) {
  for (DType from : kTypes) {
    const Samples in = random_samples(rng, from, {1031}, 1);
    for (DType to : kTypes) {
      Samples fast = Samples::empty_like(in, to), plain = Samples::empty_like(in, to);
      set_simd_enabled(true);
      cast(fast, in);
      set_simd_enabled(false);
      cast(plain, in);
      check(same(fast, plain), "conversion", dtype_name(from), dtype_name(to));
    }
  }
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
    const Extents at = coordinates(k, out_shape);
    Extents from(shape.size());
    for (size_t axis = 0; axis < order.size(); axis++) {
      from[static_cast<size_t>(order[axis])] = at[axis];
    }
    good = same_element(out, k, in, index_of(from, shape));
  }
  check(good, "transpose", text_of_shape(shape));
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
    Extents at = coordinates(k, window);
    store_fill(filled.data(0), type, fill[per_channel ? static_cast<size_t>(at[channel]) : 0]);
    bool inside = true;
    for (size_t axis = 0; axis < shape.size(); axis++) {
      at[axis] += anchor[axis];
      inside &= at[axis] >= 0 && at[axis] < shape[axis];
    }
    good = inside ? same_element(out, k, in, index_of(at, shape)) : same_element(out, k, filled, 0);
  }
  check(good, "slice", text_of_shape(shape));
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
  check(std::memcmp(out.data(0), again.data(0), bytes) == 0, "normalize", text_of_shape(shape));
}

void test_shapes() {
  std::mt19937_64 rng(1);
  constexpr DType kElements[] = {DType::uint8, DType::int16, DType::float32, DType::float64};
  constexpr int64_t kExtents[] = {0, 1, 2, 3, 4, 5, 7, 15, 16, 17, 33, 70};
  for (int round = 0; round < 3000; round++) {
    set_simd_enabled(round % 4 != 0);
    Extents shape(1 + rng() % 4);
    for (int64_t& extent : shape) extent = kExtents[rng() % std::size(kExtents)];
    if (volume(shape) > 100000) continue;
    const DType type = kElements[rng() % std::size(kElements)];
    test_transpose(rng, type, shape);
    test_slice(rng, type, shape);
    test_normalize(rng, shape);
  }
  set_simd_enabled(true);
}

}  // namespace

int main() {
  std::mt19937_64 rng(1);
  test_operations(rng, {{67}, {67}, {67}});
  test_operations(rng, {{1}, {}, {}});
  test_operations(rng, {{7, 5, 3}, {3}, {1}});
  test_operations(rng, {{7, 5, 3}, {7, 1, 3}, {7, 5, 1}});
  test_operations(rng, {{4, 1, 5, 1}, {3, 1, 6}, {4, 1, 1, 6}});
  test_operations(rng, {{0, 3}, {3}, {1, 1}});
  test_operations(rng, {{3, 1500}, {1500}, {3, 1}});
  test_conversions(rng);
  test_shapes();
  return passed("tensor_test");
}
