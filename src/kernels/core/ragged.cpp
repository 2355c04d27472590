// SPDX-License-Identifier: Apache-2.0
#include "core/ragged.h"

#include <cstring>
#include <stdexcept>
#include <vector>

#include "core/parallel.h"

namespace daliesque {

Samples copy_rows(const Samples& table, std::span<const int64_t> begins,
                  std::span<const int64_t> counts) {
  const Shape shape = table.shape(0), row = shape.subspan(1);
  std::vector<int64_t> shapes;
  for (size_t i = 0; i < counts.size(); i++) {
    if (begins[i] < 0 || counts[i] < 0 || counts[i] > shape[0] - begins[i]) {
      throw std::out_of_range("no such rows");
    }
    shapes.push_back(counts[i]);
    shapes.insert(shapes.end(), row.begin(), row.end());
  }
  const auto size = static_cast<int64_t>(counts.size());
  Samples out = Samples::empty(table.dtype(), table.ndim(), std::move(shapes), "", size);
  const int64_t row_bytes = volume(row) * static_cast<int64_t>(table.itemsize());
  constexpr double kCallCost = 20, kByteCost = 0.1;
  parallel_for(
      size,
      [&](int64_t i) {
        return kCallCost +
               kByteCost * static_cast<double>(counts[static_cast<size_t>(i)] * row_bytes);
      },
      [&](int64_t i) {
        const auto k = static_cast<size_t>(i);
        if (counts[k] * row_bytes == 0) return;
        std::memcpy(out.data(i), table.data<const char>(0) + begins[k] * row_bytes,
                    static_cast<size_t>(counts[k] * row_bytes));
      });
  return out;
}

}  // namespace daliesque
