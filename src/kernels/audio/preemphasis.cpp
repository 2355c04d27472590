// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "convert.h"
#include "parallel.h"
#include "signal.h"

namespace daliesque {

namespace {

constexpr int64_t kBlock = 2048;

/// Values [begin, end) of one sample, computed in T.
template <class T>
void filter(std::byte* out, const std::byte* in, int64_t begin, int64_t end, int64_t total,
            float coefficient, SignalStart start, const Samples& to, const Samples& from) {
  const ConvertLoop read = convert_loop(dtype_of<T>, from.dtype());
  const ConvertLoop write = convert_loop(to.dtype(), dtype_of<T>);
  const auto at = [&](int64_t j) { return in + static_cast<size_t>(j) * from.itemsize(); };
  const auto factor = static_cast<T>(coefficient);
  T values[kBlock + 1], results[kBlock];
  for (int64_t first = begin; first < end; first += kBlock) {
    const int64_t count = std::min(kBlock, end - first);
    if (first > 0) {
      read(values, at(first - 1), count + 1);
    } else {
      read(values + 1, at(0), count);
      values[0] = values[1];
      if (start == SignalStart::reflect && total > 1) read(values, at(1), 1);
      if (start == SignalStart::zero) values[0] = 0;
    }
    for (int64_t j = 0; j < count; j++) results[j] = values[j + 1] - factor * values[j];
    write(out + static_cast<size_t>(first) * to.itemsize(), results, count);
  }
}

}  // namespace

void preemphasis_filter(Samples& out, const Samples& in, PerSample<float> coefficient,
                        SignalStart start) {
  const bool twice = in.dtype() == DType::float64;
  parallel_slices(
      in.size(), [&](int64_t i) { return (in.volume(i) + kBlock - 1) / kBlock; },
      [](int64_t) { return 0.5 * kBlock; },
      [&](int64_t i, int64_t begin, int64_t end) {
        auto* to = out.data<std::byte>(i);
        const auto* from = in.data<const std::byte>(i);
        const int64_t total = in.volume(i), first = begin * kBlock;
        const int64_t last = std::min(end * kBlock, total);
        if (coefficient[i] == 0) {
          convert_loop(out.dtype(), in.dtype())(to + static_cast<size_t>(first) * out.itemsize(),
                                                from + static_cast<size_t>(first) * in.itemsize(),
                                                last - first);
        } else if (twice) {
          filter<double>(to, from, first, last, total, coefficient[i], start, out, in);
        } else {
          filter<float>(to, from, first, last, total, coefficient[i], start, out, in);
        }
      });
}

}  // namespace daliesque
