// SPDX-License-Identifier: Apache-2.0
#include "jpeg/state.h"

#include <array>
#include <cmath>
#include <numbers>

namespace daliesque::jpeg {
namespace {

/// Moves the scale factors of the fast transform into a quantization table, with 2 extra bits.
void scale_for_fast_dct(uint16_t* quant) {
  // 16384 cos(k pi / 16) sqrt(2) cos(l pi / 16) sqrt(2), where the factors for 0 are 1.
  static const auto scales = [] {
    std::array<int, kBlockSize> table;
    const auto factor = [](int k) {
      return k == 0 ? 1.0 : std::cos(k * std::numbers::pi / 16) * std::numbers::sqrt2;
    };
    for (int i = 0; i < kBlockSize; ++i) {
      table[static_cast<size_t>(i)] =
          static_cast<int>(std::lround(16384 * factor(i / 8) * factor(i % 8)));
    }
    return table;
  }();
  for (int i = 0; i < kBlockSize; ++i) {
    const int64_t scaled = int64_t{quant[i]} * scales[static_cast<size_t>(i)];
    quant[i] = static_cast<uint16_t>((scaled + (1 << 11)) >> 12);
  }
}

}  // namespace

bool DecoderState::set_quant(const Header& header, int component, bool fast_idct) {
  const uint8_t number = header.components[component].quant_table;
  if (number > 3 || !header.quant[number].defined) return false;
  std::memcpy(quant[component], header.quant[number].values, sizeof quant[component]);
  if (fast_idct) scale_for_fast_dct(quant[component]);
  return true;
}

}  // namespace daliesque::jpeg
