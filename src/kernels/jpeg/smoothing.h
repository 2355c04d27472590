// SPDX-License-Identifier: Apache-2.0
// What libjpeg-turbo guesses of coefficients that the scans of a progressive image leave imprecise.
#pragma once

#include <cstdint>

namespace daliesque::jpeg {

/// Coefficients in file order that are guessed, the DC coefficient among them.
constexpr int kGuessed = 10;

/// How far around a block others count.
constexpr int kReach = 2;
constexpr int kWindow = 2 * kReach + 1;

/// The DC coefficients around a block and its own in the middle.
struct DcWindow {
  int values[kWindow][kWindow];
};

/// Guesses coefficients of the blocks of one component from the DC coefficients around.
class Smoother {
 public:
  /// Both in file order: the quantizers, none of which may be 0, and the lowest bits known; those
  /// of coefficients that no scan gave are negative.
  Smoother(const uint16_t* quant, const int8_t* low);

  /// Replaces what is 0 and not precise. The coefficients of the block are in row-major order.
  void smooth(int16_t* block, const DcWindow& around) const;

 private:
  int guess(int index, const int (&weights)[kWindow][kWindow], bool transposed,
            const DcWindow& around) const;

  int quant_[kGuessed];
  int low_[kGuessed];
  bool dc_only_ = true;
};

}  // namespace daliesque::jpeg
