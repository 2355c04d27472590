// SPDX-License-Identifier: Apache-2.0
// Resampling along one axis as a table of taps: which inputs make an output, with which weights.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "resize_kernels.h"

namespace daliesque {

/// Interpolation types, with the numbers of the public enum.
enum class Interp : int32_t {
  nearest = 0,
  linear = 1,
  cubic = 2,
  lanczos3 = 3,
  triangular = 4,
  gaussian = 5,
};

/// What is asked of one axis: the input interval [start, end), in pixels, becomes `out_size`
/// samples. start > end mirrors. Pixels outside [0, in_size) repeat the edge.
struct AxisRequest {
  int64_t in_size = 0;
  int64_t out_size = 0;
  float start = 0;
  float end = 0;
  Interp min_filter = Interp::triangular;
  Interp mag_filter = Interp::linear;
  bool antialias = true;

  bool operator==(const AxisRequest&) const = default;
};

/// 16-bit weights for uint8 data, two neighbouring taps in one word (the first in the low half).
/// They add up to 2^bits for every output.
struct PairTable {
  int bits = 0;
  int pairs = 0;
  std::vector<int32_t> start;      ///< first pair, if pairs stand at even inputs
  std::vector<int32_t> weights;    ///< out_size * pairs
  std::vector<InputRange> blocks;  ///< pairs that each block of columns touches
};

/// Output i is the sum of weights[i * taps + k] * in[first + start[i] + k], k in [0, taps). All
/// these inputs exist: taps beyond the edges are folded onto the edge pixel.
struct AxisTable {
  int64_t in_size = 0;
  int64_t out_size = 0;
  int taps = 0;
  bool nearest = false;   ///< one tap of weight 1 each
  bool identity = false;  ///< the output is the input
  bool negative = false;  ///< some weights are below zero
  float gain = 0;         ///< largest sum of absolute weights
  int64_t first = 0;      ///< the inputs used are [first, last)
  int64_t last = 0;
  int64_t block_span = 0;  ///< most inputs that a block of kColumnBlock outputs touches
  std::vector<int32_t> start;
  std::vector<float> weights;
  std::vector<InputRange> blocks;  ///< inputs that each block touches, counted from `first`

  /// For blending rows in fixed point: pairs begin at the first tap.
  const PairTable& row_pairs() const;
  /// For blending rows in fixed point without negative weights: they add up to 65536.
  const std::vector<uint16_t>& row_weights() const;
  /// For columns in fixed point: pairs begin at even inputs, counted from `first`.
  const PairTable& column_pairs() const;

  /// The inputs that outputs [begin, end) touch, counted from `first`.
  InputRange input_range(int64_t begin, int64_t end) const;

 private:
  mutable std::once_flag pairs_once_, weights_once_, columns_once_;
  mutable PairTable pairs_, columns_;
  mutable std::vector<uint16_t> row_weights_;
};

/// The table as the kernels see it. `wide` tells how the 16-bit inputs are stored.
Columns<float> float_columns(const AxisTable& table, int64_t channels);
Columns<int32_t> fixed_columns(const AxisTable& table, int64_t channels, bool wide);

using TablePtr = std::shared_ptr<const AxisTable>;

/// The tables of the adjacent axes of one array, outermost first, and the order in which the
/// reference resamples them (indices into `axes`).
struct ResamplePlan {
  std::vector<TablePtr> axes;
  std::vector<int> order;
  bool pure_nearest = false;
};

/// Tables are kept in a small cache per thread, keyed by everything they depend on.
ResamplePlan make_resample_plan(std::span<const AxisRequest> axes);

}  // namespace daliesque
