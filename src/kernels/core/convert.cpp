// SPDX-License-Identifier: Apache-2.0
#include "core/convert.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/errors.h"
#include "core/parallel.h"
#include "core/simd.h"
#include "core/stream.h"

namespace daliesque {

namespace portable {
ConvertLoop convert_loop(DType to, DType from);
}
namespace avx2 {
ConvertLoop convert_loop(DType to, DType from);
}

namespace {

// Pieces start on whole cache lines of the output for every element type.
constexpr int64_t kElementsPerUnit = 64;
constexpr double kConvertNanosecondsPerByte = 0.08;

bool is_enum(DType type) { return storage_type(type) != type; }

bool is_floating(DType type) {
  return type == DType::float16 || type == DType::bfloat16 || type == DType::float32 ||
         type == DType::float64;
}

/// Converts block by block, writing past the caches.
void convert_streamed(ConvertLoop loop, std::byte* to, const std::byte* from, size_t to_size,
                      size_t from_size, int64_t count) {
  constexpr int64_t block = 1024;
  alignas(64) std::byte converted[block * 8];
  for (int64_t i = 0; i < count; i += block) {
    const int64_t size = std::min(block, count - i);
    loop(converted, from + static_cast<size_t>(i) * from_size, size);
    stream_copy(to + static_cast<size_t>(i) * to_size, converted,
                static_cast<size_t>(size) * to_size);
  }
  stream_fence();
}

}  // namespace

ConvertLoop convert_loop(DType to, DType from) {
  to = storage_type(to);
  from = storage_type(from);
  const ConvertLoop loop = DALIESQUE_CHOOSE(convert_loop(to, from));
  if (!loop) {
    throw UsageError(std::string("cannot convert ") + dtype_name(from) + " to " + dtype_name(to));
  }
  return loop;
}

void check_cast(DType to, DType from) {
  if ((is_enum(to) && is_floating(from)) || (is_enum(from) && is_floating(to))) {
    throw UsageError(std::string("cannot cast ") + dtype_name(from) + " to " + dtype_name(to) +
                     ": enum types convert to and from integer types only");
  }
}

void cast(Samples& out, const Samples& in) {
  check_cast(out.dtype(), in.dtype());
  const ConvertLoop loop = convert_loop(out.dtype(), in.dtype());
  const size_t to_size = out.itemsize(), from_size = in.itemsize();
  const bool streamed = exceeds_caches(out, in);
  // Together, packed samples are one array.
  const bool dense = in.packed() && out.packed() && in.size() > 0;
  const auto elements = [&](int64_t i) { return dense ? in.total_volume() : in.volume(i); };
  parallel_slices(
      dense ? 1 : in.size(),
      [&](int64_t i) { return (elements(i) + kElementsPerUnit - 1) / kElementsPerUnit; },
      [&](int64_t) {
        return static_cast<double>(to_size + from_size) * kElementsPerUnit *
               kConvertNanosecondsPerByte;
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        begin *= kElementsPerUnit;
        const int64_t count = std::min(end * kElementsPerUnit, elements(i)) - begin;
        auto* to = out.data<std::byte>(i) + static_cast<size_t>(begin) * to_size;
        const auto* from = in.data<const std::byte>(i) + static_cast<size_t>(begin) * from_size;
        if (streamed) {
          convert_streamed(loop, to, from, to_size, from_size, count);
        } else {
          loop(to, from, count);
        }
      });
}

}  // namespace daliesque
