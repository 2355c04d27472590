// SPDX-License-Identifier: Apache-2.0
// (value - mean) * scale + shift over dense rows: the arithmetic under normalize and
// crop_mirror_normalize. Computed in float, each step rounded, in this order, as in the reference.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace daliesque::tensor {

using NormalizeToFloat = void (*)(float* out, const void* in, int64_t count, float mean,
                                  float scale, float shift);
using NormalizeEachToFloat = void (*)(float* out, const void* in, int64_t count, const float* mean,
                                      const float* scale, float shift);
/// Rounds halves away from zero and clamps.
using StoreFloats = void (*)(void* out, const float* in, int64_t count);

/// One set of loops for each instruction set; the functions return null for unknown types.
struct NormalizeLoops {
  NormalizeToFloat (*find_normalize)(DType in);
  NormalizeEachToFloat (*find_normalize_each)(DType in);
  StoreFloats (*find_store)(DType out);

  /// Three interleaved channels of uint8 to three planes of float, in order or mirrored.
  void (*rgb_to_planes)(float* out, int64_t plane_stride, const uint8_t* in, int64_t pixels,
                        bool mirror, const float* mean, const float* scale);

  /// Adds values to sums: value i to sums[i % kSums], so that all instruction sets agree.
  void (*add)(double* sums, const float* values, int64_t count);
  void (*add_squares)(double* sums, const float* values, int64_t count);
  /// sums[i % length] += values[i], or its square.
  void (*add_each)(double* sums, int64_t length, const float* values, int64_t count);
  void (*add_each_square)(double* sums, int64_t length, const float* values, int64_t count);

  /// Exact sums of bytes and of their squares; at most kMostBytes.
  void (*add_bytes)(uint64_t* sum, uint64_t* squares, const uint8_t* values, int64_t count);
  /// sums[i % length] += values[i], squares[i % length] += values[i] * values[i].
  void (*add_bytes_each)(uint32_t* sums, uint32_t* squares, int64_t length, const uint8_t* values,
                         int64_t count);
};

constexpr int64_t kSums = 16;
constexpr int64_t kMostBytes = 131072;

namespace portable {
extern const NormalizeLoops normalize_loops;
}
namespace avx2 {
extern const NormalizeLoops normalize_loops;
}

/// The loops for this processor.
const NormalizeLoops& normalize_loops();

/// Normalizes rows from one type to another.
class RowNormalizer {
 public:
  RowNormalizer(DType out, DType in);

  /// All values with the same parameters.
  void run(void* out, const void* in, int64_t count, float mean, float scale, float shift) const;
  /// Value i with parameters i.
  void run_each(void* out, const void* in, int64_t count, const float* mean, const float* scale,
                float shift) const;
  /// Converts values that are normalized already; not for a float output.
  void store(void* out, const float* in, int64_t count) const { store_(out, in, count); }

 private:
  template <class Normalize>
  void in_blocks(void* out, const void* in, int64_t count, Normalize&& normalize) const;

  NormalizeToFloat normalize_;
  NormalizeEachToFloat normalize_each_;
  StoreFloats store_;  // null if the output is float
  int64_t in_size_, out_size_;
};

}  // namespace daliesque::tensor
