// SPDX-License-Identifier: Apache-2.0
#include "tensor/fill.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "core/errors.h"
#include "core/parallel.h"
#include "core/stream.h"

namespace daliesque::tensor {

namespace {

constexpr double kFillNanosecondsPerByte = 0.1;

/// Repeats the first `bytes` bytes until there are `total`.
void repeat_item(std::byte* out, size_t bytes, size_t total) {
  // What is repeated should stay in the first cache.
  constexpr size_t kMost = 4096;
  for (size_t done = bytes; done < total;) {
    const size_t source = std::min(done, std::max(bytes, kMost / bytes * bytes));
    const size_t length = std::min(source, total - done);
    std::memcpy(out + done, out, length);
    done += length;
  }
}

/// Writes one element everywhere.
void fill_one(std::byte* out, const std::byte* in, size_t elements, size_t itemsize,
              bool streamed) {
  std::memcpy(out, in, itemsize);
  constexpr size_t kWord = sizeof(uint64_t);
  const size_t total = elements * itemsize;
  if (!streamed || total < kWord) return repeat_item(out, itemsize, total);
  uint64_t word;
  repeat_item(out, itemsize, kWord);
  std::memcpy(&word, out, kWord);
  stream_fill(out, word, total);
  stream_fence();
}

/// `steps` are the byte strides of the input, 0 where it is repeated.
void broadcast(std::byte* out, const std::byte* in, Shape shape, const int64_t* steps,
               size_t itemsize) {
  if (shape.empty()) {
    std::memcpy(out, in, itemsize);
    return;
  }
  const size_t block = static_cast<size_t>(volume(shape.subspan(1))) * itemsize;
  if (steps[0] == static_cast<int64_t>(itemsize) && shape.size() == 1) {
    std::memcpy(out, in, static_cast<size_t>(shape[0]) * itemsize);
  } else if (steps[0] == 0) {
    broadcast(out, in, shape.subspan(1), steps + 1, itemsize);
    repeat_item(out, block, static_cast<size_t>(shape[0]) * block);
  } else {
    for (int64_t k = 0; k < shape[0]; k++) {
      broadcast(out + static_cast<size_t>(k) * block, in + k * steps[0], shape.subspan(1),
                steps + 1, itemsize);
    }
  }
}

std::vector<int64_t> broadcast_steps(Shape out, Shape in, size_t itemsize) {
  std::vector<int64_t> steps(out.size(), 0);
  auto step = static_cast<int64_t>(itemsize);
  for (size_t k = 0; k < in.size(); k++) {
    const int64_t extent = in[in.size() - 1 - k];
    if (k < out.size() && extent == out[out.size() - 1 - k]) {
      if (extent != 1) steps[out.size() - 1 - k] = step;
    } else if (extent != 1) {
      throw UsageError("the values cannot be broadcast to the shape");
    }
    step *= extent;
  }
  return steps;
}

double cost(const Samples& out, int64_t i) {
  return static_cast<double>(out.volume(i)) * static_cast<double>(out.itemsize()) *
         kFillNanosecondsPerByte;
}

/// The number that a value means, or -1 if there is no such class.
template <class In>
int64_t class_of(In value, int64_t classes) {
  if constexpr (std::is_floating_point_v<In>) {
    // NaN fails the comparisons. As a number of type In, `classes` may be rounded up.
    if (!(value > In(-1) && value < static_cast<In>(classes))) return -1;
    const auto index = static_cast<int64_t>(value);
    return index < classes ? index : -1;
  } else {
    if (std::cmp_less(value, 0) || std::cmp_greater_equal(value, classes)) return -1;
    return static_cast<int64_t>(value);
  }
}

template <class In, class Item>
void encode(Item* out, const In* in, int64_t outer, int64_t classes, int64_t inner,
            const Item* values) {
  // Most of the result is one value, nearly always zero, for which the C library is fastest.
  const int64_t count = outer * classes * inner;
  if (values[1] == 0) {
    std::memset(out, 0, static_cast<size_t>(count) * sizeof(Item));
  } else {
    std::fill_n(out, count, values[1]);
  }
  for (int64_t o = 0; o < outer; o++) {
    for (int64_t k = 0; k < inner; k++) {
      const int64_t index = class_of(in[o * inner + k], classes);
      if (index >= 0) out[(o * classes + index) * inner + k] = values[0];
    }
  }
}

using OneHotTypes =
    Types<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t, float, double>;

/// Items are moved, not computed with: their size is all that counts.
template <class Body>
void dispatch_size(size_t itemsize, Body&& body) {
  switch (itemsize) {
    case 1:
      return body(Tag<uint8_t>{});
    case 2:
      return body(Tag<uint16_t>{});
    case 4:
      return body(Tag<uint32_t>{});
    default:
      return body(Tag<uint64_t>{});
  }
}

}  // namespace

void fill(Samples& out, const Samples& values) {
  if (out.dtype() != values.dtype()) throw std::invalid_argument("the types differ");
  const bool streamed = exceeds_caches(out);
  parallel_for(
      out.size(), [&](int64_t i) { return cost(out, i); },
      [&](int64_t i) {
        const int64_t from = values.size() == 1 ? 0 : i;
        const auto steps = broadcast_steps(out.shape(i), values.shape(from), out.itemsize());
        if (out.volume(i) == 0) return;
        auto* to = out.data<std::byte>(i);
        const auto* value = values.data<const std::byte>(from);
        if (values.volume(from) == 1) {
          fill_one(to, value, static_cast<size_t>(out.volume(i)), out.itemsize(), streamed);
        } else {
          broadcast(to, value, out.shape(i), steps.data(), out.itemsize());
        }
      });
}

void one_hot(Samples& out, const Samples& in, int axis, const Samples& values) {
  const auto along = static_cast<size_t>(axis);
  dispatch(OneHotTypes{}, in.dtype(), [&]<class In>(Tag<In>) {
    dispatch_size(out.itemsize(), [&]<class Item>(Tag<Item>) {
      parallel_for(
          out.size(), [&](int64_t i) { return cost(out, i); },
          [&](int64_t i) {
            const Shape shape = out.shape(i);
            encode(out.data<Item>(i), in.data<const In>(i), volume(shape.first(along)),
                   shape[along], volume(shape.subspan(along + 1)), values.data<const Item>(0));
          });
    });
  });
}

}  // namespace daliesque::tensor
