// SPDX-License-Identifier: Apache-2.0
#include "audio/filter_rows.h"

#include "audio/lanes.simd.h"

namespace daliesque::audio::DALIESQUE_ISA {

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

/// The inputs that a row has and the one before it has not.
struct NewInputs {
  int64_t first = 0, last = 0;
};

/// The results of one row. Fetches what is `next`, column by column as it goes: rows are too far
/// apart for the processor to see that they follow each other.
DALIESQUE_INLINE void filter_row(float* out, const float* in, int64_t in_stride,
                                 const FilterBank::Row& row, const float* weights, int64_t count,
                                 const NewInputs& next) {
  using W = Wide<kWidest>;
  constexpr int64_t kBlock = 32, kLine = 16;
  int64_t t = 0;
  for (; t + kBlock <= count; t += kBlock) {
    for (int64_t k = next.first; k < next.last; k++) {
      for (int64_t c = 0; c < kBlock; c += kLine) __builtin_prefetch(in + k * in_stride + t + c);
    }
    filter_block<W, kBlock / W::lanes>(out + t, in + t, in_stride, row, weights);
  }
  for (; t + 8 <= count; t += 8) {
    filter_block<W, 8 / W::lanes>(out + t, in + t, in_stride, row, weights);
  }
  for (; t < count; t++) filter_block<Wide<1>, 1>(out + t, in + t, in_stride, row, weights);
}

void filter(float* out, int64_t out_stride, const float* in, int64_t in_stride,
            const FilterBank::Row* rows, int64_t row_count, const float* weights, int64_t count) {
  for (int64_t m = 0; m < row_count; m++) {
    NewInputs next;
    if (m + 1 < row_count) {
      const int64_t end = rows[m].first + rows[m].count;
      next.first = rows[m + 1].first > end ? rows[m + 1].first : end;
      next.last = rows[m + 1].first + rows[m + 1].count;
    }
    filter_row(out + m * out_stride, in, in_stride, rows[m], weights, count, next);
  }
}

}  // namespace

const FilterRowsLoops filter_rows_loops = {filter};

}  // namespace daliesque::audio::DALIESQUE_ISA
