// SPDX-License-Identifier: Apache-2.0
#include "core/half.h"
#include "image/rank_loops.h"

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

template <class Key, bool largest>
void pick_extreme(void* out, const void* const* rows, int64_t taps, int64_t count) {
  auto* to = static_cast<Key*>(out);
  for (int64_t first = 0; first < count; first += kRankPadding) {
    Key best[kRankPadding];
    const auto* row = static_cast<const Key*>(rows[0]) + first;
    for (int64_t i = 0; i < kRankPadding; i++) best[i] = row[i];
    for (int64_t k = 1; k < taps; k++) {
      row = static_cast<const Key*>(rows[k]) + first;
      for (int64_t i = 0; i < kRankPadding; i++) {
        if constexpr (largest) {
          best[i] = row[i] > best[i] ? row[i] : best[i];
        } else {
          best[i] = row[i] < best[i] ? row[i] : best[i];
        }
      }
    }
    for (int64_t i = 0; i < kRankPadding; i++) to[first + i] = best[i];
  }
}

#ifdef __AVX2__
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class Key>
struct VectorOf {
  typedef Key type __attribute__((vector_size(kVectorBytes)));
};
template <class Key>
using Vector = typename VectorOf<Key>::type;

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

PickKeys find_largest(int key_size) {
  return key_size == 1   ? pick_extreme<uint8_t, true>
         : key_size == 2 ? pick_extreme<uint16_t, true>
         : key_size == 4 ? pick_extreme<uint32_t, true>
                         : pick_extreme<uint64_t, true>;
}

PickKeys find_smallest(int key_size) {
  return key_size == 1   ? pick_extreme<uint8_t, false>
         : key_size == 2 ? pick_extreme<uint16_t, false>
         : key_size == 4 ? pick_extreme<uint32_t, false>
                         : pick_extreme<uint64_t, false>;
}

PickKeys find_median(int key_size) {
  return key_size == 1   ? pick_median<uint8_t>
         : key_size == 2 ? pick_median<uint16_t>
         : key_size == 4 ? pick_median<uint32_t>
                         : pick_median<uint64_t>;
}

}  // namespace

const RankLoops rank_loops = {find_to_keys, find_to_values, find_largest, find_smallest,
                              find_median};

}  // namespace daliesque::image::DALIESQUE_ISA
