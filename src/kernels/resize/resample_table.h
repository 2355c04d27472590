// SPDX-License-Identifier: Apache-2.0
// Resampling along one axis as a table of taps: which inputs make an output, with which weights.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "resize/resample_filter.h"
#include "resize/resize_loops.h"

namespace daliesque::resize {

/// 16-bit weights for uint8 data, two neighboring taps in one word (the first in the low half).
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

/// The table as the kernels see it. `wide` says how the 16-bit inputs are stored.
Columns<float> float_columns(const AxisTable& table, int64_t channels);
Columns<int32_t> fixed_columns(const AxisTable& table, int64_t channels, bool wide);

using TablePtr = std::shared_ptr<const AxisTable>;

/// Where an axis is sampled: output i lies at origin + (i + 0.5) * step, in pixels from input
/// `shift`. `innermost` says how rounding errors add up where there is no filter.
struct AxisSampling {
  int64_t in_size, out_size, shift;
  float origin, step;
  ResampleFilter filter;
  bool innermost;

  bool operator==(const AxisSampling&) const = default;
};

TablePtr build_table(const AxisSampling& sampling);

}  // namespace daliesque::resize
