// SPDX-License-Identifier: Apache-2.0
#include "filter_rows.h"

#include "lanes.simd.h"

namespace daliesque::DALIESQUE_ISA {

namespace {

/// `vectors` times W::lanes sums of one row.
template <class W, int vectors>
DALIESQUE_INLINE void filter_block(float* out, const float* in, int64_t in_stride,
                                   const FilterBank::Row& row, const float* weights) {
  typename W::Type sums[vectors] = {};
  const float* from = in + row.first * in_stride;
  for (int64_t k = 0; k < row.count; k++, from += in_stride) {
    const float weight = weights[row.offset + k];
    for (int v = 0; v < vectors; v++) sums[v] += W::load(from + v * W::lanes) * weight;
  }
  for (int v = 0; v < vectors; v++) W::store(out + v * W::lanes, sums[v]);
}

template <class W, int vectors>
void filter_tile(float* out, int64_t out_stride, const float* in, int64_t in_stride,
                 const FilterBank::Row* rows, int64_t row_count, const float* weights) {
  for (int64_t m = 0; m < row_count; m++) {
    filter_block<W, vectors>(out + m * out_stride, in, in_stride, rows[m], weights);
  }
}

void filter(float* out, int64_t out_stride, const float* in, int64_t in_stride,
            const FilterBank::Row* rows, int64_t row_count, const float* weights, int64_t count) {
  using W = Wide<kWidest>;
  constexpr int kVectors = 32 / W::lanes;
  int64_t t = 0;
  for (; t + 32 <= count; t += 32) {
    filter_tile<W, kVectors>(out + t, out_stride, in + t, in_stride, rows, row_count, weights);
  }
  for (; t + 8 <= count; t += 8) {
    filter_tile<W, 8 / W::lanes>(out + t, out_stride, in + t, in_stride, rows, row_count, weights);
  }
  for (; t < count; t++) {
    filter_tile<Wide<1>, 1>(out + t, out_stride, in + t, in_stride, rows, row_count, weights);
  }
}

}  // namespace

const FilterRowsLoops filter_rows_loops = {filter};

}  // namespace daliesque::DALIESQUE_ISA
