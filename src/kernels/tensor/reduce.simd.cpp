// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <type_traits>

#include "tensor/reduce_loops.h"

namespace daliesque::tensor::DALIESQUE_ISA {

namespace {

template <class T>
constexpr bool is_small = std::is_integral_v<T> && sizeof(T) <= 2;

/// Columns of two to four channels have loops of their own; types of 64 bits are not worth the time
/// to compile them.
template <class T>
constexpr bool is_narrow = sizeof(T) <= 4;

/// Small integers are added up in twice their bits.
template <class T>
using Wider =
    std::conditional_t<sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, int16_t, uint16_t>,
                       std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>;

/// A term: `Lane` collects up to kLaneRows values, `Total` any number of lanes.
template <class T>
struct Whole {
  using In = T;
  using Total = uint64_t;
  using Lane = std::conditional_t<is_small<T>, Wider<T>, uint64_t>;
  static constexpr int64_t kLaneRows = sizeof(T) == 1 ? 256 : 32768;
  static constexpr bool kNeedsMean = false;
  static constexpr Lane start() { return 0; }
  DALIESQUE_INLINE static Lane add(Lane lane, In x, float) {
    return static_cast<Lane>(lane + static_cast<Lane>(x));
  }
  // A negative lane is extended to 64 bits with its sign.
  DALIESQUE_INLINE static Total join(Total total, Lane lane) {
    return total + static_cast<Total>(lane);
  }
};

template <class T>
struct WholeSquare : Whole<T> {
  // The square of a 16-bit number takes all 32 bits.
  using Lane = std::conditional_t<sizeof(T) == 1, uint32_t, uint64_t>;
  static constexpr int64_t kLaneRows = 32768;
  static constexpr Lane start() { return 0; }
  DALIESQUE_INLINE static Lane add(Lane lane, T x, float) {
    return lane + static_cast<Lane>(static_cast<Lane>(x) * static_cast<Lane>(x));
  }
  DALIESQUE_INLINE static uint64_t join(uint64_t total, Lane lane) { return total + lane; }
};

template <class T>
struct Real {
  using In = T;
  using Total = double;
  using Lane = double;
  static constexpr int64_t kLaneRows = 32768;
  static constexpr bool kNeedsMean = false;
  static constexpr Lane start() { return 0; }
  DALIESQUE_INLINE static Lane add(Lane lane, In x, float) { return lane + static_cast<double>(x); }
  DALIESQUE_INLINE static Total join(Total total, Lane lane) { return total + lane; }
};

/// Floats are added four at a time before they become doubles, which takes longer than adding them.
template <class T>
struct RealQuad : Real<T> {
  DALIESQUE_INLINE static double add_four(double lane, T a, T b, T c, T d) {
    return lane + static_cast<double>((a + b) + (c + d));
  }
};

template <class T>
struct RealSquare : Real<T> {
  DALIESQUE_INLINE static double add(double lane, T x, float) {
    return lane + static_cast<double>(x) * static_cast<double>(x);
  }
};

template <class T>
struct Deviation : Real<T> {
  static constexpr bool kNeedsMean = true;
  DALIESQUE_INLINE static double add(double lane, T x, float mean) {
    const float difference = static_cast<float>(x) - mean;
    return lane + static_cast<double>(difference * difference);
  }
};

template <class T>
struct Lowest {
  using In = T;
  using Total = T;
  using Lane = T;
  static constexpr int64_t kLaneRows = 32768;
  static constexpr bool kNeedsMean = false;
  static constexpr Lane start() {
    return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::max();
  }
  DALIESQUE_INLINE static Lane add(Lane lane, In x, float) { return x < lane ? x : lane; }
  DALIESQUE_INLINE static Total join(Total total, Lane lane) { return add(total, lane, 0); }
};

template <class T>
struct Highest : Lowest<T> {
  static constexpr T start() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::lowest();
  }
  DALIESQUE_INLINE static T add(T lane, T x, float) { return x > lane ? x : lane; }
  DALIESQUE_INLINE static T join(T total, T lane) { return add(total, lane, 0); }
};

template <class Op>
constexpr bool adds_four =
    requires(typename Op::Lane lane, typename Op::In x) { Op::add_four(lane, x, x, x, x); };

/// Adds values of four rows that lie `stride` apart.
template <class Op>
DALIESQUE_INLINE typename Op::Lane add_four(typename Op::Lane lane, const typename Op::In* in,
                                            int64_t stride, float mean) {
  const auto a = in[0], b = in[stride], c = in[2 * stride], d = in[3 * stride];
  if constexpr (adds_four<Op>) {
    return Op::add_four(lane, a, b, c, d);
  } else {
    return Op::add(Op::add(Op::add(Op::add(lane, a, mean), b, mean), c, mean), d, mean);
  }
}

/// Joins lanes that belong to `kColumns` columns in turn.
template <class Op, int kColumns, int64_t kLanes>
DALIESQUE_INLINE void join_lanes(typename Op::Total* totals,
                                 const typename Op::Lane (&lanes)[kLanes]) {
  if constexpr (std::is_floating_point_v<typename Op::Lane>) {
    // In halves: one after the other, each addition would wait for the one before.
    typename Op::Lane halves[kLanes / 2];
    for (int64_t k = 0; k < kLanes / 2; k++) halves[k] = Op::join(lanes[k], lanes[k + kLanes / 2]);
#pragma GCC unroll 8
    for (int64_t half = kLanes / 4; half >= kColumns; half /= 2) {
      for (int64_t k = 0; k < half; k++) halves[k] = Op::join(halves[k], halves[k + half]);
    }
    for (int c = 0; c < kColumns; c++) totals[c] = Op::join(totals[c], halves[c]);
  } else {
    for (int64_t k = 0; k < kLanes; k++) {
      totals[k % kColumns] = Op::join(totals[k % kColumns], lanes[k]);
    }
  }
}

/// A row, in as many lanes as fill the vector registers well.
template <class Op>
typename Op::Total reduce_row(const typename Op::In* __restrict in, int64_t length, float mean,
                              typename Op::Total total) {
  using Lane = typename Op::Lane;
  constexpr int64_t kLanes = 128 / sizeof(Lane);
  while (length >= kLanes) {
    const int64_t whole = length / kLanes, rows = whole < Op::kLaneRows ? whole : Op::kLaneRows;
    Lane lanes[kLanes];
    for (int64_t k = 0; k < kLanes; k++) lanes[k] = Op::start();
    int64_t r = 0;
    for (; adds_four<Op> && r + 4 <= rows; r += 4) {
      for (int64_t k = 0; k < kLanes; k++) lanes[k] = add_four<Op>(lanes[k], in + k, kLanes, mean);
      in += 4 * kLanes;
    }
    for (; r < rows; r++) {
      for (int64_t k = 0; k < kLanes; k++) lanes[k] = Op::add(lanes[k], in[k], mean);
      in += kLanes;
    }
    join_lanes<Op, 1>(&total, lanes);
    length -= rows * kLanes;
  }
  Lane rest = Op::start();
  for (int64_t k = 0; k < length; k++) rest = Op::add(rest, in[k], mean);
  return Op::join(total, rest);
}

/// Very short rows, e.g. the channels of pixels: here the loop over the rows is vectorized.
template <class Op, int kLength>
void reduce_short_rows(typename Op::Total* __restrict totals, const typename Op::In* __restrict in,
                       int64_t groups, const float* __restrict means) {
  for (int64_t g = 0; g < groups; g++) {
    typename Op::Lane lane = Op::start();
    const float mean = Op::kNeedsMean ? means[g] : 0.0f;
    const typename Op::In* const row = in + g * kLength;
    // Written out, since only a loop without a loop inside is vectorized.
    lane = Op::add(lane, row[0], mean);
    if constexpr (kLength > 1) lane = Op::add(lane, row[1], mean);
    if constexpr (kLength > 2) lane = Op::add(lane, row[2], mean);
    if constexpr (kLength > 3) lane = Op::add(lane, row[3], mean);
    totals[g] = Op::join(totals[g], lane);
  }
}

template <class Op>
void reduce_rows(void* totals, const void* in, int64_t groups, int64_t length, const float* means) {
  auto* to = static_cast<typename Op::Total*>(totals);
  const auto* from = static_cast<const typename Op::In*>(in);
  if (length == 1) return reduce_short_rows<Op, 1>(to, from, groups, means);
  if (length == 2) return reduce_short_rows<Op, 2>(to, from, groups, means);
  if (length == 3) return reduce_short_rows<Op, 3>(to, from, groups, means);
  if (length == 4) return reduce_short_rows<Op, 4>(to, from, groups, means);
  for (int64_t g = 0; g < groups; g++) {
    to[g] = reduce_row<Op>(from + g * length, length, Op::kNeedsMean ? means[g] : 0.0f, to[g]);
  }
}

/// Rows of this many bytes are long enough to be read side by side. Shorter ones come from memory
/// much faster one after the other; if all of them are so few bytes, they are likely to be in
/// cache.
constexpr int64_t kLongRowBytes = 4096, kNearBytes = 1 << 18;

/// Columns that fit into the lanes, eight rows at a time where that is faster, since lanes live in
/// memory. Each call does much work, so that one copy for all callers is as fast and much quicker
/// to compile.
template <class Op>
[[gnu::noinline]] void reduce_narrow(typename Op::Lane* __restrict lanes,
                                     const typename Op::In* __restrict in, int64_t rows,
                                     int64_t columns, int64_t stride,
                                     const float* __restrict means) {
  for (int64_t c = 0; c < columns; c++) lanes[c] = Op::start();
  const int64_t bytes = columns * static_cast<int64_t>(sizeof(typename Op::In));
  const bool side_by_side = bytes >= kLongRowBytes || bytes * rows <= kNearBytes;
  int64_t r = 0;
  for (; side_by_side && r + 8 <= rows; r += 8) {
    const auto *row = in + r * stride, *next = row + 4 * stride;
    for (int64_t c = 0; c < columns; c++) {
      const float mean = Op::kNeedsMean ? means[c] : 0.0f;
      lanes[c] =
          add_four<Op>(add_four<Op>(lanes[c], row + c, stride, mean), next + c, stride, mean);
    }
  }
  for (; side_by_side && r + 4 <= rows; r += 4) {
    const auto* row = in + r * stride;
    for (int64_t c = 0; c < columns; c++) {
      lanes[c] = add_four<Op>(lanes[c], row + c, stride, Op::kNeedsMean ? means[c] : 0.0f);
    }
  }
  for (; r < rows; r++) {
    for (int64_t c = 0; c < columns; c++) {
      lanes[c] = Op::add(lanes[c], in[r * stride + c], Op::kNeedsMean ? means[c] : 0.0f);
    }
  }
}

/// Dense columns, e.g. the channels of pixels: as many rows at a time as make the lanes fill a few
/// vector registers. Returns how many rows were added.
template <class Op, int kColumns>
int64_t reduce_few_columns(typename Op::Total* __restrict totals,
                           const typename Op::In* __restrict in, int64_t rows,
                           const float* __restrict means) {
  using Lane = typename Op::Lane;
  constexpr int64_t kTimes = 64 / sizeof(Lane), kLanes = kTimes * kColumns;
  float repeated[kLanes];
  for (int64_t k = 0; Op::kNeedsMean && k < kLanes; k++) repeated[k] = means[k % kColumns];
  int64_t done = 0;
  while (rows - done >= kTimes) {
    const int64_t fit = (rows - done) / kTimes, count = fit < Op::kLaneRows ? fit : Op::kLaneRows;
    Lane lanes[kLanes];
    for (int64_t k = 0; k < kLanes; k++) lanes[k] = Op::start();
    int64_t r = 0;
    for (; adds_four<Op> && r + 4 <= count; r += 4) {
      for (int64_t k = 0; k < kLanes; k++) lanes[k] = add_four<Op>(lanes[k], in + k, kLanes, 0);
      in += 4 * kLanes;
    }
    for (; r < count; r++) {
      for (int64_t k = 0; k < kLanes; k++) {
        lanes[k] = Op::add(lanes[k], in[k], Op::kNeedsMean ? repeated[k] : 0.0f);
      }
      in += kLanes;
    }
    join_lanes<Op, kColumns>(totals, lanes);
    done += count * kTimes;
  }
  return done;
}

/// So many lanes fit into the first cache.
template <class Op>
constexpr int64_t kMostLanes = 16384 / sizeof(typename Op::Lane);
/// Dense rows shorter than this are taken several at a time, for the sake of vectorization.
constexpr int64_t kShortRow = 96;

template <class Op>
void reduce_columns(void* totals, const void* in, int64_t rows, int64_t columns, int64_t stride,
                    const float* means) {
  using Lane = typename Op::Lane;
  auto* to = static_cast<typename Op::Total*>(totals);
  const auto* from = static_cast<const typename Op::In*>(in);
  alignas(64) Lane lanes[kMostLanes<Op>];
  int64_t done = 0;
  if constexpr (is_narrow<typename Op::In>) {
    if (columns == stride) {
      done = columns == 2   ? reduce_few_columns<Op, 2>(to, from, rows, means)
             : columns == 3 ? reduce_few_columns<Op, 3>(to, from, rows, means)
             : columns == 4 ? reduce_few_columns<Op, 4>(to, from, rows, means)
                            : 0;
      rows -= done;
      from += done * columns;
    }
  }
  if (done == 0 && columns == stride && columns < kShortRow) {
    const int64_t times = (2 * kShortRow + columns - 1) / columns, width = times * columns;
    float repeated[3 * kShortRow];
    for (int64_t c = 0; Op::kNeedsMean && c < width; c++) repeated[c] = means[c % columns];
    while (rows >= times) {
      const int64_t fit = rows / times, count = fit < Op::kLaneRows ? fit : Op::kLaneRows;
      reduce_narrow<Op>(lanes, from, count, width, width, repeated);
      for (int64_t t = 0; t < times; t++) {
        for (int64_t c = 0; c < columns; c++) to[c] = Op::join(to[c], lanes[t * columns + c]);
      }
      rows -= count * times;
      from += count * width;
    }
  }
  for (int64_t first = 0; first < columns; first += kMostLanes<Op>) {
    const int64_t rest = columns - first, width = rest < kMostLanes<Op> ? rest : kMostLanes<Op>;
    for (int64_t r = 0; r < rows; r += Op::kLaneRows) {
      const int64_t count = rows - r < Op::kLaneRows ? rows - r : Op::kLaneRows;
      reduce_narrow<Op>(lanes, from + first + r * stride, count, width, stride,
                        Op::kNeedsMean ? means + first : nullptr);
      for (int64_t c = 0; c < width; c++) to[first + c] = Op::join(to[first + c], lanes[c]);
    }
  }
}

template <template <class> class Op, class T>
constexpr ReduceLoops loops_of = {&reduce_rows<Op<T>>, &reduce_columns<Op<T>>};

/// The loops for one of the given types; none for others.
template <template <class> class Op, class... Ts>
ReduceLoops find_among(DType in) {
  ReduceLoops found{};
  ((in == dtype_of<Ts> ? void(found = loops_of<Op, Ts>) : void()), ...);
  return found;
}

template <template <class> class Op>
ReduceLoops find_number(DType in) {
  return find_among<Op, uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t,
                    float>(in);
}

}  // namespace

ReduceLoops find_reduce_loops(Term term, DType in) {
  switch (term) {
    case Term::whole:
      // Modulo 2^64 the sign does not matter.
      if (in == DType::int64) in = DType::uint64;
      return find_among<Whole, uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t>(in);
    case Term::real:
      return find_among<Real, uint64_t, int64_t, float>(in);
    case Term::real_quad:
      return find_among<RealQuad, float>(in);
    case Term::whole_square:
      return find_among<WholeSquare, uint8_t, uint16_t, int8_t, int16_t>(in);
    case Term::real_square:
      return find_among<RealSquare, uint32_t, uint64_t, int32_t, int64_t, float>(in);
    case Term::deviation:
      return find_number<Deviation>(in);
    case Term::lowest:
      return find_number<Lowest>(in);
    case Term::highest:
      return find_number<Highest>(in);
  }
  return {};
}

}  // namespace daliesque::tensor::DALIESQUE_ISA
