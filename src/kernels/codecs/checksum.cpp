// SPDX-License-Identifier: Apache-2.0
#include "codecs/checksum.h"

#include <cstddef>

#include "core/crc.h"
#include "core/simd.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define DALIESQUE_CARRYLESS 1
#endif

namespace daliesque::codecs {

namespace {

constexpr uint32_t kPolynomial = 0xedb88320;  // bits reversed

constexpr CrcTables kCrcTables = make_crc_tables(kPolynomial);

uint32_t update_by_tables(uint32_t crc, const uint8_t* data, size_t size) {
  return update_crc(kCrcTables, crc, data, size);
}

#ifdef DALIESQUE_CARRYLESS

constexpr size_t kLane = 16, kLanes = 4;

/// x to the given power modulo the polynomial, bits reversed, as a factor that moves 64 bits.
constexpr int64_t fold_factor(size_t power) {
  uint32_t value = 0x80000000;  // 1
  for (size_t k = 0; k < power; k++) value = (value >> 1) ^ (value & 1 ? kPolynomial : 0);
  return static_cast<int64_t>(uint64_t{value} << 1);
}

/// The factors that move the two halves of a lane over `bytes` bytes.
template <size_t bytes>
struct FoldFactors {
  static constexpr int64_t low = fold_factor(8 * bytes + 32), high = fold_factor(8 * bytes - 32);
};

[[gnu::target("pclmul,sse4.1")]] __m128i fold(__m128i lane, __m128i factors, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(lane, factors, 0x00);
  const __m128i high = _mm_clmulepi64_si128(lane, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

[[gnu::target("pclmul,sse4.1")]] __m128i load_lane(const uint8_t* data) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}

/// Moves four lanes over the data. What is left of them at the end has the same checksum as all
/// that came before, and so the tables finish the work.
[[gnu::target("pclmul,sse4.1")]] uint32_t update_by_folding(uint32_t crc, const uint8_t* data,
                                                            size_t size) {
  constexpr size_t kStep = kLane * kLanes;
  using Far = FoldFactors<kStep>;
  using Near = FoldFactors<kLane>;
  const __m128i far = _mm_set_epi64x(Far::high, Far::low);
  const __m128i near = _mm_set_epi64x(Near::high, Near::low);
  __m128i lanes[kLanes];
  for (size_t k = 0; k < kLanes; k++) lanes[k] = load_lane(data + k * kLane);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(crc)));
  for (data += kStep, size -= kStep; size >= kStep; data += kStep, size -= kStep) {
    for (size_t k = 0; k < kLanes; k++) {
      lanes[k] = fold(lanes[k], far, load_lane(data + k * kLane));
    }
  }
  for (size_t k = 1; k < kLanes; k++) lanes[0] = fold(lanes[0], near, lanes[k]);
  uint8_t rest[kLane];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), lanes[0]);
  return update_by_tables(update_by_tables(0, rest, kLane), data, size);
}

bool can_fold() {
  static const bool present = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  }();
  return present && cpu_has_avx2();
}

#endif

}  // namespace

uint32_t crc32(std::span<const uint8_t> data) {
#ifdef DALIESQUE_CARRYLESS
  if (data.size() >= kLane * kLanes && can_fold()) {
    return ~update_by_folding(~0u, data.data(), data.size());
  }
#endif
  return ~update_by_tables(~0u, data.data(), data.size());
}

}  // namespace daliesque::codecs
