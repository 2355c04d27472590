// SPDX-License-Identifier: Apache-2.0
#include "points.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "convert.h"
#include "parallel.h"

namespace daliesque {

namespace {

constexpr double kNanosecondsPerComponent = 0.7;
// Points that are taken together: their components, apart from each other, fit into the cache.
constexpr int64_t kBlock = 512;

/// Points as columns of floats.
struct Columns {
  explicit Columns(int64_t components) : values(static_cast<size_t>(components * kBlock)) {}
  float* column(int64_t k) { return values.data() + k * kBlock; }

  std::vector<float> values;
};

void split(Columns& to, const float* from, int64_t points, int64_t components) {
  for (int64_t c = 0; c < components; c++) {
    float* column = to.column(c);
    for (int64_t k = 0; k < points; k++) column[k] = from[k * components + c];
  }
}

void join(float* to, Columns& from, int64_t points, int64_t components) {
  for (int64_t c = 0; c < components; c++) {
    const float* column = from.column(c);
    for (int64_t k = 0; k < points; k++) to[k * components + c] = column[k];
  }
}

void multiply(Columns& out, Columns& in, int64_t points, int64_t rows, int64_t columns,
              const float* matrix, const float* translation) {
  for (int64_t r = 0; r < rows; r++) {
    float* __restrict to = out.column(r);
    for (int64_t c = 0; c < columns; c++) {
      const float* __restrict from = in.column(c);
      const float factor = matrix[r * columns + c];
      if (c == 0) {
        for (int64_t k = 0; k < points; k++) to[k] = factor * from[k];
      } else {
        for (int64_t k = 0; k < points; k++) to[k] += factor * from[k];
      }
    }
    const float offset = translation[r];
    for (int64_t k = 0; k < points; k++) to[k] += offset;
  }
}

}  // namespace

void transform_points(Samples& out, const Samples& in, const PerSample<float>& matrix,
                      const PerSample<float>& translation) {
  const ConvertLoop load = convert_loop(DType::float32, in.dtype());
  const ConvertLoop store = convert_loop(out.dtype(), DType::float32);
  const auto components = [](const Samples& samples, int64_t i) { return samples.shape(i).back(); };
  const auto points = [&](int64_t i) {
    return in.volume(i) ? in.volume(i) / components(in, i) : 0;
  };
  const auto in_size = static_cast<int64_t>(in.itemsize());
  const auto out_size = static_cast<int64_t>(out.itemsize());
  parallel_slices(
      in.size(), [&](int64_t i) { return (points(i) + kBlock - 1) / kBlock; },
      [&](int64_t i) {
        return kNanosecondsPerComponent * kBlock *
               static_cast<double>(components(in, i) * components(out, i));
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const int64_t columns = components(in, i), rows = components(out, i);
        Columns from(columns), to(rows);
        std::vector<float> row(static_cast<size_t>(std::max(rows, columns) * kBlock));
        for (int64_t block = begin; block < end; block++) {
          const int64_t first = block * kBlock, count = std::min(kBlock, points(i) - first);
          load(row.data(), in.data<const std::byte>(i) + first * columns * in_size,
               count * columns);
          split(from, row.data(), count, columns);
          multiply(to, from, count, rows, columns, matrix.row(i), translation.row(i));
          join(row.data(), to, count, rows);
          store(out.data<std::byte>(i) + first * rows * out_size, row.data(), count * rows);
        }
      });
}

}  // namespace daliesque
