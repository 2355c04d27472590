// SPDX-License-Identifier: Apache-2.0
#include "tensor/normalize_rows.h"

#include <algorithm>
#include <cstddef>

#include "core/errors.h"
#include "core/simd.h"

namespace daliesque::tensor {

const NormalizeLoops& normalize_loops() { return DALIESQUE_CHOOSE(normalize_loops); }

RowNormalizer::RowNormalizer(DType out, DType in)
    : normalize_(normalize_loops().find_normalize(in)),
      normalize_each_(normalize_loops().find_normalize_each(in)),
      store_(out == DType::float32 ? nullptr : normalize_loops().find_store(out)),
      in_size_(static_cast<int64_t>(dtype_size(in))),
      out_size_(static_cast<int64_t>(dtype_size(out))) {
  if (!normalize_ || (out != DType::float32 && !store_)) {
    throw UsageError("these types cannot be normalized");
  }
}

template <class Normalize>
void RowNormalizer::in_blocks(void* out, const void* in, int64_t count,
                              Normalize&& normalize) const {
  if (!store_) {
    normalize(static_cast<float*>(out), in, int64_t{0}, count);
    return;
  }
  constexpr int64_t kBlock = 1024;
  alignas(64) float block[kBlock];
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t length = std::min(kBlock, count - i);
    normalize(block, static_cast<const std::byte*>(in) + i * in_size_, i, length);
    store_(static_cast<std::byte*>(out) + i * out_size_, block, length);
  }
}

void RowNormalizer::run(void* out, const void* in, int64_t count, float mean, float scale,
                        float shift) const {
  in_blocks(out, in, count, [&](float* to, const void* from, int64_t, int64_t length) {
    normalize_(to, from, length, mean, scale, shift);
  });
}

void RowNormalizer::run_each(void* out, const void* in, int64_t count, const float* mean,
                             const float* scale, float shift) const {
  in_blocks(out, in, count, [&](float* to, const void* from, int64_t first, int64_t length) {
    normalize_each_(to, from, length, mean + first, scale + first, shift);
  });
}

}  // namespace daliesque::tensor
