// SPDX-License-Identifier: Apache-2.0
#include "jpeg/smoothing.h"

#include <algorithm>
#include <cstdlib>

#include "jpeg/header.h"

namespace daliesque::jpeg {
namespace {

/// Weights of the window, in 256ths. A coefficient below the diagonal has those of its mirror
/// image, transposed.
struct Kernel {
  int index;   ///< of the coefficient in file order
  int mirror;  ///< of the transposed coefficient; the same for one on the diagonal
  int weights[kWindow][kWindow];
};

/// For blocks of which only the DC coefficient is known: a smooth surface through the means.
constexpr Kernel kFromDcOnly[] = {
    {1,
     2,
     {{-1, -1, 0, 1, 1},
      {-3, 13, 0, -13, 3},
      {-3, 38, 0, -38, 3},
      {-3, 13, 0, -13, 3},
      {-1, -1, 0, 1, 1}}},
    {5,
     3,
     {{0, 0, 0, 0, 0}, {0, 2, -5, 2, 0}, {1, 7, -14, 7, 1}, {0, 2, -5, 2, 0}, {0, 0, 0, 0, 0}}},
    {4,
     4,
     {{-1, 0, 0, 0, 1}, {0, 9, 0, -9, 0}, {0, 0, 0, 0, 0}, {0, -9, 0, 9, 0}, {1, 0, 0, 0, -1}}},
    {6,
     9,
     {{0, 0, 0, 0, 0}, {0, 1, 0, -1, 0}, {0, 2, 0, -2, 0}, {0, 1, 0, -1, 0}, {0, 0, 0, 0, 0}}},
    {7,
     8,
     {{0, 0, 0, 0, 0}, {0, 1, -3, 1, 0}, {0, 0, 0, 0, 0}, {0, -1, 3, -1, 0}, {0, 0, 0, 0, 0}}},
};
constexpr int kMean[kWindow][kWindow] = {{-2, -6, -8, -6, -2},
                                         {-6, 6, 42, 6, -6},
                                         {-8, 42, 152, 42, -8},
                                         {-6, 6, 42, 6, -6},
                                         {-2, -6, -8, -6, -2}};

/// For others: a wider form of what annex K.8 of the format proposes.
constexpr Kernel kBesideOthers[] = {
    {1, 2, {{}, {}, {-7, 50, 0, -50, 7}, {}, {}}},
    {5, 3, {{}, {}, {-1, 13, -24, 13, -1}, {}, {}}},
    {4, 4, {{0, -1, 0, 1, 0}, {-1, 10, 0, -10, 1}, {}, {1, -10, 0, 10, -1}, {0, 1, 0, -1, 0}}},
};

}  // namespace

Smoother::Smoother(const uint16_t* quant, const int8_t* low) {
  for (int i = 0; i < kGuessed; ++i) {
    quant_[i] = quant[i];
    low_[i] = low[i];
    dc_only_ = dc_only_ && (i == 0 || low[i] < 0);
  }
}

int Smoother::guess(int index, const int (&weights)[kWindow][kWindow], bool transposed,
                    const DcWindow& around) const {
  int64_t sum = 0;
  for (int y = 0; y < kWindow; ++y) {
    for (int x = 0; x < kWindow; ++x) {
      sum += weights[y][x] * (transposed ? around.values[x][y] : around.values[y][x]);
    }
  }
  sum *= quant_[0];
  const int64_t divisor = int64_t{quant_[index]} << 8;
  int64_t size = (std::abs(sum) + divisor / 2) / divisor;
  // Scans so far would have given a larger value.
  if (index > 0 && low_[index] > 0) size = std::min(size, (int64_t{1} << low_[index]) - 1);
  return static_cast<int>(sum < 0 ? -size : size);
}

void Smoother::smooth(int16_t* block, const DcWindow& around) const {
  const auto fill = [&](int index, const Kernel& kernel) {
    int16_t& value = block[kNaturalOrder[index]];
    if (low_[index] == 0 || value != 0) return;
    value = static_cast<int16_t>(guess(index, kernel.weights, index != kernel.index, around));
  };
  const auto fill_all = [&](const auto& kernels) {
    for (const Kernel& kernel : kernels) {
      fill(kernel.index, kernel);
      if (kernel.mirror != kernel.index) fill(kernel.mirror, kernel);
    }
  };
  if (!dc_only_) return fill_all(kBesideOthers);
  fill_all(kFromDcOnly);
  block[0] = static_cast<int16_t>(guess(0, kMean, false, around));
}

}  // namespace daliesque::jpeg
