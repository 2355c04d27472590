// SPDX-License-Identifier: Apache-2.0
#include "audio/flac_bits.simd.h"

namespace daliesque::audio::DALIESQUE_ISA {

namespace {

constexpr int kRefilled = 56;

[[gnu::always_inline]] inline int32_t unfold(uint32_t value) {
  return static_cast<int32_t>(value >> 1 ^ (0u - (value & 1)));
}

/// One number, however long; false if there are no more bits.
[[gnu::noinline]] bool read_long(FlacBits& bits, int32_t* out, int parameter) {
  uint32_t zeros = 0;
  flac_refill(bits);
  while (bits.cache >> (64 - kRefilled) == 0) {
    if (bits.beyond > 8) return false;
    zeros += kRefilled;
    flac_skip(bits, kRefilled);
    flac_refill(bits);
  }
  const int more = __builtin_clzll(bits.cache);
  zeros += static_cast<uint32_t>(more);
  flac_skip(bits, more + 1);
  flac_refill(bits);
  const uint64_t low = bits.cache >> 1 >> (63 - parameter);
  flac_skip(bits, parameter);
  *out = unfold(zeros << parameter | static_cast<uint32_t>(low));
  return bits.beyond <= 8;
}

/// Numbers of which so many fit into what one refill brings, save rare long ones.
template <int kTogether>
bool read_numbers(FlacBits& bits, int32_t* out, int64_t count, int parameter) {
  constexpr int kMost = kRefilled / kTogether;
  int64_t i = 0;
  while (i < count) {
    bool is_long = count - i < kTogether || bits.end - bits.at < 8;
    // A copy that no other function knows can stay in registers.
    FlacBits now = bits;
    while (!is_long) {
      flac_refill(now);
      for (int k = 0; k < kTogether; k++) {
        // The lowest bit is set, lest there be none: then the number is a long one.
        const int zeros = __builtin_clzll(now.cache | 1);
        if (zeros + 1 + parameter > kMost) {
          is_long = true;
          break;
        }
        const uint64_t low = now.cache << zeros << 1 >> 1 >> (63 - parameter);
        flac_skip(now, zeros + 1 + parameter);
        out[i++] = unfold(static_cast<uint32_t>(zeros) << parameter | static_cast<uint32_t>(low));
      }
      is_long |= count - i < kTogether || now.end - now.at < 8;
    }
    bits = now;
    if (i < count && !read_long(bits, out + i++, parameter)) return false;
  }
  return true;
}

bool read_rice(FlacBits& bits, int32_t* out, int64_t count, int parameter) {
  if (parameter <= 6) return read_numbers<4>(bits, out, count, parameter);
  if (parameter <= 12) return read_numbers<3>(bits, out, count, parameter);
  if (parameter <= 20) return read_numbers<2>(bits, out, count, parameter);
  return read_numbers<1>(bits, out, count, parameter);
}

/// The values before the next one stay in registers. Products have up to 47 bits: no sum of them
/// leaves 64. What is too large for 32 bits, in damaged files, wraps around.
template <int kOrder>
void restore_order(int32_t* values, int64_t count, const FlacPredictor& predictor) {
  int64_t c[kOrder], past[kOrder];
  for (int j = 0; j < kOrder; j++) c[j] = predictor.coefficients[j];
  for (int j = 0; j < kOrder; j++) past[j] = values[kOrder - 1 - j];
  for (int64_t i = kOrder; i < count; i++) {
    int64_t sum = 0;
    // The newest value, which is known last, comes last.
    for (int j = kOrder - 1; j >= 0; j--) sum += c[j] * past[j];
    for (int j = kOrder - 1; j > 0; j--) past[j] = past[j - 1];
    values[i] = static_cast<int32_t>(static_cast<uint32_t>(values[i]) +
                                     static_cast<uint32_t>(sum >> predictor.shift));
    past[0] = values[i];
  }
}

void restore_any(int32_t* values, int64_t count, const FlacPredictor& predictor) {
  for (int64_t i = predictor.order; i < count; i++) {
    int64_t sum = 0;
    for (int j = predictor.order - 1; j >= 0; j--) {
      sum += static_cast<int64_t>(predictor.coefficients[j]) * values[i - 1 - j];
    }
    values[i] = static_cast<int32_t>(static_cast<uint32_t>(values[i]) +
                                     static_cast<uint32_t>(sum >> predictor.shift));
  }
}

void restore_predicted(int32_t* values, int64_t count, const FlacPredictor& predictor) {
  using Restore = void (*)(int32_t*, int64_t, const FlacPredictor&);
  static constexpr Restore kOrders[] = {restore_order<1>,  restore_order<2>,  restore_order<3>,
                                        restore_order<4>,  restore_order<5>,  restore_order<6>,
                                        restore_order<7>,  restore_order<8>,  restore_order<9>,
                                        restore_order<10>, restore_order<11>, restore_order<12>};
  (predictor.order <= 12 ? kOrders[predictor.order - 1] : restore_any)(values, count, predictor);
}

void restore_fixed(int32_t* values, int64_t count, int order) {
  static constexpr int32_t kCoefficients[4][4] = {{1}, {2, -1}, {3, -3, 1}, {4, -6, 4, -1}};
  if (order > 0) restore_predicted(values, count, {kCoefficients[order - 1], order, 0});
}

}  // namespace

const FlacLoops flac_loops = {read_rice, restore_predicted, restore_fixed};

}  // namespace daliesque::audio::DALIESQUE_ISA
