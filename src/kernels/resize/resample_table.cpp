// SPDX-License-Identifier: Apache-2.0
#include "resize/resample_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace daliesque::resize {

namespace {

// Positions are computed in single precision, in the reference's order of operations.

void fill_nearest(AxisTable& table, const AxisSampling& key) {
  table.nearest = true;
  table.taps = 1;
  table.weights.assign(static_cast<size_t>(key.out_size), 1.0f);
  // Outer axes accumulate the position, the innermost one multiplies: see the reference's loops.
  float position = key.origin + 0.5f * key.step;
  const bool unit = key.innermost && key.step == 1;
  const float unit_start = std::floor(key.origin + 0.5f);
  for (int64_t i = 0; i < key.out_size; i++) {
    if (unit) {
      position = unit_start + static_cast<float>(i);
    } else if (key.innermost) {
      position = key.origin + (static_cast<float>(i) + 0.5f) * key.step;
    }
    const auto source = static_cast<int64_t>(std::floor(position)) + key.shift;
    table.start[static_cast<size_t>(i)] =
        static_cast<int32_t>(std::clamp<int64_t>(source, 0, key.in_size - 1));
    if (!key.innermost) position += key.step;
  }
}

/// Folds taps beyond the edges onto the edge pixel. Returns the first input.
int64_t fold_taps(float* weights, int64_t count, int64_t first, int64_t in_size) {
  if (first >= 0 && first + count <= in_size) return first;
  const int64_t low = std::clamp<int64_t>(first, 0, in_size - 1);
  for (int64_t k = 0; k < count; k++) {
    const int64_t target = std::clamp<int64_t>(first + k, 0, in_size - 1) - low;
    if (target != k) weights[target] += std::exchange(weights[k], 0.0f);
  }
  return low;
}

/// Taps that are not zero.
struct Span {
  int32_t begin, end;
};

Span trim_zeros(const float* weights, int count) {
  Span span{0, count};
  while (span.end > 1 && weights[span.end - 1] == 0) span.end--;
  while (span.begin + 1 < span.end && weights[span.begin] == 0) span.begin++;
  return span;
}

void fill_filtered(AxisTable& table, const AxisSampling& key) {
  const int support = key.filter.support();
  const float origin = key.origin + (0.5f * key.step - 0.5f - key.filter.anchor);
  const auto count = static_cast<size_t>(key.out_size);
  std::vector<float> raw(count * static_cast<size_t>(support));
  std::vector<Span> spans(count);
  table.taps = 1;
  for (size_t i = 0; i < count; i++) {
    float* weights = &raw[i * static_cast<size_t>(support)];
    const float left = static_cast<float>(i) * key.step + origin;
    const float first = std::ceil(left);
    key.filter.fill(weights, support, first - left);
    const int64_t start =
        fold_taps(weights, support, static_cast<int64_t>(first) + key.shift, key.in_size);
    spans[i] = trim_zeros(weights, support);
    table.start[i] = static_cast<int32_t>(start) + spans[i].begin;
    table.taps = std::max(table.taps, spans[i].end - spans[i].begin);
  }
  table.weights.assign(count * static_cast<size_t>(table.taps), 0.0f);
  for (size_t i = 0; i < count; i++) {
    // Rows shorter than the longest get zeros behind, or in front at the right edge.
    const auto last = static_cast<int32_t>(key.in_size) - table.taps;
    const int32_t moved = std::max(0, table.start[i] - last);
    table.start[i] -= moved;
    const float* weights = &raw[i * static_cast<size_t>(support)];
    std::copy(weights + spans[i].begin, weights + spans[i].end,
              &table.weights[i * static_cast<size_t>(table.taps)] + moved);
  }
}

/// Outputs whose weights are quantized side by side: each needs the result of the tap before.
constexpr size_t kLanes = 8;

/// Quantizes to multiples of 1 / unit, carrying each rounding error into the next weight of the
/// output so that the sum is kept. Calls put(output, k, weight).
template <class Put>
void quantize(const AxisTable& table, double unit, Put&& put) {
  const size_t count = table.start.size();
  const auto taps = static_cast<size_t>(table.taps);
  for (size_t first = 0; first < count; first += kLanes) {
    const size_t lanes = std::min(kLanes, count - first);
    double carry[kLanes] = {};
    for (size_t k = 0; k < taps; k++) {
      float weights[kLanes] = {};
      for (size_t i = 0; i < lanes; i++) weights[i] = table.weights[(first + i) * taps + k];
      int32_t rounded[kLanes];
      for (size_t i = 0; i < kLanes; i++) {
        const double exact = weights[i] * unit + carry[i];
        rounded[i] = static_cast<int32_t>(exact + (exact < 0 ? -0.5 : 0.5));
        carry[i] = exact - rounded[i];
      }
      for (size_t i = 0; i < lanes; i++) put(first + i, k, rounded[i]);
    }
  }
}

/// Quantizes into pairs, the first of which starts with `lead(output)` absent taps.
template <class Lead>
void quantize_pairs(const AxisTable& table, PairTable& into, Lead&& lead) {
  const auto pairs = static_cast<size_t>(into.pairs);
  into.weights.assign(table.start.size() * pairs, 0);
  quantize(table, std::ldexp(1.0, into.bits), [&](size_t output, size_t k, int32_t weight) {
    const size_t slot = k + lead(output);
    const auto half = static_cast<uint32_t>(weight) & 0xFFFF;
    auto& pair = into.weights[output * pairs + slot / 2];
    pair = static_cast<int32_t>(static_cast<uint32_t>(pair) | half << (slot % 2 * 16));
  });
}

/// The most bits with which all weights fit 16 bits and sums fit 32 for inputs of `input_bits`.
int weight_bits(const AxisTable& table, int input_bits) {
  // Without their signs, floats are in the order of their bits.
  int32_t largest_bits = 0;
  for (const float weight : table.weights) {
    largest_bits = std::max(largest_bits, std::bit_cast<int32_t>(std::abs(weight)));
  }
  const auto largest = std::bit_cast<float>(largest_bits);
  int bits = 30 - input_bits;
  while (bits > 0 && std::ldexp(largest, bits) > 32766.0f) bits--;
  return bits;
}

}  // namespace

