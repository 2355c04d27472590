// SPDX-License-Identifier: Apache-2.0
#include "audio/filter_rows.h"

#include <algorithm>

#include "audio/fft_loops.h"
#include "core/parallel.h"
#include "core/scratch.h"
#include "core/simd.h"

namespace daliesque::audio {

namespace {

const FilterRowsLoops& filter_rows_loops() { return DALIESQUE_CHOOSE(filter_rows_loops); }

struct AxisExtents {
  int64_t outer = 1, inner = 1;

  AxisExtents(Shape shape, int axis) {
    for (int k = 0; k < axis; k++) outer *= shape[static_cast<size_t>(k)];
    for (size_t k = static_cast<size_t>(axis) + 1; k < shape.size(); k++) inner *= shape[k];
  }
};

// Columns are cut into units of whole cache lines.
constexpr int64_t kColumns = 32;

/// Columns [first, last) of one block of (inputs, inner), as many at a time as leave the band of a
/// filter in the cache, where the next one finds it.
void filter_columns(float* out, const float* in, const FilterBank& bank, int64_t inner,
                    int64_t first, int64_t last) {
  constexpr int64_t kCachedValues = 16384;
  const int64_t fitting = kCachedValues / std::max<int64_t>(bank.longest(), 1);
  const int64_t tile = std::clamp<int64_t>(fitting / kColumns, 1, 32) * kColumns;
  for (; first < last; first += tile) {
    filter_rows_loops().filter(out + first, inner, in + first, inner, bank.rows.data(),
                               static_cast<int64_t>(bank.rows.size()), bank.weights.data(),
                               std::min(tile, last - first));
  }
}

/// Rows [first, last), each holding the inputs of one result: several are transposed into columns.
void filter_rows(float* out, const float* in, const FilterBank& bank, int64_t first, int64_t last) {
  const auto outputs = static_cast<int64_t>(bank.rows.size());
  Scratch<float> columns, results;
  columns.require(bank.inputs * kFftLanes);
  results.require(outputs * kFftLanes);
  for (int64_t row = first; row < last; row += kFftLanes) {
    const int64_t count = std::min(kFftLanes, last - row);
    const float* from[kFftLanes];
    float* to[kFftLanes];
    for (int64_t lane = 0; lane < kFftLanes; lane++) {
      from[lane] = in + (row + std::min(lane, count - 1)) * bank.inputs;
      to[lane] = out + (row + lane) * outputs;
    }
    fft_loops().interleave(columns.data(), nullptr, from, nullptr, bank.inputs);
    filter_rows_loops().filter(results.data(), kFftLanes, columns.data(), kFftLanes,
                               bank.rows.data(), outputs, bank.weights.data(), kFftLanes);
    fft_loops().separate(to, results.data(), outputs, count);
  }
}

}  // namespace

int64_t FilterBank::longest() const {
  int64_t most = 0;
  for (const Row& row : rows) most = std::max(most, row.count);
  return most;
}

void FilterBank::add_row(int64_t first, const float* values, int64_t count) {
  rows.push_back({first, count, static_cast<int64_t>(weights.size())});
  weights.insert(weights.end(), values, values + count);
}

void filter_axis(Samples& out, const Samples& in, int axis, const std::vector<FilterBank>& banks) {
  const auto bank = [&](int64_t i) -> const FilterBank& {
    return banks[banks.size() == 1 ? 0 : static_cast<size_t>(i)];
  };
  parallel_slices(
      in.size(),
      [&](int64_t i) {
        const AxisExtents extents(in.shape(i), axis);
        if (extents.inner == 1) return (extents.outer + kFftLanes - 1) / kFftLanes;
        return extents.outer * ((extents.inner + kColumns - 1) / kColumns);
      },
      [&](int64_t i) {
        const bool rows = AxisExtents(in.shape(i), axis).inner == 1;
        const auto columns = static_cast<double>(rows ? kFftLanes : kColumns);
        return columns * (0.1 * static_cast<double>(bank(i).weights.size()) +
                          0.3 * static_cast<double>(bank(i).inputs));
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const AxisExtents extents(in.shape(i), axis);
        const FilterBank& filters = bank(i);
        const auto outputs = static_cast<int64_t>(filters.rows.size());
        auto* to = out.data<float>(i);
        const auto* from = in.data<const float>(i);
        if (extents.inner == 1) {
          filter_rows(to, from, filters, begin * kFftLanes,
                      std::min(end * kFftLanes, extents.outer));
          return;
        }
        const int64_t units = (extents.inner + kColumns - 1) / kColumns;
        for (int64_t unit = begin; unit < end;) {
          const int64_t block = unit / units;
          const int64_t stop = std::min(end, (block + 1) * units);
          filter_columns(to + block * outputs * extents.inner,
                         from + block * filters.inputs * extents.inner, filters, extents.inner,
                         unit % units * kColumns,
                         std::min((stop - block * units) * kColumns, extents.inner));
          unit = stop;
        }
      });
}

}  // namespace daliesque::audio
