// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "core/saturate.h"
#include "random/draws.h"
#include "random/random_loops.h"
#ifdef __AVX2__
#include "random/library_functions.simd.h"
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
  // Zero has no logarithm.
  for (int64_t i = 0; any_zero && i < whole; i++) {
    if (words[i] == 0) out[i] = drawn_normal<float>(words, i, mean, stddev);
  }
  return whole;
}

/// Whether the C library of this computer gives the numbers that vectors give. One that rounds all
/// results correctly differs in one of a hundred.
bool compare_with_library() {
  constexpr int64_t kTiles = 16;
  uint32_t words[2 * kPhiloxTile];
  float found[kPhiloxTile], expected[kPhiloxTile];
  for (int64_t tile = 0; tile < kTiles; tile++) {
    DALIESQUE_ISA::philox_words(words, PhiloxState{}, tile * kPhiloxTile, kPhiloxTile, 2);
    draw_vectors(found, words, kPhiloxTile, 0, 1);
    draw_one_by_one<float>(expected, words, 0, kPhiloxTile, 0, 1);
    if (std::memcmp(found, expected, sizeof found) != 0) return false;
  }
  return true;
}

/// compare_with_library(), once. Threads may do it at the same time, and find the same.
bool agrees_with_library() {
  enum Answer : int { kUnknown, kYes, kNo };
  static int answer = kUnknown;
  int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
  if (known == kUnknown) {
    known = compare_with_library() ? kYes : kNo;
    __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
  }
  return known == kYes;
}

#endif

}  // namespace

void normals(float* out, const uint32_t* words, int64_t count, float mean, float stddev) {
  int64_t done = 0;
#ifdef __AVX2__
  if (agrees_with_library()) done = draw_vectors(out, words, count, mean, stddev);
#endif
  draw_one_by_one(out, words, done, count, mean, stddev);
}

void normals(double* out, const uint32_t* words, int64_t count, double mean, double stddev) {
  draw_one_by_one(out, words, 0, count, mean, stddev);
}

}  // namespace daliesque::random::DALIESQUE_ISA
