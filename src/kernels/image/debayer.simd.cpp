// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "core/half.h"
#include "image/debayer_loops.h"

// Rows never overlap. The compiler, which cannot know, would give up on loops over so many of them.
#define DALIESQUE_NO_OVERLAP _Pragma("GCC ivdep")

namespace daliesque::image::DALIESQUE_ISA {

namespace {

/// Half of the sum, rounded up.
template <class T>
DALIESQUE_INLINE T mean(T a, T b) {
  return static_cast<T>((a + b + 1) >> 1);
}

/// A quarter of the sum, rounded to nearest, halves up. Made of means of two, for which there are
/// instructions: three of them round up once too often if the last one does and one of the others.
template <class T>
DALIESQUE_INLINE T mean(T a, T b, T c, T d) {
  const T first = mean(a, b), second = mean(c, d);
  const auto excess = static_cast<T>(((a ^ b) | (c ^ d)) & (first ^ second) & 1);
  return static_cast<T>(mean(first, second) - excess);
}

template <class T>
DALIESQUE_INLINE T distance(T a, T b) {
  return static_cast<T>(a > b ? a - b : b - a);
}

/// `a` where the mask is set, otherwise `b`.
template <class T>
DALIESQUE_INLINE T choose(T mask, T a, T b) {
  return static_cast<T>((a & mask) | (b & static_cast<T>(~mask)));
}

/// An unsigned type that holds sums of four values.
template <class T>
using Sum = std::conditional_t<sizeof(T) == 1, uint16_t, uint32_t>;

/// Pixels [begin, end) of a row.
template <class T, bool along_edges>
DALIESQUE_INLINE void interpolate_part(const ColorRows<T>& out, const SensorRows<T>& in,
                                       int64_t begin, int64_t end) {
  const T *above = in.above, *here = in.here, *below = in.below;
  const T* is_green = in.green;
  T *green = out.green, *own = out.own, *other = out.other;
  DALIESQUE_NO_OVERLAP
  for (int64_t x = begin; x < end; x++) {
    const T left = here[x - 1], right = here[x + 1], up = above[x], down = below[x];
    const T sideways = mean(left, right), upright = mean(up, down);
    const T diagonal = mean(above[x - 1], above[x + 1], below[x - 1], below[x + 1]);
    T cross;
    if constexpr (along_edges) {
      cross = distance(left, right) > distance(up, down) ? upright : sideways;
    } else {
      cross = mean(left, right, up, down);
    }
    const T mask = is_green[x];
    green[x] = choose(mask, here[x], cross);
    own[x] = choose(mask, sideways, here[x]);
    other[x] = choose(mask, upright, diagonal);
  }
}

template <class T, bool along_edges>
void interpolate(const ColorRows<T>& out, const SensorRows<T>& in) {
  constexpr int64_t kStep = 32;
  const int64_t last = in.width - 1;
  if (last <= kStep) return interpolate_part<T, along_edges>(out, in, 1, last);
  int64_t x = 1;
  for (; x + kStep <= last; x += kStep) interpolate_part<T, along_edges>(out, in, x, x + kStep);
  // The last ones once more together with those before them, rather than one by one.
  interpolate_part<T, along_edges>(out, in, last - kStep, last);
}

}  // namespace

template <class T>
void interpolate_row(const ColorRows<T>& out, const SensorRows<T>& in, bool along_edges) {
  if (along_edges) {
    interpolate<T, true>(out, in);
  } else {
    interpolate<T, false>(out, in);
  }
}

template <class T>
void gray_row(T* out, const SensorRows<T>& in, const GrayWeights& weights) {
  const T *above = in.above, *here = in.here, *below = in.below;
  const T* is_green = in.green;
  const uint32_t green = weights.green, own = weights.own, other = weights.other;
  const int64_t last = in.width - 1;
  DALIESQUE_NO_OVERLAP
  for (int64_t x = 1; x < last; x++) {
    const Sum<T> sideways = static_cast<Sum<T>>(here[x - 1] + here[x + 1]);
    const Sum<T> upright = static_cast<Sum<T>>(above[x] + below[x]);
    const Sum<T> diagonal =
        static_cast<Sum<T>>(above[x - 1] + above[x + 1] + below[x - 1] + below[x + 1]);
    const auto cross = static_cast<Sum<T>>(sideways + upright);
    const auto fourfold = static_cast<Sum<T>>(4 * here[x]);
    const auto mask = static_cast<Sum<T>>(is_green[x] ? ~Sum<T>{0} : 0);
    // Of each color, as much as of four pixels.
    const uint32_t others = choose(mask, static_cast<Sum<T>>(2 * upright), diagonal);
    const uint32_t owns = choose(mask, static_cast<Sum<T>>(2 * sideways), fourfold);
    const uint32_t greens = choose(mask, fourfold, cross);
    const uint32_t sum = other * others + own * owns + green * greens;
    out[x] = static_cast<T>((sum + (1 << 15)) >> 16);
  }
}

void find_gradients(const GradientRow& out, const uint16_t* above, const uint16_t* here,
                    const uint16_t* below, int64_t width) {
  uint16_t *vertical = out.vertical, *horizontal = out.horizontal;
  uint16_t *rising = out.rising, *falling = out.falling;
  uint16_t *rising_close = out.rising_close, *around = out.around;
  uint16_t* falling_close = out.falling_close;
  DALIESQUE_NO_OVERLAP
  for (int64_t x = 1; x + 1 < width; x++) {
    const uint16_t nw = above[x - 1], n = above[x], ne = above[x + 1];
    const uint16_t w = here[x - 1], e = here[x + 1];
    const uint16_t sw = below[x - 1], s = below[x], se = below[x + 1];
    const auto up = static_cast<uint16_t>(2 * distance(ne, sw));
    const auto down = static_cast<uint16_t>(2 * distance(nw, se));
    vertical[x] = static_cast<uint16_t>(distance(nw, sw) + 2 * distance(n, s) + distance(ne, se));
    horizontal[x] = static_cast<uint16_t>(distance(nw, ne) + 2 * distance(w, e) + distance(sw, se));
    rising[x] = up;
    falling[x] = down;
    rising_close[x] = static_cast<uint16_t>(up + distance(n, w) + distance(s, e));
    falling_close[x] = static_cast<uint16_t>(down + distance(n, e) + distance(s, w));
    around[x] = static_cast<uint16_t>((n + w + e + s) >> 1);
  }
}

namespace {

constexpr int64_t kDebayerBlock = 256;

/// Twice the sums of each color over the directions with small gradients, as differences from
/// those of the pixel's own color; and how many directions there are.
struct Differences {
  int16_t first[kDebayerBlock], second[kDebayerBlock], count[kDebayerBlock];
};

/// `first` is green where the pixel is not, otherwise the color of the row.
void add_directions(Differences& out, const GradientWindow& in, int64_t begin, int64_t count) {
  using U = uint16_t;
  using Row = const U*;
  const GradientRow &above = in.gradients[0], &here = in.gradients[1], &below = in.gradients[2];
  Row r0 = in.rows[0] + begin, r1 = in.rows[1] + begin, r2 = in.rows[2] + begin;
  Row r3 = in.rows[3] + begin, r4 = in.rows[4] + begin, green = in.green + begin;
  Row v0 = above.vertical + begin, v1 = here.vertical + begin, v2 = below.vertical + begin;
  Row h1 = here.horizontal + begin;
  Row p0 = above.rising + begin, p1 = here.rising + begin, p2 = below.rising + begin;
  Row q0 = above.falling + begin, q1 = here.falling + begin, q2 = below.falling + begin;
  Row pc0 = above.rising_close + begin, pc1 = here.rising_close + begin;
  Row pc2 = below.rising_close + begin, qc0 = above.falling_close + begin;
  Row qc1 = here.falling_close + begin, qc2 = below.falling_close + begin;
  Row a0 = above.around + begin, a2 = below.around + begin;
  int16_t *firsts = out.first, *seconds = out.second;
  int16_t* counts = out.count;
  const auto plus = [](auto... values) { return static_cast<U>((values + ...)); };
  DALIESQUE_NO_OVERLAP
  for (int64_t x = 0; x < count; x++) {
    const U m = green[x], c = r2[x];
    const U n = plus(v0[x], v1[x]), s = plus(v1[x], v2[x]);
    const U w = plus(h1[x - 1], h1[x]), e = plus(h1[x], h1[x + 1]);
    const U ne = choose(m, plus(p0[x], p0[x + 1], p1[x], p1[x + 1]), plus(pc0[x + 1], pc1[x]));
    const U sw = choose(m, plus(p1[x], p1[x - 1], p2[x], p2[x - 1]), plus(pc1[x], pc2[x - 1]));
    const U nw = choose(m, plus(q0[x], q0[x - 1], q1[x], q1[x - 1]), plus(qc0[x - 1], qc1[x]));
    const U se = choose(m, plus(q1[x], q1[x + 1], q2[x], q2[x + 1]), plus(qc1[x], qc2[x + 1]));
    const auto lower = [](U a, U b) { return a < b ? a : b; };
    const auto higher = [](U a, U b) { return a > b ? a : b; };
    const U least = lower(lower(lower(n, s), lower(w, e)), lower(lower(ne, sw), lower(nw, se)));
    const U most =
        higher(higher(higher(n, s), higher(w, e)), higher(higher(ne, sw), higher(nw, se)));
    const U half = static_cast<U>(most >> 1);
    const U limit = plus(least, higher(half, U{1}));
    U own = 0, first = 0, second = 0, directions = 0;
    const auto add = [&](U gradient, U same, U near, U far) {
      const U mask = gradient < limit ? U{0xffff} : U{0};
      own = plus(own, static_cast<U>(same & mask));
      first = plus(first, static_cast<U>(near & mask));
      second = plus(second, static_cast<U>(far & mask));
      directions = plus(directions, static_cast<U>(mask & 1));
    };
    const auto twice = [](U value) { return static_cast<U>(value << 1); };
    add(n, plus(r0[x], c), choose(m, plus(r0[x - 1], r0[x + 1]), twice(r1[x])),
        choose(m, twice(r1[x]), plus(r1[x - 1], r1[x + 1])));
    add(s, plus(r4[x], c), choose(m, plus(r4[x - 1], r4[x + 1]), twice(r3[x])),
        choose(m, twice(r3[x]), plus(r3[x - 1], r3[x + 1])));
    add(w, plus(r2[x - 2], c), twice(r2[x - 1]),
        choose(m, plus(r1[x - 2], r3[x - 2]), plus(r1[x - 1], r3[x - 1])));
    add(e, plus(r2[x + 2], c), twice(r2[x + 1]),
        choose(m, plus(r1[x + 2], r3[x + 2]), plus(r1[x + 1], r3[x + 1])));
    add(ne, choose(m, twice(r1[x + 1]), plus(r0[x + 2], c)),
        choose(m, plus(r0[x + 1], r2[x + 1]), a0[x + 1]),
        choose(m, plus(r1[x], r1[x + 2]), twice(r1[x + 1])));
    add(sw, choose(m, twice(r3[x - 1]), plus(r4[x - 2], c)),
        choose(m, plus(r4[x - 1], r2[x - 1]), a2[x - 1]),
        choose(m, plus(r3[x], r3[x - 2]), twice(r3[x - 1])));
    add(nw, choose(m, twice(r1[x - 1]), plus(r0[x - 2], c)),
        choose(m, plus(r0[x - 1], r2[x - 1]), a0[x - 1]),
        choose(m, plus(r1[x], r1[x - 2]), twice(r1[x - 1])));
    add(se, choose(m, twice(r3[x + 1]), plus(r4[x + 2], c)),
        choose(m, plus(r4[x + 1], r2[x + 1]), a2[x + 1]),
        choose(m, plus(r3[x], r3[x + 2]), twice(r3[x + 1])));
    firsts[x] = static_cast<int16_t>(first - own);
    seconds[x] = static_cast<int16_t>(second - own);
    counts[x] = static_cast<int16_t>(directions);
  }
}

DALIESQUE_INLINE uint8_t shifted(int32_t from, float difference) {
  // Adding this leaves no bits for a fraction: it rounds to the nearest integer, halves to even.
  constexpr float kNoFraction = 0x1.8p23f;
  const int32_t value = from + static_cast<int32_t>((difference + kNoFraction) - kNoFraction);
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

}  // namespace

void follow_gradients(const ColorRows<uint8_t>& out, const GradientWindow& in) {
  Differences differences;
  for (int64_t first = 0; first < in.width - 4; first += kDebayerBlock) {
    const int64_t count =
        in.width - 4 - first < kDebayerBlock ? in.width - 4 - first : kDebayerBlock;
    add_directions(differences, in, first + 2, count);
    const uint16_t *here = in.rows[2] + first + 2, *mask = in.green + first + 2;
    uint8_t* green = out.green + first;
    uint8_t* own = out.own + first;
    uint8_t* other = out.other + first;
    DALIESQUE_NO_OVERLAP
    for (int64_t x = 0; x < count; x++) {
      const float scale = 0.5f / static_cast<float>(differences.count[x]);
      const auto self = static_cast<uint8_t>(here[x]), is_green = static_cast<uint8_t>(mask[x]);
      const uint8_t near = shifted(here[x], static_cast<float>(differences.first[x]) * scale);
      green[x] = choose(is_green, self, near);
      own[x] = choose(is_green, near, self);
      other[x] = shifted(here[x], static_cast<float>(differences.second[x]) * scale);
    }
  }
}

template void interpolate_row(const ColorRows<uint8_t>&, const SensorRows<uint8_t>&, bool);
template void interpolate_row(const ColorRows<uint16_t>&, const SensorRows<uint16_t>&, bool);
template void gray_row(uint8_t*, const SensorRows<uint8_t>&, const GrayWeights&);
template void gray_row(uint16_t*, const SensorRows<uint16_t>&, const GrayWeights&);

}  // namespace daliesque::image::DALIESQUE_ISA
