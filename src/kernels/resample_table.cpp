// SPDX-License-Identifier: Apache-2.0
#include "resample_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <numbers>
#include <utility>

namespace daliesque {

namespace {

// All arithmetic here is in single precision and in the reference's order of operations: a
// difference of one rounding moves a sampling position, and with it every weight.

/// A window sampled at `count` equidistant points, read with linear interpolation.
struct Window {
  std::vector<float> values;

  float operator()(float x) const {
    const auto count = static_cast<int>(values.size());
    if (!(x > -1) || x >= static_cast<float>(count)) return 0;
    const int left = x < 0 ? -1 : static_cast<int>(x);
    const int right = left + 1;
    const float fraction = x - static_cast<float>(left);
    const float from = left < 0 ? 0.0f : values[static_cast<size_t>(left)];
    const float to = right >= count ? 0.0f : values[static_cast<size_t>(right)];
    return from + fraction * (to - from);
  }
};

template <class Function>
Window sample_window(int count, float extent, Function&& function) {
  Window window;
  window.values.resize(static_cast<size_t>(count));
  for (int i = 0; i < count; i++) {
    const float centred = static_cast<float>(i) - static_cast<float>(count - 1) * 0.5f;
    window.values[static_cast<size_t>(i)] =
        function(extent * centred / static_cast<float>(count - 1));
  }
  return window;
}

float sinc(float x) {
  x = static_cast<float>(x * std::numbers::pi);
  if (std::abs(x) < 1e-5f) return 1.0f - x * x * (1.0f / 6);
  return std::sin(x) / x;
}

float cubic_window(float x) {
  x = std::abs(x);
  if (x >= 2) return 0;
  const float x2 = x * x;
  const float x3 = x2 * x;
  if (x > 1) return -0.5f * x3 + 2.5f * x2 - 4.0f * x + 2.0f;
  return 1.5f * x3 - 2.5f * x2 + 1.0f;
}

const Window& window_of(Interp type) {
  static const Window triangular{{0, 1, 0}};
  static const Window gaussian = sample_window(65, 4, [](float x) { return std::exp(-x * x); });
  static const Window cubic = sample_window(129, 4, cubic_window);
  static const Window lanczos3 = sample_window(
      193, 6, [](float x) { return std::abs(x) >= 3 ? 0.0f : sinc(x) * sinc(x / 3); });
  switch (type) {
    case Interp::gaussian:
      return gaussian;
    case Interp::cubic:
      return cubic;
    case Interp::lanczos3:
      return lanczos3;
    default:
      return triangular;
  }
}

/// A window stretched to `support()` pixels.
struct Filter {
  Interp type = Interp::nearest;
  float intervals = 0;  // of the sampled window
  float anchor = 0;     // distance of the centre from the left end, in pixels
  float scale = 1;      // window samples per pixel

  int support() const {
    return type == Interp::nearest ? 1 : static_cast<int>(std::ceil(intervals / scale));
  }

  void stretch(float support) {
    const float old_scale = scale;
    scale = intervals / support;
    anchor = anchor * old_scale / scale;
  }
};

/// The reference limits supports for the sake of GPU memory; the limit shows on the CPU, too.
constexpr int kMaxSupport = 8192;

Filter choose_filter(const AxisRequest& axis) {
  const float in_size = std::abs(axis.end - axis.start);
  const auto out_size = static_cast<float>(axis.out_size);
  const bool shrinks = out_size < in_size;
  Interp type = shrinks ? axis.min_filter : axis.mag_filter;
  const bool antialias = shrinks && axis.antialias;
  Filter filter;
  if (type == Interp::nearest) return filter;
  if (type == Interp::triangular && !antialias) type = Interp::linear;
  filter.type = type == Interp::linear ? Interp::triangular : type;
  filter.intervals = static_cast<float>(window_of(filter.type).values.size() - 1);
  filter.anchor = 1;
  filter.scale = filter.intervals * 0.5f;
  const auto radius = [&](float base) {
    return antialias ? (base == 1 ? in_size / out_size : base * in_size / out_size) : base;
  };
  switch (type) {
    case Interp::linear:
      filter.stretch(antialias ? std::max(1.0f, 2 * radius(1)) : 2.0f);
      break;
    case Interp::gaussian: {
      constexpr auto four_roots = static_cast<float>(4 * std::numbers::sqrt2);
      const auto sigma = static_cast<float>(radius(1) * 0.5f / std::numbers::sqrt2);
      filter.stretch(std::max(1.0f, four_roots * sigma));
      break;
    }
    case Interp::cubic:
      filter.stretch(4);
      filter.stretch(2.0f * std::max(2.0f, radius(2)));
      break;
    case Interp::lanczos3:
      filter.stretch(6);
      filter.stretch(2.0f * std::max(3.0f, radius(3)));
      break;
    default:
      filter.stretch(std::max(1.0f, 2 * radius(1)));
      break;
  }
  if (filter.support() > kMaxSupport) filter.stretch(kMaxSupport);
  return filter;
}

/// Everything that a table depends on. Sampling positions are computed from `origin`, relative to
/// input `shift`.
struct TableKey {
  int64_t in_size, out_size, shift;
  float origin, step;
  Interp type;
  float filter_scale, filter_anchor;
  bool innermost;

