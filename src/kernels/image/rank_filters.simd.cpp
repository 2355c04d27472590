// SPDX-License-Identifier: Apache-2.0
#include "image/rank_loops.h"
#include "image/row_vectors.simd.h"

namespace daliesque::image::DALIESQUE_ISA {

namespace {

template <class Value>
constexpr Value kSign = static_cast<Value>(Value{1} << (8 * sizeof(Value) - 1));

template <KeyKind kind, class Key, class Value>
void to_keys(void* out, const void* in, int64_t count) {
  auto* __restrict to = static_cast<Key*>(out);
  const auto* __restrict from = static_cast<const Value*>(in);
  for (int64_t i = 0; i < count; i++) {
    const Value value = from[i];
    if constexpr (kind == KeyKind::natural) {
      to[i] = value;
    } else if constexpr (kind == KeyKind::integer) {
      to[i] = static_cast<Value>(value ^ kSign<Value>);
    } else {
      // Negative numbers are stored by magnitude: the larger the bits, the lower the number.
      const auto all = static_cast<Value>(~Value{0});
      const Value flipped = value & kSign<Value> ? all : kSign<Value>;
      to[i] = static_cast<Value>(value ^ flipped);
    }
  }
}

template <KeyKind kind, class Value, class Key>
void to_values(void* out, const void* in, int64_t count) {
  auto* __restrict to = static_cast<Value*>(out);
  const auto* __restrict from = static_cast<const Key*>(in);
  for (int64_t i = 0; i < count; i++) {
    const auto key = static_cast<Value>(from[i]);
    if constexpr (kind == KeyKind::natural) {
      to[i] = key;
    } else if constexpr (kind == KeyKind::integer) {
      to[i] = static_cast<Value>(key ^ kSign<Value>);
    } else {
      const auto all = static_cast<Value>(~Value{0});
      const Value flipped = key & kSign<Value> ? kSign<Value> : all;
      to[i] = static_cast<Value>(key ^ flipped);
    }
  }
}

template <class Key>
DALIESQUE_INLINE Vector<Key> load(const void* row, int64_t first) {
  Vector<Key> keys;
  __builtin_memcpy(&keys, static_cast<const Key*>(row) + first, sizeof(keys));
  return keys;
}

template <class Keys>
DALIESQUE_INLINE void sort_two(Keys& low, Keys& high) {
  const Keys smaller = low < high ? low : high;
  high = low < high ? high : low;
  low = smaller;
}

/// Of slightly more than half of the keys, neither the least nor the greatest is the median: both
/// give way to one more key, until three are left. All are in registers, so this is for small
/// windows, with an odd number of keys.
template <class Key, int taps>
void sort_median(void* out, const void* const* rows, int64_t count) {
  auto* to = static_cast<Key*>(out);
  constexpr int most = taps / 2 + 2;
  for (int64_t first = 0; first < count; first += kVectorBytes / sizeof(Key)) {
    Vector<Key> kept[most];
#pragma GCC unroll 16
    for (int k = 0; k < most; k++) kept[k] = load<Key>(rows[k], first);
#pragma GCC unroll 16
    for (int last = most - 1; last >= 2; last--) {
#pragma GCC unroll 16
      for (int k = 0; k < last - k; k++) sort_two(kept[k], kept[last - k]);
#pragma GCC unroll 16
      for (int k = 1; k <= last / 2; k++) sort_two(kept[0], kept[k]);
#pragma GCC unroll 16
      for (int k = (last + 1) / 2; k < last; k++) sort_two(kept[k], kept[last]);
      if (last > 2) kept[0] = load<Key>(rows[taps + 2 - last], first);
    }
    __builtin_memcpy(to + first, &kept[1], sizeof(kept[1]));
  }
}

template <class Keys>
DALIESQUE_INLINE Keys lower(Keys a, Keys b) {
  return a < b ? a : b;
}

template <class Keys>
DALIESQUE_INLINE Keys higher(Keys a, Keys b) {
  return a > b ? a : b;
}

template <class Keys>
DALIESQUE_INLINE Keys middle(Keys a, Keys b, Keys c) {
  return higher(lower(a, b), lower(higher(a, b), c));
}

/// What columns of three keys that are sorted say about the middle of nine: the highest of their
/// lowest keys, their middle ones, and the lowest of their highest.
template <class Keys>
struct SquareMedian {
  Keys lowest, low_middle, high_middle, highest;

  /// For one column, given the lower and the higher of two of its keys, and the third.
  DALIESQUE_INLINE static SquareMedian begin(Keys low, Keys high, Keys third) {
    const Keys rest = higher(low, third), key = lower(rest, high);
    return {lower(low, third), key, key, higher(rest, high)};
  }

  /// With a second column.
  DALIESQUE_INLINE void add(const SquareMedian& column) {
    lowest = higher(lowest, column.lowest);
    high_middle = higher(low_middle, column.low_middle);
    low_middle = lower(low_middle, column.low_middle);
    highest = lower(highest, column.highest);
  }

