// SPDX-License-Identifier: Apache-2.0
#include "codecs/png_gray.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>

namespace daliesque::codecs {

namespace {

/// Gamma in 100000ths: 1, and how far from that it must be to count.
constexpr int64_t kGammaUnit = 100'000, kGammaMargin = 5000;
/// More files of the same kind than of different ones come one after the other.
constexpr size_t kKeptTables = 6;

struct PowerTable {
  int64_t gamma;
  bool is_wide;
  int shift;
  std::vector<uint16_t> values;
};

bool is_significant(int64_t gamma) { return std::abs(gamma - kGammaUnit) > kGammaMargin; }

int64_t reciprocal(int64_t gamma) {
  const double unit = static_cast<double>(kGammaUnit);
  return static_cast<int64_t>(unit * unit / static_cast<double>(gamma) + 0.5);
}

std::vector<uint16_t> powers(int64_t gamma, bool is_wide, int shift) {
  const int top = is_wide ? 65535 : 255;
  const double exponent =
      is_significant(gamma) ? static_cast<double>(gamma) / static_cast<double>(kGammaUnit) : 1.0;
  std::vector<uint16_t> values(static_cast<size_t>(top) + 1);
  for (int value = 0; value <= top; value++) {
    const double share = static_cast<double>(value >> shift) / static_cast<double>(top >> shift);
    values[static_cast<size_t>(value)] =
        static_cast<uint16_t>(std::floor(top * std::pow(share, exponent) + 0.5));
  }
  return values;
}

/// The power of each value, whose lowest `shift` bits do not matter; from the last ones used, if
/// it is among them.
const std::vector<uint16_t>& power_table(int64_t gamma, bool is_wide, int shift) {
  static thread_local std::deque<PowerTable> kept;
  const auto found = std::ranges::find_if(kept, [&](const PowerTable& table) {
    return table.gamma == gamma && table.is_wide == is_wide && table.shift == shift;
  });
  if (found != kept.end()) return found->values;
  // References stay valid: an image needs three tables, and the oldest goes.
  if (kept.size() == kKeptTables) kept.pop_front();
  kept.push_back({gamma, is_wide, shift, powers(gamma, is_wide, shift)});
  return kept.back().values;
}

int64_t gamma_of(const PngHeader& header) { return header.gamma ? header.gamma : kGammaUnit; }

int insignificant_bits(const PngHeader& header) {
  return header.bits == 16 ? std::min(16 - header.significant_bits, 8) : 0;
}

}  // namespace

bool has_linear_gray(const PngHeader& header) {
  const int64_t gamma = gamma_of(header);
  return !header.animated && header.info.channels >= 3 &&
         (is_significant(gamma) || is_significant(reciprocal(gamma)));
}

LinearGray::LinearGray(const PngHeader& header)
    : is_wide_(header.bits == 16),
      to_light_(power_table(reciprocal(gamma_of(header)), is_wide_, insignificant_bits(header))),
      from_light_(power_table(reciprocal(reciprocal(gamma_of(header))), is_wide_,
                              insignificant_bits(header))),
      unchanged_(power_table(kGammaUnit, is_wide_, insignificant_bits(header))) {}

void LinearGray::convert(void* gray, const void* pixels, int64_t count, int64_t channels) const {
  const auto convert_as = [&](auto* out, const auto* in) {
    for (int64_t i = 0; i < count; i++, in += channels) {
      const uint32_t red = in[0], green = in[1], blue = in[2];
      const uint32_t light = (to_light_[red] * 9797u + to_light_[green] * 19234u +
                              to_light_[blue] * 3737u + (1 << 14)) >>
                             15;
      const bool same = red == green && red == blue;
      out[i] = static_cast<std::remove_reference_t<decltype(*out)>>(same ? unchanged_[red]
                                                                         : from_light_[light]);
    }
  };
  if (is_wide_) {
    convert_as(static_cast<uint16_t*>(gray), static_cast<const uint16_t*>(pixels));
  } else {
    convert_as(static_cast<uint8_t*>(gray), static_cast<const uint8_t*>(pixels));
  }
}

}  // namespace daliesque::codecs