  bool operator==(const TableKey&) const = default;
};

void fill_nearest(AxisTable& table, const TableKey& key) {
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

/// Fills `weights` (support values) for output i and returns the first input.
int64_t fill_taps(float* weights, int64_t i, float origin, const TableKey& key, int support,
                  const Window& window) {
  const float left = static_cast<float>(i) * key.step + origin;
  const float first = std::ceil(left);
  const float offset = first - left;
  float sum = 0;
  for (int k = 0; k < support; k++) {
    weights[k] = window((offset + static_cast<float>(k)) * key.filter_scale);
    sum += weights[k];
  }
  if (sum != 0) {
    for (int k = 0; k < support; k++) weights[k] /= sum;
  }
  return static_cast<int64_t>(first) + key.shift;
}

/// Folds taps beyond the edges onto the edge pixel and drops zeros at both ends. Returns the first
/// input and shrinks `weights` to the taps that are left.
int64_t fold_taps(std::vector<float>& weights, int64_t first, int64_t in_size) {
  const auto count = static_cast<int64_t>(weights.size());
  const int64_t low = std::clamp<int64_t>(first, 0, in_size - 1);
  const int64_t high = std::clamp<int64_t>(first + count - 1, 0, in_size - 1);
  if (high - low + 1 < count) {
    for (int64_t k = 0; k < count; k++) {
      const int64_t target = std::clamp<int64_t>(first + k, 0, in_size - 1) - low;
      if (target != k)
        weights[static_cast<size_t>(target)] +=
            std::exchange(weights[static_cast<size_t>(k)], 0.0f);
    }
    weights.resize(static_cast<size_t>(high - low + 1));
  }
  while (weights.size() > 1 && weights.back() == 0) weights.pop_back();
  size_t zeros = 0;
  while (zeros + 1 < weights.size() && weights[zeros] == 0) zeros++;
  weights.erase(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(zeros));
  return low + static_cast<int64_t>(zeros);
}

void fill_filtered(AxisTable& table, const TableKey& key) {
  const Window& window = window_of(key.type);
  const Filter filter{key.type, static_cast<float>(window.values.size() - 1), key.filter_anchor,
                      key.filter_scale};
  const int support = filter.support();
  const float origin = key.origin + (0.5f * key.step - 0.5f - filter.anchor);
  const auto count = static_cast<size_t>(key.out_size);
  std::vector<float> taps, folded;
  std::vector<size_t> offsets(count + 1);
  int64_t widest = 1;
  for (size_t i = 0; i < count; i++) {
    taps.resize(static_cast<size_t>(support));
    int64_t first = fill_taps(taps.data(), static_cast<int64_t>(i), origin, key, support, window);
    first = fold_taps(taps, first, key.in_size);
    table.start[i] = static_cast<int32_t>(first);
    folded.insert(folded.end(), taps.begin(), taps.end());
    offsets[i + 1] = folded.size();
    widest = std::max(widest, static_cast<int64_t>(taps.size()));
  }
  table.taps = static_cast<int>(widest);
  table.weights.assign(count * static_cast<size_t>(widest), 0.0f);
  for (size_t i = 0; i < count; i++) {
    const int64_t beyond = table.start[i] + widest - key.in_size;
    const int64_t moved = std::max<int64_t>(0, beyond);
    table.start[i] -= static_cast<int32_t>(moved);
    std::copy(folded.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
              folded.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1]),
              table.weights.begin() + static_cast<std::ptrdiff_t>(i * static_cast<size_t>(widest)) +
                  moved);
  }
}

TablePtr build_table(const TableKey& key) {
  auto table = std::make_shared<AxisTable>();
  table->in_size = key.in_size;
  table->out_size = key.out_size;
  table->start.resize(static_cast<size_t>(key.out_size));
  if (key.type == Interp::nearest) {
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

/// Most recently used first.
constexpr size_t kCachedTables = 32;

TablePtr find_table(const TableKey& key) {
  thread_local std::list<std::pair<TableKey, TablePtr>> cache;
  for (auto entry = cache.begin(); entry != cache.end(); ++entry) {
    if (entry->first == key) {
      cache.splice(cache.begin(), cache, entry);
      return cache.front().second;
    }
  }
  cache.emplace_front(key, build_table(key));
  if (cache.size() > kCachedTables) cache.pop_back();
  return cache.front().second;
}

/// The cheapest order of passes by the reference's estimate, which counts taps and output volume
/// of each pass. Axes are numbered from the innermost here, as in the reference.
class OrderSearch {
 public:
  OrderSearch(std::vector<int64_t> in, std::vector<int64_t> out, std::vector<int> support)
      : size_(std::move(in)), out_(std::move(out)), support_(std::move(support)) {
    used_.assign(size_.size(), false);
    current_.resize(size_.size());
  }

  std::vector<int> run() {
    visit(0, 0);
    return best_;
  }

 private:
  float pass_cost(size_t axis) const {
    int64_t volume = 1;
    for (const int64_t extent : size_) volume *= extent;
    const float weight = axis == 0 ? 1.4f : axis > 1 ? 1.2f : 1.0f;
    const auto base = static_cast<float>(support_[axis] * volume);
    return weight * base + static_cast<float>(volume) * 3.0f;
  }

  void visit(size_t pass, float total) {
    if (total >= best_cost_) return;
    if (pass == size_.size()) {
      best_cost_ = total;
      best_ = current_;
      return;
    }
    for (size_t axis = 0; axis < size_.size(); axis++) {
      if (used_[axis]) continue;
      used_[axis] = true;
      const int64_t before = std::exchange(size_[axis], out_[axis]);
      current_[pass] = static_cast<int>(axis);
      visit(pass + 1, total + pass_cost(axis));
      size_[axis] = before;
      used_[axis] = false;
    }
  }

  std::vector<int64_t> size_, out_;
  std::vector<int> support_, current_, best_;
  std::vector<bool> used_;
  float best_cost_ = 1e30f;
};

/// The part of the input that an axis needs, by the reference's estimate.
InputRange needed_range(const AxisRequest& axis, const Filter& filter) {
  const float low = std::min(axis.start, axis.end) - filter.anchor;
  const float high =
      std::max(axis.start, axis.end) - filter.anchor + static_cast<float>(filter.support());
  const auto limit = static_cast<float>(axis.in_size);
  return {static_cast<int64_t>(std::clamp(std::floor(low), 0.0f, limit)),
          static_cast<int64_t>(std::clamp(std::ceil(high), 0.0f, limit))};
}

/// Quantises to multiples of 1 / unit, carrying each rounding error into the next weight so that
/// the sum is kept. Calls put(k, weight).
template <class Put>
void quantise(const float* weights, int taps, double unit, Put&& put) {
  double carry = 0;
  for (int k = 0; k < taps; k++) {
    const double exact = weights[k] * unit + carry;
    const double rounded = std::round(exact);
    carry = exact - rounded;
    put(k, static_cast<int32_t>(rounded));
  }
}

/// Quantises into pairs, the first of which starts with `lead` absent taps.
void quantise_pairs(const float* weights, int taps, int bits, int lead, int32_t* pairs) {
  quantise(weights, taps, std::ldexp(1.0, bits), [&](int k, int32_t weight) {
    const int slot = k + lead;
    const auto half = static_cast<uint32_t>(weight) & 0xFFFF;
    auto& pair = pairs[slot / 2];
    pair = static_cast<int32_t>(static_cast<uint32_t>(pair) | half << (slot % 2 * 16));
  });
}

/// The most bits with which all weights fit 16 bits and sums fit 32 for inputs of `input_bits`.
int weight_bits(const AxisTable& table, int input_bits) {
  float largest = 0;
  for (const float weight : table.weights) largest = std::max(largest, std::abs(weight));
  int bits = 30 - input_bits;
  while (bits > 0 && std::ldexp(largest, bits) > 32766.0f) bits--;
  return bits;
}

}  // namespace

InputRange AxisTable::input_range(int64_t begin, int64_t end) const {
  if (begin >= end) return {0, 0};
  const auto [low, high] = std::minmax_element(start.begin() + begin, start.begin() + end);
  return {*low, *high + taps};
}

const PairTable& AxisTable::row_pairs() const {
  std::call_once(pairs_once_, [this] {
    pairs_.bits = weight_bits(*this, 9);
    pairs_.pairs = (taps + 1) / 2;
    pairs_.weights.assign(start.size() * static_cast<size_t>(pairs_.pairs), 0);
    for (size_t i = 0; i < start.size(); i++) {
      quantise_pairs(&weights[i * static_cast<size_t>(taps)], taps, pairs_.bits, 0,
                     &pairs_.weights[i * static_cast<size_t>(pairs_.pairs)]);
    }
  });
  return pairs_;
}

const std::vector<uint16_t>& AxisTable::row_weights() const {
  std::call_once(weights_once_, [this] {
    row_weights_.resize(weights.size());
    for (size_t i = 0; i < start.size(); i++) {
      const size_t at = i * static_cast<size_t>(taps);
      quantise(&weights[at], taps, 65536.0, [&](int k, int32_t weight) {
        row_weights_[at + static_cast<size_t>(k)] =
            static_cast<uint16_t>(std::clamp(weight, 0, 65535));
      });
    }
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
    columns_.weights.assign(start.size() * static_cast<size_t>(columns_.pairs), 0);
    for (size_t i = 0; i < start.size(); i++) {
      columns_.start[i] = start[i] / 2;
      quantise_pairs(&weights[i * static_cast<size_t>(taps)], taps, columns_.bits, start[i] % 2,
                     &columns_.weights[i * static_cast<size_t>(columns_.pairs)]);
    }
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

ResamplePlan make_resample_plan(std::span<const AxisRequest> axes) {
  const size_t count = axes.size();
  std::vector<Filter> filters;
  std::vector<InputRange> needed;
  std::vector<int64_t> extents, out;
  std::vector<int> support;
  for (size_t i = count; i-- > 0;) {  // innermost first
    const Filter filter = choose_filter(axes[i]);
    const InputRange range = needed_range(axes[i], filter);
    filters.push_back(filter);
    needed.push_back(range);
    extents.push_back(range.end - range.begin);
    out.push_back(axes[i].out_size);
    support.push_back(filter.support());
  }
  const auto order = OrderSearch(std::move(extents), std::move(out), std::move(support)).run();
  ResamplePlan plan;
  plan.axes.resize(count);
  plan.pure_nearest = true;
  for (size_t inner = 0; inner < count; inner++) {
    const AxisRequest& axis = axes[count - 1 - inner];
    const Filter& filter = filters[inner];
    plan.pure_nearest &= filter.type == Interp::nearest;
    const bool first_pass = order[0] == static_cast<int>(inner);
    const int64_t shift = first_pass ? 0 : needed[inner].begin;
    const TableKey key{axis.in_size,
                       axis.out_size,
                       shift,
                       axis.start - static_cast<float>(shift),
                       (axis.end - axis.start) / static_cast<float>(axis.out_size),
                       filter.type,
                       filter.scale,
                       filter.anchor,
                       inner == 0};
    plan.axes[count - 1 - inner] = find_table(key);
  }
  for (const int inner : order) plan.order.push_back(static_cast<int>(count) - 1 - inner);
  return plan;
}

}  // namespace daliesque
