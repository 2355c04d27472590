// SPDX-License-Identifier: Apache-2.0
// Banks of filters along an axis: each result is a weighted sum of neighboring inputs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/samples.h"

namespace daliesque::audio {

/// A matrix of which each row is zero but for a band.
struct FilterBank {
  struct Row {
    int64_t first, count;  ///< The band.
    int64_t offset;        ///< Where its weights begin.
  };
  int64_t inputs = 0;  ///< The number of columns.
  std::vector<Row> rows;
  std::vector<float> weights;

  /// The length of the longest band.
  int64_t longest() const;
  void add_row(int64_t first, const float* values, int64_t count);
};

/// Multiplies each column along `axis` of the float32 samples by a matrix: `banks` has one for each
/// sample, or one for all.
void filter_axis(Samples& out, const Samples& in, int axis, const std::vector<FilterBank>& banks);

struct MelArgs {
  int64_t filters;
  float sample_rate, low, high;  ///< in Hz
  bool htk;                      ///< the formula of the mel scale; otherwise Slaney's
  bool normalize;                ///< to a constant area; otherwise to a peak of 1
};

/// Triangular filters, equally wide on the mel scale, for spectra of `bins` frequencies.
FilterBank mel_filters(int64_t bins, const MelArgs& args);

struct FilterRowsLoops {
  /// out[m * out_stride + t] = sum of weights[k] * in[(first + k) * in_stride + t] over the band of
  /// row m; for all rows, and `count` values of t.
  void (*filter)(float* out, int64_t out_stride, const float* in, int64_t in_stride,
                 const FilterBank::Row* rows, int64_t row_count, const float* weights,
                 int64_t count);
};

namespace portable {
extern const FilterRowsLoops filter_rows_loops;
}
namespace avx2 {
extern const FilterRowsLoops filter_rows_loops;
}

}  // namespace daliesque::audio