TablePtr build_table(const AxisSampling& key) {
  auto table = std::make_shared<AxisTable>();
  table->in_size = key.in_size;
  table->out_size = key.out_size;
  table->start.resize(static_cast<size_t>(key.out_size));
  if (key.filter.type == Interp::nearest) {
    fill_nearest(*table, key);
  } else {
    fill_filtered(*table, key);
  }
  const auto [low, high] = std::ranges::minmax(table->start);
  table->first = low;
  table->last = high + table->taps;
  table->identity = key.in_size == key.out_size && table->taps == 1;
  table->negative = std::ranges::any_of(table->weights, [](float w) { return w < 0; });
  const auto taps = static_cast<size_t>(table->taps);
  for (size_t i = 0; i < table->start.size(); i++) {
    table->identity =
        table->identity && table->start[i] == static_cast<int64_t>(i) && table->weights[i] == 1.0f;
    table->start[i] -= low;
    float gain = 0;
    for (size_t k = 0; k < taps; k++) gain += std::abs(table->weights[i * taps + k]);
    table->gain = std::max(table->gain, gain);
  }
  for (int64_t i = 0; i < key.out_size; i += kColumnBlock) {
    const InputRange block = table->input_range(i, std::min(i + kColumnBlock, key.out_size));
    table->blocks.push_back(block);
    table->block_span = std::max(table->block_span, block.end - block.begin);
  }
  return table;
}

InputRange AxisTable::input_range(int64_t begin, int64_t end) const {
  if (begin >= end) return {0, 0};
  const auto [low, high] = std::minmax_element(start.begin() + begin, start.begin() + end);
  return {*low, *high + taps};
}

const PairTable& AxisTable::row_pairs() const {
  std::call_once(pairs_once_, [this] {
    pairs_.bits = weight_bits(*this, 9);
    pairs_.pairs = (taps + 1) / 2;
    quantize_pairs(*this, pairs_, [](size_t) { return 0; });
  });
  return pairs_;
}

const std::vector<uint16_t>& AxisTable::row_weights() const {
  std::call_once(weights_once_, [this] {
    row_weights_.resize(weights.size());
    quantize(*this, 65536.0, [&](size_t output, size_t k, int32_t weight) {
      row_weights_[output * static_cast<size_t>(taps) + k] =
          static_cast<uint16_t>(std::clamp(weight, 0, 65535));
    });
  });
  return row_weights_;
}

const PairTable& AxisTable::column_pairs() const {
  std::call_once(columns_once_, [this] {
    columns_.bits = weight_bits(*this, negative ? 16 : 15);
    columns_.pairs = 1;
    for (const int32_t position : start) {
      columns_.pairs = std::max(columns_.pairs, (taps + position % 2 + 1) / 2);
    }
    columns_.start.resize(start.size());
    for (size_t i = 0; i < start.size(); i++) columns_.start[i] = start[i] / 2;
    quantize_pairs(*this, columns_,
                   [&](size_t output) { return static_cast<size_t>(start[output] % 2); });
    for (const InputRange& block : blocks) {
      columns_.blocks.push_back({block.begin / 2, (block.end + 1) / 2});
    }
  });
  return columns_;
}

Columns<float> float_columns(const AxisTable& table, int64_t channels) {
  return {.out_size = table.out_size,
          .channels = channels,
          .taps = table.taps,
          .rounding = 0,
          .shift = 0,
          .start = table.start.data(),
          .weights = table.weights.data(),
          .blocks = table.blocks.data(),
          .block_span = table.block_span};
}

Columns<int32_t> fixed_columns(const AxisTable& table, int64_t channels, bool wide) {
  const PairTable& pairs = table.column_pairs();
  const int shift = pairs.bits + (wide ? kWideFraction : kSignedFraction);
  // The weights add up to 2^bits, and so does what the offset of wide values takes away.
  const int32_t offset = wide ? kWideOffset << pairs.bits : 0;
  return {.out_size = table.out_size,
          .channels = channels,
          .taps = pairs.pairs,
          .rounding = (1 << (shift - 1)) + offset,
          .shift = shift,
          .start = pairs.start.data(),
          .weights = pairs.weights.data(),
          .blocks = pairs.blocks.data(),
          .block_span = table.block_span / 2 + 2};
}

}  // namespace daliesque::resize
