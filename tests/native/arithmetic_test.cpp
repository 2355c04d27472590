// SPDX-License-Identifier: Apache-2.0
// Runs every arithmetic operation and conversion on every pair of types and many shapes: the
// portable and the vector code must agree. Meant to be run under sanitizers.
#include "tensor/arithmetic.h"

#include <cstdio>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "core/convert.h"
#include "core/cpu.h"

namespace {

using namespace daliesque;

constexpr DType kTypes[] = {DType::uint8,   DType::uint16,   DType::uint32,  DType::uint64,
                            DType::int8,    DType::int16,    DType::int32,   DType::int64,
                            DType::float16, DType::bfloat16, DType::float32, DType::float64,
                            DType::boolean};

long checks = 0, failures = 0;

void check(bool good, const char* what, DType a, DType b) {
  checks++;
  if (!good && failures++ < 20) std::printf("%s of %s, %s\n", what, dtype_name(a), dtype_name(b));
}

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
Samples try_arithmetic(ArithmeticOp op, std::span<const Samples* const> operands, bool simd) {
  set_simd_enabled(simd);
  try {
    return arithmetic(op, operands);
  } catch (const std::invalid_argument&) {
    return {};
  } catch (const std::domain_error&) {
    return {};
  }
}

void compare_paths(ArithmeticOp op, std::span<const Samples* const> operands) {
  const Samples fast = try_arithmetic(op, operands, true);
  const Samples plain = try_arithmetic(op, operands, false);
  check(same(fast, plain), "operation", operands[0]->dtype(), operands.back()->dtype());
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
      check(same(fast, plain), "conversion", from, to);
    }
  }
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
  std::printf("%ld checks, %ld failures\n", checks, failures);
  return failures != 0;
}
