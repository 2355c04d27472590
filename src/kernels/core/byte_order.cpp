// SPDX-License-Identifier: Apache-2.0
#include "core/byte_order.h"

#include <bit>
#include <cstring>
#include <stdexcept>

#include "core/parallel.h"

namespace daliesque {

namespace {

uint16_t swapped(uint16_t value) { return __builtin_bswap16(value); }
uint32_t swapped(uint32_t value) { return __builtin_bswap32(value); }
uint64_t swapped(uint64_t value) { return __builtin_bswap64(value); }

template <class T>
void copy_each(void* out, const void* in, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    T value;
    // The bytes may lie at any address.
    std::memcpy(&value, static_cast<const char*>(in) + i * static_cast<int64_t>(sizeof(T)),
                sizeof(T));
    value = swapped(value);
    std::memcpy(static_cast<char*>(out) + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

}  // namespace

void copy_swapped(void* out, const void* in, int64_t count, size_t itemsize) {
  if (itemsize == 2) return copy_each<uint16_t>(out, in, count);
  if (itemsize == 4) return copy_each<uint32_t>(out, in, count);
  if (itemsize == 8) return copy_each<uint64_t>(out, in, count);
  if (out != in) std::memcpy(out, in, static_cast<size_t>(count) * itemsize);
}

void copy_big_endian(Samples& out, const Samples& in, std::span<const int64_t> offsets) {
  const size_t itemsize = out.itemsize();
  for (int64_t i = 0; i < out.size(); i++) {
    const int64_t offset = offsets[static_cast<size_t>(i)];
    const int64_t left = in.volume(i) - offset;
    if (offset < 0 || out.volume(i) * static_cast<int64_t>(itemsize) > left) {
      throw std::out_of_range("no such bytes");
    }
  }
  constexpr double kCost = 0.4;
  parallel_for(
      out.size(), [&](int64_t i) { return kCost * static_cast<double>(out.volume(i)); },
      [&](int64_t i) {
        const char* from = in.data<const char>(i) + offsets[static_cast<size_t>(i)];
        const bool native = std::endian::native == std::endian::big;
        copy_swapped(out.data(i), from,
                     native ? out.volume(i) * static_cast<int64_t>(itemsize) : out.volume(i),
                     native ? 1 : itemsize);
      });
}

}  // namespace daliesque