  /// The median, with the third column.
  DALIESQUE_INLINE Keys end(const SquareMedian& column) const {
    const Keys middles = higher(low_middle, lower(high_middle, column.low_middle));
    return middle(higher(lowest, column.lowest), middles, lower(highest, column.highest));
  }
};

/// With columns sorted, the median is the middle of three: the highest of the lowest, the middle of
/// the middle ones and the lowest of the highest. Two rows share the order of the keys that both
/// have. To sort a column for each of the windows it is in takes less time than to store it.
template <class Key>
void median_3x3(void* const* out, const void* const* rows, int64_t channels, int64_t count,
                bool streamed) {
  const auto next = channels * static_cast<int64_t>(sizeof(Key));
  void *upper_out = out[0], *lower_out = out[1];
  const void *first = rows[0], *second = rows[1], *third = rows[2], *fourth = rows[3];
  const auto body = [&]<class Keys>(auto store, int64_t at) __attribute__((always_inline)) {
    SquareMedian<Keys> upper_column, lower_column;
    const auto sort_column = [&](int64_t number) __attribute__((always_inline)) {
      const int64_t offset = at + number * next;
      const Keys b = load_part<Keys>(second, offset), c = load_part<Keys>(third, offset);
      const Keys low = lower(b, c), high = higher(b, c);
      upper_column = SquareMedian<Keys>::begin(low, high, load_part<Keys>(first, offset));
      lower_column = SquareMedian<Keys>::begin(low, high, load_part<Keys>(fourth, offset));
    };
    sort_column(0);
    SquareMedian<Keys> upper_square = upper_column, lower_square = lower_column;
    sort_column(1);
    upper_square.add(upper_column);
    lower_square.add(lower_column);
    sort_column(2);
    store(upper_out, at, upper_square.end(upper_column));
    store(lower_out, at, lower_square.end(lower_column));
  };
  for_results<Key>(upper_out, count, streamed, body);
}

/// Finds the bits of the median from the highest down: a bit is set if not too many keys are below
/// the number that it gives.
template <class Key>
void search_median(void* out, const void* const* rows, int64_t taps, int64_t count) {
  auto* to = static_cast<Key*>(out);
  const auto rank = static_cast<Key>(taps / 2);
  for (int64_t first = 0; first < count; first += kVectorBytes / sizeof(Key)) {
    Vector<Key> found = {};
    for (int bit = 8 * sizeof(Key) - 1; bit >= 0; bit--) {
      const auto mask = static_cast<Key>(Key{1} << bit);
      const Vector<Key> trial = found | mask;
      Vector<Key> below = {};
      for (int64_t k = 0; k < taps; k++) {
        // A comparison gives -1 where it holds.
        below -= (Vector<Key>)(load<Key>(rows[k], first) < trial);
      }
      found = below <= rank ? trial : found;
    }
    __builtin_memcpy(to + first, &found, sizeof(found));
  }
}

template <class Key>
void pick_median(void* out, const void* const* rows, int64_t taps, int64_t count) {
  if (taps == 9) {
    sort_median<Key, 9>(out, rows, count);
  } else if (taps == 25) {
    sort_median<Key, 25>(out, rows, count);
  } else {
    search_median<Key>(out, rows, taps, count);
  }
}

template <KeyKind kind>
ConvertKeys to_keys_of(int key_size, int value_size) {
  switch (key_size * 10 + value_size) {
    case 11:
      return to_keys<kind, uint8_t, uint8_t>;
    case 21:
      return to_keys<kind, uint16_t, uint8_t>;
    case 41:
      return to_keys<kind, uint32_t, uint8_t>;
    case 22:
      return to_keys<kind, uint16_t, uint16_t>;
    case 42:
      return to_keys<kind, uint32_t, uint16_t>;
    case 44:
      return to_keys<kind, uint32_t, uint32_t>;
    default:
      return to_keys<kind, uint64_t, uint64_t>;
  }
}

template <KeyKind kind>
ConvertKeys to_values_of(int value_size, int key_size) {
  switch (key_size * 10 + value_size) {
    case 11:
      return to_values<kind, uint8_t, uint8_t>;
    case 21:
      return to_values<kind, uint8_t, uint16_t>;
    case 41:
      return to_values<kind, uint8_t, uint32_t>;
    case 22:
      return to_values<kind, uint16_t, uint16_t>;
    case 42:
      return to_values<kind, uint16_t, uint32_t>;
    case 44:
      return to_values<kind, uint32_t, uint32_t>;
    default:
      return to_values<kind, uint64_t, uint64_t>;
  }
}

ConvertKeys find_to_keys(KeyKind kind, int key_size, int value_size) {
  return kind == KeyKind::natural   ? to_keys_of<KeyKind::natural>(key_size, value_size)
         : kind == KeyKind::integer ? to_keys_of<KeyKind::integer>(key_size, value_size)
                                    : to_keys_of<KeyKind::floating>(key_size, value_size);
}

ConvertKeys find_to_values(KeyKind kind, int value_size, int key_size) {
  return kind == KeyKind::natural   ? to_values_of<KeyKind::natural>(value_size, key_size)
         : kind == KeyKind::integer ? to_values_of<KeyKind::integer>(value_size, key_size)
                                    : to_values_of<KeyKind::floating>(value_size, key_size);
}

PickSquare find_median_3x3(int key_size) {
  return key_size == 1   ? median_3x3<uint8_t>
         : key_size == 2 ? median_3x3<uint16_t>
         : key_size == 4 ? median_3x3<uint32_t>
                         : median_3x3<uint64_t>;
}

PickKeys find_median(int key_size) {
  return key_size == 1   ? pick_median<uint8_t>
         : key_size == 2 ? pick_median<uint16_t>
         : key_size == 4 ? pick_median<uint32_t>
                         : pick_median<uint64_t>;
}

}  // namespace

const RankLoops rank_loops = {find_to_keys, find_to_values, find_median_3x3, find_median};

}  // namespace daliesque::image::DALIESQUE_ISA
