// SPDX-License-Identifier: Apache-2.0
// The inner loops behind filters.h, one set for each instruction set.
#pragma once

#include <cstdint>

namespace daliesque::image {

/// Loops may read and write up to the next multiple of this many floats.
constexpr int64_t kFilterPadding = 16;

/// So many rows of the result share what is read for windows without gaps.
constexpr int kWindowRows = 2;

/// A window without gaps; a step is one pixel, in values.
struct DenseWindow {
  const float* weights;
  int64_t height, width, step;
};

struct FilterLoops {
  /// out[i] = rows[0][i] * weights[0] + rows[1][i] * weights[1] + ..., added from left to right.
  void (*weigh_rows)(float* out, const float* const* rows, const float* weights, int64_t taps,
                     int64_t count);
  /// kWindowRows rows of the result, `stride` apart, the first of which is under the window that
  /// begins in rows[0]: sums over the window from left to right and from top to bottom. `rows` has
  /// window.height + kWindowRows - 1 rows.
  void (*weigh_windows)(float* out, int64_t stride, const float* const* rows,
                        const DenseWindow& window, int64_t count);
  /// The same as bytes, clamped and rounded: halves to even, or up. Writes `count` bytes of each
  /// row.
  void (*weigh_windows_to_bytes)(uint8_t* out, int64_t stride, const float* const* rows,
                                 const DenseWindow& window, int64_t count, bool even);
  /// The same sums as weigh_rows gives, as bytes, clamped and rounded: halves to even, or up.
  /// Writes `count` bytes.
  void (*weigh_to_bytes)(uint8_t* out, const float* const* rows, const float* weights, int64_t taps,
                         int64_t count, bool even);
  /// out[i] = rows[0][i] + rows[1][i] + ..., as bytes in the same way.
  void (*add_to_bytes)(uint8_t* out, const float* const* rows, int64_t taps, int64_t count,
                       bool even);
  /// Bytes as floats.
  void (*widen)(void* out, const void* in, int64_t count);
  /// out[i] = in[i] * factor
  void (*multiply)(float* out, const float* in, float factor, int64_t count);
  /// values[i] = values[i] * scale
  void (*scale)(float* values, float scale, int64_t count);
  /// sums[i] = values[i] * scale + sums[i]
  void (*add_scaled)(float* sums, const float* values, float scale, int64_t count);
  /// Rounds to nearest integers, halves to even.
  void (*round_even)(float* values, int64_t count);
};

/// The next ones may read and write up to the next multiple of this many words.
constexpr int64_t kWordPadding = 32;

/// The same with integers of 16 bits, for weights and values with which no sum exceeds them. There
/// are several terms, with symmetric windows of `taps` weights each.
struct WordLoops {
  /// The sums of each term over the same rows, `stride` apart.
  void (*weigh_rows)(int16_t* out, int64_t stride, const int16_t* const* rows,
                     const int16_t* weights, int64_t terms, int64_t taps, int64_t count);
  /// The sums of all terms, each over `taps` rows of its own, clamped. Writes `count` bytes.
  void (*weigh_to_bytes)(uint8_t* out, const int16_t* const* rows, const int16_t* weights,
                         int64_t terms, int64_t taps, int64_t count);
  /// Bytes as words.
  void (*widen)(void* out, const void* in, int64_t count);
};

namespace portable {
extern const FilterLoops filter_loops;
extern const WordLoops word_loops;
}  // namespace portable
namespace avx2 {
extern const FilterLoops filter_loops;
extern const WordLoops word_loops;
}  // namespace avx2
namespace avx512 {
extern const FilterLoops filter_loops;
extern const WordLoops word_loops;
}  // namespace avx512

/// The loops for this processor.
const FilterLoops& filter_loops();
const WordLoops& word_loops();

}  // namespace daliesque::image
