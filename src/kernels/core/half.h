// SPDX-License-Identifier: Apache-2.0
// 16-bit floating-point storage types; arithmetic happens in float.
#pragma once

#include <bit>
#include <cstdint>

#ifdef __F16C__
#include <immintrin.h>
#endif

#define DALIESQUE_INLINE [[gnu::always_inline]] inline

namespace daliesque {

namespace half_detail {

DALIESQUE_INLINE float half_to_float(uint16_t bits) {
#ifdef __F16C__
  return _cvtsh_ss(bits);
#else
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) {
    // Signaling NaN becomes quiet, as in hardware.
    const uint32_t quiet = magnitude > 0x7c00u ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | (magnitude << 13));
  }
  // Scaling by 2^112 converts the half exponent (and subnormals) to float's.
  const float value = std::bit_cast<float>(magnitude << 13) * std::bit_cast<float>(0x77800000u);
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
#endif
}

/// Rounds to nearest, ties away from zero, as the reference does; overflow gives infinity.
DALIESQUE_INLINE uint16_t float_to_half(float value) {
  // A lowest bit of 1 makes every tie a value just above it; nothing else changes, because half
  // drops at least 13 bits. Only infinity would become something else.
  uint32_t bits = std::bit_cast<uint32_t>(value);
  bits |= (bits & 0x7fffffffu) != 0x7f800000u;
#ifdef __F16C__
  return static_cast<uint16_t>(_cvtss_sh(std::bit_cast<float>(bits), 0));
#else
  const uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u | ((bits >> 13) & 0x1ffu));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Adding 0.5 aligns a subnormal's bits with the mantissa, rounding on the way.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  magnitude += 0xc8001000u;
  return static_cast<uint16_t>(sign | (magnitude >> 13));
#endif
}

}  // namespace half_detail

struct float16 {
  uint16_t bits;
  float16() = default;
  DALIESQUE_INLINE explicit float16(float value) : bits(half_detail::float_to_half(value)) {}
  DALIESQUE_INLINE operator float() const { return half_detail::half_to_float(bits); }
};

struct bfloat16 {
  uint16_t bits;
  bfloat16() = default;
  DALIESQUE_INLINE explicit bfloat16(float value) {
    const uint32_t raw = std::bit_cast<uint32_t>(value);
    const bool nan = (raw & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<uint16_t>(nan ? (raw >> 16) | 0x40u
                                     : (raw + 0x7fffu + ((raw >> 16) & 1u)) >> 16);
  }
  DALIESQUE_INLINE operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

}  // namespace daliesque
