// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "core/saturate.h"
#include "random/draws.h"
#include "random/random_loops.h"
#ifdef __AVX2__
#include "random/rounded_functions.simd.h"
#endif

namespace daliesque::random::DALIESQUE_ISA {

namespace {

template <class Real>
void draw_one_by_one(Real* out, const uint32_t* words, int64_t begin, int64_t end, Real mean,
                     Real stddev) {
  for (int64_t i = begin; i < end; i++) out[i] = drawn_normal<Real>(words, i, mean, stddev);
}

#ifdef __AVX2__

DALIESQUE_INLINE Words load(const uint32_t* from) {
  Words words;
  std::memcpy(&words, from, sizeof words);
  return words;
}

DALIESQUE_INLINE Floats to_unit(Words words) {
  return __builtin_convertvector(words, Floats) * 0x1p-32f;
}

/// Draws those again that begin with a zero, of which there is no logarithm.
template <class Real>
void draw_zeros(Real* out, const uint32_t* words, int64_t count, Real mean, Real stddev) {
  for (int64_t i = 0; i < count; i++) {
    if (drawn<Real>(words, i, 0) == 0) out[i] = drawn_normal<Real>(words, i, mean, stddev);
  }
}

/// Draws as many as whole vectors hold, and says how many.
int64_t draw_vectors(float* out, const uint32_t* words, int64_t count, float mean, float stddev) {
  const int64_t whole = count - count % kLanes;
  Ints zeros = {};
  for (int64_t i = 0; i < whole; i += kLanes) {
    const Words first = load(words + i), second = load(words + kPhiloxTile + i);
    zeros |= first == 0;
    const Floats radius = square_root(-2 * library_log(to_unit(first)));
    const Floats normal = radius * library_cosine(to_unit(second));
    const Floats value = fused(normal, stddev - Floats{}, mean - Floats{});
    std::memcpy(out + i, &value, sizeof value);
  }
  bool any_zero = false;
  for (int lane = 0; lane < kLanes; lane++) any_zero |= zeros[lane] != 0;
  if (any_zero) draw_zeros(out, words, whole, mean, stddev);
  return whole;
}

/// Number k of elements, from words of 32 bits, the lower one first.
DALIESQUE_INLINE Doubles to_unit(const uint32_t* words, int k) {
  const Doubles low = __builtin_convertvector(load(words + 2 * k * kPhiloxTile), Doubles);
  const Doubles high = __builtin_convertvector(load(words + (2 * k + 1) * kPhiloxTile), Doubles);
  return (high * 0x1p32 + low) * 0x1p-64;
}

/// Doubtful elements of a tile: a byte for each vector, with a bit for each lane.
struct Doubts {
  uint8_t lanes[kPhiloxTile / kLanes] = {};

  /// Calls the function again for these elements. Takes 8 vectors at a time, because the end of
  /// each loop over bits is hard to foresee.
  template <class Function>
  DALIESQUE_INLINE void repeat(double* values, Function&& function) const {
    for (int64_t vector = 0; vector < kPhiloxTile / kLanes; vector += 8) {
      uint64_t bits;
      std::memcpy(&bits, lanes + vector, sizeof bits);
      for (; bits != 0; bits &= bits - 1) {
        const int bit = __builtin_ctzll(bits);
        const int64_t element = (vector + bit / 8) * kLanes + bit % 8;
        values[element] = function(element);
      }
    }
  }
};

/// If a double is nearer than this to the exact result, in units in the last place, the C library
/// finds it as well: in 5 * 10^9 draws, glibc's functions were never wrong by more than 0.52 units.
constexpr double kSure = 0.47;

int64_t draw_vectors(double* out, const uint32_t* words, int64_t count, double mean,
                     double stddev) {
  const int64_t whole = count - count % kLanes;
  double logs[kPhiloxTile], cosines[kPhiloxTile];
  Doubts log_doubts, cosine_doubts;
  uint32_t any_zero = 0;
  for (int64_t i = 0; i < whole; i += kLanes) {
    const Doubles first = to_unit(words + i, 0);
    const Rounded log = rounded_log(first), cosine = rounded_cosine(to_unit(words + i, 1));
    const uint32_t is_one = lanes_above(first, repeat(1 - 0x1p-53));
    const uint32_t is_small = lanes_above(repeat(0x1p-40), magnitude(cosine.value));
    any_zero |= lanes_above(repeat(0x1p-70), first);
    log_doubts.lanes[i / kLanes] = static_cast<uint8_t>(doubtful_lanes(log, kSure) | is_one);
    cosine_doubts.lanes[i / kLanes] =
        static_cast<uint8_t>(doubtful_lanes(cosine, kSure) | is_small);
    std::memcpy(logs + i, &log.value, sizeof log.value);
    std::memcpy(cosines + i, &cosine.value, sizeof cosine.value);
  }
  const auto unit = [&](int64_t i, int k) { return drawn<double>(words, i, k) * 0x1p-64; };
  log_doubts.repeat(logs, [&](int64_t i) { return ::log(unit(i, 0)); });
  cosine_doubts.repeat(cosines, [&](int64_t i) { return ::cos(2 * M_PI * unit(i, 1)); });
  for (int64_t i = 0; i < whole; i++) {
    out[i] = fused(__builtin_sqrt(-2 * logs[i]) * cosines[i], stddev, mean);
  }
  if (any_zero) draw_zeros(out, words, whole, mean, stddev);
  return whole;
}

/// Whether the C library of this computer gives the numbers that vectors give. One that rounds all
/// results correctly differs in one of a hundred.
template <class Real>
bool compare_with_library() {
  constexpr int64_t kTiles = 16;
  constexpr int kDraws = 2 * sizeof(Real) / sizeof(uint32_t);
  uint32_t words[kDraws * kPhiloxTile];
  Real found[kPhiloxTile], expected[kPhiloxTile];
  for (int64_t tile = 0; tile < kTiles; tile++) {
    DALIESQUE_ISA::philox_words(words, PhiloxState{}, tile * kPhiloxTile, kPhiloxTile, kDraws);
    draw_vectors(found, words, kPhiloxTile, 0, 1);
    draw_one_by_one<Real>(expected, words, 0, kPhiloxTile, 0, 1);
    if (std::memcmp(found, expected, sizeof found) != 0) return false;
  }
  return true;
}

/// compare_with_library(), once. Threads may do it at the same time, and find the same.
template <class Real>
bool agrees_with_library() {
  enum Answer : int { kUnknown, kYes, kNo };
  static int answer = kUnknown;
  int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
  if (known == kUnknown) {
    known = compare_with_library<Real>() ? kYes : kNo;
    __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
  }
  return known == kYes;
}

#endif

template <class Real>
void draw(Real* out, const uint32_t* words, int64_t count, Real mean, Real stddev) {
  int64_t done = 0;
#ifdef __AVX2__
  if (agrees_with_library<Real>()) done = draw_vectors(out, words, count, mean, stddev);
#endif
  draw_one_by_one(out, words, done, count, mean, stddev);
}

}  // namespace

void normals(float* out, const uint32_t* words, int64_t count, float mean, float stddev) {
  draw(out, words, count, mean, stddev);
}

void normals(double* out, const uint32_t* words, int64_t count, double mean, double stddev) {
  draw(out, words, count, mean, stddev);
}

}  // namespace daliesque::random::DALIESQUE_ISA
