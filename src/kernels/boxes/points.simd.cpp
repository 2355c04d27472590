// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "boxes/points_loops.h"

namespace daliesque::boxes::DALIESQUE_ISA {

namespace {

template <int kRows, int kColumns>
void transform(float* __restrict out, const float* __restrict in, int64_t points,
               const float* matrix, const float* translation) {
  float factors[kRows][kColumns], offsets[kRows];
  for (int r = 0; r < kRows; r++) {
    for (int c = 0; c < kColumns; c++) factors[r][c] = matrix[r * kColumns + c];
    offsets[r] = translation[r];
  }
  for (int64_t k = 0; k < points; k++) {
    for (int r = 0; r < kRows; r++) {
      float sum = factors[r][0] * in[k * kColumns];
      for (int c = 1; c < kColumns; c++) sum += factors[r][c] * in[k * kColumns + c];
      out[k * kRows + r] = sum + offsets[r];
    }
  }
}

template <int kRows>
PointsLoop find_columns(int64_t columns) {
  switch (columns) {
    case 1:
      return &transform<kRows, 1>;
    case 2:
      return &transform<kRows, 2>;
    case 3:
      return &transform<kRows, 3>;
    case 4:
      return &transform<kRows, 4>;
    case 5:
      return &transform<kRows, 5>;
    case 6:
      return &transform<kRows, 6>;
    default:
      return nullptr;
  }
}

}  // namespace

PointsLoop find_points_loop(int64_t rows, int64_t columns) {
  switch (rows) {
    case 1:
      return find_columns<1>(columns);
    case 2:
      return find_columns<2>(columns);
    case 3:
      return find_columns<3>(columns);
    case 4:
      return find_columns<4>(columns);
    case 5:
      return find_columns<5>(columns);
    case 6:
      return find_columns<6>(columns);
    default:
      return nullptr;
  }
}

}  // namespace daliesque::boxes::DALIESQUE_ISA
