// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "audio/signal.h"
#include "core/convert.h"
#include "core/parallel.h"
#include "core/stream.h"

namespace daliesque::audio {

namespace {

constexpr int64_t kPreemphasisBlock = 2048;

/// Values [begin, end) of one sample, computed in T. Large results are written past the caches.
template <class T>
void filter(std::byte* out, const std::byte* in, int64_t begin, int64_t end, int64_t total,
            float coefficient, SignalStart start, const Samples& to, const Samples& from,
            bool streamed) {
  const ConvertLoop read = convert_loop(dtype_of<T>, from.dtype());
  const ConvertLoop write = convert_loop(to.dtype(), dtype_of<T>);
  const auto at = [&](int64_t j) { return in + static_cast<size_t>(j) * from.itemsize(); };
  const auto factor = static_cast<T>(coefficient);
  const bool direct_in = from.dtype() == dtype_of<T>;
  const bool direct_out = to.dtype() == dtype_of<T> && !streamed;
  T read_values[kPreemphasisBlock + 1], made[kPreemphasisBlock];
  alignas(64) std::byte converted[kPreemphasisBlock * 8];
  for (int64_t first = begin; first < end; first += kPreemphasisBlock) {
    const int64_t count = std::min(kPreemphasisBlock, end - first);
    const T* values = read_values;
    if (first > 0 && direct_in) {
      values = reinterpret_cast<const T*>(at(first - 1));
    } else if (first > 0) {
      read(read_values, at(first - 1), count + 1);
    } else {
      read(read_values + 1, at(0), count);
      read_values[0] = read_values[1];
      if (start == SignalStart::reflect && total > 1) read(read_values, at(1), 1);
      if (start == SignalStart::zero) read_values[0] = 0;
    }
    std::byte* target = out + static_cast<size_t>(first) * to.itemsize();
    T* results = direct_out ? reinterpret_cast<T*>(target) : made;
    for (int64_t j = 0; j < count; j++) results[j] = values[j + 1] - factor * values[j];
    if (direct_out) continue;
    write(streamed ? converted : target, results, count);
    if (streamed) stream_copy(target, converted, static_cast<size_t>(count) * to.itemsize());
  }
  if (streamed) stream_fence();
}

}  // namespace

void preemphasis_filter(Samples& out, const Samples& in, PerSample<float> coefficient,
                        SignalStart start) {
  const bool twice = in.dtype() == DType::float64;
  const bool streamed = exceeds_caches(out, in);
  parallel_slices(
      in.size(),
      [&](int64_t i) { return (in.volume(i) + kPreemphasisBlock - 1) / kPreemphasisBlock; },
      [](int64_t) { return 0.5 * kPreemphasisBlock; },
      [&](int64_t i, int64_t begin, int64_t end) {
        auto* to = out.data<std::byte>(i);
        const auto* from = in.data<const std::byte>(i);
        const int64_t total = in.volume(i), first = begin * kPreemphasisBlock;
        const int64_t last = std::min(end * kPreemphasisBlock, total);
        if (coefficient[i] == 0) {
          convert_loop(out.dtype(), in.dtype())(to + static_cast<size_t>(first) * out.itemsize(),
                                                from + static_cast<size_t>(first) * in.itemsize(),
                                                last - first);
        } else if (twice) {
          filter<double>(to, from, first, last, total, coefficient[i], start, out, in, streamed);
        } else {
          filter<float>(to, from, first, last, total, coefficient[i], start, out, in, streamed);
        }
      });
}

}  // namespace daliesque::audio
