// SPDX-License-Identifier: Apache-2.0
#include "boxes/points.h"

#include <algorithm>
#include <stdexcept>

#include "boxes/points_loops.h"
#include "core/convert.h"
#include "core/errors.h"
#include "core/parallel.h"
#include "core/simd.h"
#include "core/stream.h"

namespace daliesque::boxes {

namespace {

constexpr double kNanosecondsPerComponent = 0.3;
constexpr int64_t kMostComponents = 6;
// Points that are taken together, so that what is converted stays in the cache.
constexpr int64_t kBlock = 512;

PointsLoop points_loop(int64_t rows, int64_t columns) {
  const PointsLoop loop = DALIESQUE_CHOOSE(find_points_loop(rows, columns));
  if (!loop) throw UsageError("points have 1 to 6 components");
  return loop;
}

}  // namespace

void transform_points(Samples& out, const Samples& in, const PerSample<float>& matrix,
                      const PerSample<float>& translation) {
  const ConvertLoop load = convert_loop(DType::float32, in.dtype());
  const ConvertLoop store = convert_loop(out.dtype(), DType::float32);
  const bool is_float = in.dtype() == DType::float32, to_float = out.dtype() == DType::float32;
  const auto in_size = static_cast<int64_t>(in.itemsize());
  const auto out_size = static_cast<int64_t>(out.itemsize());
  const bool streamed = to_float && exceeds_caches(out, in);
  const auto points = [&](int64_t i) {
    return in.volume(i) ? in.volume(i) / in.shape(i).back() : 0;
  };
  parallel_slices(
      in.size(), [&](int64_t i) { return (points(i) + kBlock - 1) / kBlock; },
      [&](int64_t i) {
        return kNanosecondsPerComponent * kBlock *
               static_cast<double>(in.shape(i).back() * out.shape(i).back());
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const int64_t columns = in.shape(i).back(), rows = out.shape(i).back();
        const PointsLoop loop = points_loop(rows, columns);
        alignas(64) float loaded[kBlock * kMostComponents], made[kBlock * kMostComponents];
        for (int64_t first = begin * kBlock; first < std::min(end * kBlock, points(i));
             first += kBlock) {
          const int64_t count = std::min(kBlock, points(i) - first);
          const auto* from = in.data<const std::byte>(i) + first * columns * in_size;
          auto* to = out.data<std::byte>(i) + first * rows * out_size;
          const float* source = is_float ? reinterpret_cast<const float*>(from) : loaded;
          float* target = to_float && !streamed ? reinterpret_cast<float*>(to) : made;
          if (!is_float) load(loaded, from, count * columns);
          loop(target, source, count, matrix.row(i), translation.row(i));
          if (streamed) {
            stream_copy(to, made, static_cast<size_t>(count * rows) * sizeof(float));
          } else if (!to_float) {
            store(to, made, count * rows);
          }
        }
        if (streamed) stream_fence();
      });
}

}  // namespace daliesque::boxes
