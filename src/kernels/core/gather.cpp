// SPDX-License-Identifier: Apache-2.0
#include "core/gather.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "core/errors.h"

namespace daliesque {

namespace {

constexpr size_t kCacheLine = 64;

// The processor itself finds out what follows the beginning of a sample; so many lines of those
// that come next are fetched while others are copied.
constexpr size_t kSamplesAhead = 2, kLinesAhead = 4;

void fetch_beginning(const std::byte* data, size_t size) {
  for (size_t line = 0; line < std::min(size, kLinesAhead * kCacheLine); line += kCacheLine) {
    __builtin_prefetch(data + line);
  }
}

}  // namespace

Samples gather(const std::vector<const Samples*>& parts, std::span<const int64_t> which,
               std::span<const int64_t> at) {
  if (parts.empty()) throw std::out_of_range("nothing to copy");
  const Samples& first = *parts[0];
  for (const Samples* part : parts) {
    if (part->dtype() != first.dtype() || part->ndim() != first.ndim()) {
      throw UsageError("samples of one batch must have one type and dimensionality");
    }
    if (!part->contiguous()) throw std::invalid_argument("samples to copy must be contiguous");
  }
  std::vector<int64_t> shapes;
  shapes.reserve(which.size() * static_cast<size_t>(first.ndim()));
  std::vector<const std::byte*> data;
  data.reserve(which.size());
  for (size_t k = 0; k < which.size(); k++) {
    if (which[k] < 0 || which[k] >= static_cast<int64_t>(parts.size()) || at[k] < 0 ||
        at[k] >= parts[static_cast<size_t>(which[k])]->size()) {
      throw std::out_of_range("no such sample");
    }
    const Samples& part = *parts[static_cast<size_t>(which[k])];
    data.push_back(part.data<const std::byte>(at[k]));
    const Shape extents = part.shape(at[k]);
    shapes.insert(shapes.end(), extents.begin(), extents.end());
  }
  const auto count = static_cast<int64_t>(which.size());
  Samples out = Samples::empty(first.dtype(), first.ndim(), std::move(shapes),
                               std::string(first.layout()), count);
  const auto bytes_of = [&](size_t k) {
    return static_cast<size_t>(out.volume(static_cast<int64_t>(k))) * out.itemsize();
  };
  for (size_t k = 0; k < which.size(); k++) {
    if (k + kSamplesAhead < which.size()) {
      fetch_beginning(data[k + kSamplesAhead], bytes_of(k + kSamplesAhead));
    }
    if (const size_t size = bytes_of(k)) {
      std::memcpy(out.data(static_cast<int64_t>(k)), data[k], size);
    }
  }
  return out;
}

}  // namespace daliesque
