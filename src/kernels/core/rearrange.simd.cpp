// SPDX-License-Identifier: Apache-2.0
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <string.h>

#include "core/half.h"
#include "core/rearrange.h"

namespace daliesque::DALIESQUE_ISA {

namespace {

/// Calls body with the size as a constant if it is a common one, and with 0 otherwise.
template <int64_t Size>
struct Fixed {
  static constexpr int64_t value = Size;
};

template <class Body>
DALIESQUE_INLINE void with_fixed_size(int64_t size, Body&& body) {
  switch (size) {
    case 1:
      return body(Fixed<1>{});
    case 2:
      return body(Fixed<2>{});
    case 3:
      return body(Fixed<3>{});
    case 4:
      return body(Fixed<4>{});
    case 6:
      return body(Fixed<6>{});
    case 8:
      return body(Fixed<8>{});
    case 12:
      return body(Fixed<12>{});
    case 16:
      return body(Fixed<16>{});
    default:
      return body(Fixed<0>{});
  }
}

void copy_runs(void* dst, int64_t dst_step, const void* src, int64_t src_step, int64_t bytes,
               int64_t count) {
  auto* to = static_cast<char*>(dst);
  const auto* from = static_cast<const char*>(src);
  with_fixed_size(bytes, [&](auto fixed) {
    constexpr int64_t kSize = decltype(fixed)::value;
    const auto length = static_cast<size_t>(kSize ? kSize : bytes);
    for (int64_t i = 0; i < count; i++) memcpy(to + i * dst_step, from + i * src_step, length);
  });
}

#ifdef __AVX2__

using Vector = __m128i;
constexpr int64_t kWidth = 16;

DALIESQUE_INLINE Vector load(const char* from) {
  return _mm_loadu_si128(reinterpret_cast<const Vector*>(from));
}
DALIESQUE_INLINE void store(char* to, Vector value) {
  _mm_storeu_si128(reinterpret_cast<Vector*>(to), value);
}

/// Shuffles that put the items of a vector into reverse order, by their size. If they do not fill
/// it, those that stand at its end come to its begin (`[1]`), or the other way round (`[0]`).
struct ReverseOrders {
  alignas(16) char order[2][kWidth + 1][kWidth] = {};

  constexpr ReverseOrders() {
    for (int64_t size = 1; size <= kWidth; size++) {
      const int64_t items = kWidth / size, spare = kWidth - items * size;
      for (int64_t k = 0; k < items * size; k++) {
        const int64_t from = (items - 1 - k / size) * size + k % size;
        order[0][size][spare + k] = static_cast<char>(from);
        order[1][size][k] = static_cast<char>(spare + from);
      }
    }
  }
};

constexpr ReverseOrders kReverseOrders;

/// As many items as fit into a vector at a time. The bytes left over in each store are overwritten
/// by the next one, so the loop stops early enough for the last store to stay inside.
int64_t reverse_vectors(char* dst, const char* src, int64_t count, int64_t size, bool ascending) {
  if (size > kWidth) return 0;
  const int64_t items = kWidth / size, last = count * size - kWidth;
  const Vector order = load(kReverseOrders.order[ascending ? 0 : 1][size]);
  int64_t done = 0;
  if (ascending) {
    for (; done * size <= last; done += items) {
      store(dst + last - done * size, _mm_shuffle_epi8(load(src + done * size), order));
    }
  } else {
    for (; done * size <= last; done += items) {
      store(dst + done * size, _mm_shuffle_epi8(load(src + last - done * size), order));
    }
  }
  return done;
}

/// In three vectors of pixels with three items, the items of one channel are at indices that are
/// different modulo the vector's width. So one blend of the three vectors holds a whole channel,
/// out of order, and one shuffle orders it; going back takes the same blends after the inverse
/// shuffle.
struct ThreeChannels {
  Vector second[3], third[3];  // where channel c (or vector c, when joining) takes from 1 and 2
  Vector to_order[3], from_order[3];

  explicit ThreeChannels(int64_t size) {
    const int64_t items = kWidth / size;
    for (int64_t channel = 0; channel < 3; channel++) {
      alignas(16) char mask1[kWidth], mask2[kWidth], sort[kWidth], unsort[kWidth];
      for (int64_t item = channel; item < 3 * items; item += 3) {
        const int64_t vector = item / items, lane = item % items, pixel = item / 3;
        for (int64_t b = 0; b < size; b++) {
          mask1[lane * size + b] = static_cast<char>(vector == 1 ? -1 : 0);
          mask2[lane * size + b] = static_cast<char>(vector == 2 ? -1 : 0);
          sort[pixel * size + b] = static_cast<char>(lane * size + b);
          unsort[lane * size + b] = static_cast<char>(pixel * size + b);
        }
      }
      second[channel] = load(mask1);
      third[channel] = load(mask2);
      to_order[channel] = load(sort);
      from_order[channel] = load(unsort);
    }
  }
};

/// Made once: that takes as long as to use it on a thousand pixels.
const ThreeChannels& three_channels(int64_t size) {
  static const ThreeChannels plans[] = {ThreeChannels(1), ThreeChannels(2), ThreeChannels(4),
                                        ThreeChannels(8)};
  return plans[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
}

DALIESQUE_INLINE Vector blend(Vector a, Vector b, Vector c, Vector from_b, Vector from_c) {
  return _mm_blendv_epi8(_mm_blendv_epi8(a, b, from_b), c, from_c);
}

int64_t split_three(char* dst, int64_t plane, const char* src, int64_t pixels, int64_t size) {
  const ThreeChannels& plan = three_channels(size);
  const int64_t items = kWidth / size;
  int64_t done = 0;
  for (; done + items <= pixels; done += items) {
    const char* from = src + done * 3 * size;
    const Vector a = load(from), b = load(from + kWidth), c = load(from + 2 * kWidth);
    for (int channel = 0; channel < 3; channel++) {
      const Vector mixed = blend(a, b, c, plan.second[channel], plan.third[channel]);
      store(dst + channel * plane + done * size, _mm_shuffle_epi8(mixed, plan.to_order[channel]));
    }
  }
  return done;
}

int64_t join_three(char* dst, const char* src, int64_t plane, int64_t pixels, int64_t size) {
  const ThreeChannels& plan = three_channels(size);
  const int64_t items = kWidth / size;
  const Vector none = _mm_setzero_si128();
  // Vector v takes the lanes where channel c's mask says v.
  Vector from_second[3], from_third[3];
  for (int vector = 0; vector < 3; vector++) {
    for (int channel = 1; channel < 3; channel++) {
      const Vector one = plan.second[channel], two = plan.third[channel];
      const Vector zero = _mm_cmpeq_epi8(_mm_or_si128(one, two), none);
      (channel == 1 ? from_second : from_third)[vector] = vector == 0   ? zero
                                                          : vector == 1 ? one
                                                                        : two;
    }
  }
  int64_t done = 0;
  for (; done + items <= pixels; done += items) {
    Vector channels[3];
    for (int channel = 0; channel < 3; channel++) {
      const Vector plane_items = load(src + channel * plane + done * size);
      channels[channel] = _mm_shuffle_epi8(plane_items, plan.from_order[channel]);
    }
    for (int vector = 0; vector < 3; vector++) {
      store(dst + done * 3 * size + vector * kWidth,
            blend(channels[0], channels[1], channels[2], from_second[vector], from_third[vector]));
    }
  }
  return done;
}

/// Orders the even items of a vector before the odd ones, or back.
DALIESQUE_INLINE Vector even_odd_order(int64_t size, bool back) {
  alignas(16) char order[kWidth];
  const int64_t half = kWidth / size / 2;
  for (int64_t k = 0; k < kWidth; k++) {
    const int64_t item = k / size;
    const int64_t from =
        back ? item / 2 + (item % 2) * half : (item < half ? 2 * item : 2 * (item - half) + 1);
    order[k] = static_cast<char>(from * size + k % size);
  }
  return load(order);
}

struct Pair {
  Vector first, second;
};

DALIESQUE_INLINE Pair unzip(Vector a, Vector b, Vector order) {
  a = _mm_shuffle_epi8(a, order);
  b = _mm_shuffle_epi8(b, order);
  return {_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)};
}
DALIESQUE_INLINE Pair zip(Vector a, Vector b, Vector order) {
  return {_mm_shuffle_epi8(_mm_unpacklo_epi64(a, b), order),
          _mm_shuffle_epi8(_mm_unpackhi_epi64(a, b), order)};
}

int64_t split_two(char* dst, int64_t plane, const char* src, int64_t pixels, int64_t size) {
  const Vector order = even_odd_order(size, false);
  const int64_t items = kWidth / size;
  int64_t done = 0;
  for (; done + items <= pixels; done += items) {
    const char* from = src + done * 2 * size;
    const Pair planes = unzip(load(from), load(from + kWidth), order);
    store(dst + done * size, planes.first);
    store(dst + plane + done * size, planes.second);
  }
  return done;
}

int64_t join_two(char* dst, const char* src, int64_t plane, int64_t pixels, int64_t size) {
  const Vector order = even_odd_order(size, true);
  const int64_t items = kWidth / size;
  int64_t done = 0;
  for (; done + items <= pixels; done += items) {
    const Pair both = zip(load(src + done * size), load(src + plane + done * size), order);
    store(dst + done * 2 * size, both.first);
    store(dst + done * 2 * size + kWidth, both.second);
  }
  return done;
}

int64_t split_four(char* dst, int64_t plane, const char* src, int64_t pixels, int64_t size) {
  const Vector order = even_odd_order(size, false);
  const int64_t items = kWidth / size;
  int64_t done = 0;
  for (; done + items <= pixels; done += items) {
    const char* from = src + done * 4 * size;
    const Pair low = unzip(load(from), load(from + kWidth), order);
    const Pair high = unzip(load(from + 2 * kWidth), load(from + 3 * kWidth), order);
    const Pair even = unzip(low.first, high.first, order);
    const Pair odd = unzip(low.second, high.second, order);
    char* to = dst + done * size;
    store(to, even.first);
    store(to + plane, odd.first);
    store(to + 2 * plane, even.second);
    store(to + 3 * plane, odd.second);
  }
  return done;
}

int64_t join_four(char* dst, const char* src, int64_t plane, int64_t pixels, int64_t size) {
  const Vector order = even_odd_order(size, true);
  const int64_t items = kWidth / size;
  int64_t done = 0;
  for (; done + items <= pixels; done += items) {
    const char* from = src + done * size;
    const Pair even = zip(load(from), load(from + 2 * plane), order);
    const Pair odd = zip(load(from + plane), load(from + 3 * plane), order);
    const Pair low = zip(even.first, odd.first, order);
    const Pair high = zip(even.second, odd.second, order);
    char* to = dst + done * 4 * size;
    store(to, low.first);
    store(to + kWidth, low.second);
    store(to + 2 * kWidth, high.first);
    store(to + 3 * kWidth, high.second);
  }
  return done;
}

bool is_vector_size(int64_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

int64_t split_vectors(char* dst, int64_t plane, const char* src, int64_t pixels, int64_t channels,
                      int64_t size) {
  if (!is_vector_size(size)) return 0;
  switch (channels) {
    case 2:
      return split_two(dst, plane, src, pixels, size);
    case 3:
      return split_three(dst, plane, src, pixels, size);
    case 4:
      return split_four(dst, plane, src, pixels, size);
    default:
      return 0;
  }
}

int64_t join_vectors(char* dst, const char* src, int64_t plane, int64_t pixels, int64_t channels,
                     int64_t size) {
  if (!is_vector_size(size)) return 0;
  switch (channels) {
    case 2:
      return join_two(dst, src, plane, pixels, size);
    case 3:
      return join_three(dst, src, plane, pixels, size);
    case 4:
      return join_four(dst, src, plane, pixels, size);
    default:
      return 0;
  }
}

template <int64_t Size>
DALIESQUE_INLINE Pair interleave(Vector a, Vector b) {
  if constexpr (Size == 1) {
    return {_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)};
  } else if constexpr (Size == 2) {
    return {_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)};
  } else if constexpr (Size == 4) {
    return {_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)};
  } else {
    return {_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)};
  }
}

/// A square of one vector's width: interleaving its halves log2(width) times transposes it.
template <int64_t Size>
DALIESQUE_INLINE void transpose_square(char* dst, const int64_t* dst_offsets, const char* src,
                                       const int64_t* src_offsets) {
  constexpr int kItems = static_cast<int>(kWidth / Size);
  Vector rows[kItems], mixed[kItems];
  for (int r = 0; r < kItems; r++) rows[r] = load(src + src_offsets[r]);
  for (int round = 1; round < kItems; round *= 2) {
    for (int r = 0; r < kItems / 2; r++) {
      const Pair both = interleave<Size>(rows[r], rows[r + kItems / 2]);
      mixed[2 * r] = both.first;
      mixed[2 * r + 1] = both.second;
    }
    for (int r = 0; r < kItems; r++) rows[r] = mixed[r];
  }
  for (int r = 0; r < kItems; r++) store(dst + dst_offsets[r], rows[r]);
}

#else

int64_t reverse_vectors(char*, const char*, int64_t, int64_t, bool) { return 0; }
int64_t split_vectors(char*, int64_t, const char*, int64_t, int64_t, int64_t) { return 0; }
int64_t join_vectors(char*, const char*, int64_t, int64_t, int64_t, int64_t) { return 0; }

#endif

void reverse(void* dst, const void* src, int64_t count, int64_t size) {
  auto* to = static_cast<char*>(dst);
  const auto* from = static_cast<const char*>(src);
  const int64_t done = reverse_vectors(to, from, count, size, false);
  if (done == count) return;
  copy_runs(to + done * size, size, from + (count - done - 1) * size, -size, size, count - done);
}

void reverse_ascending(void* dst, const void* src, int64_t count, int64_t size) {
  auto* to = static_cast<char*>(dst);
  const auto* from = static_cast<const char*>(src);
  const int64_t done = reverse_vectors(to, from, count, size, true);
  if (done == count) return;
  copy_runs(to + (count - done - 1) * size, -size, from + done * size, size, size, count - done);
}

void split(void* dst, int64_t plane_stride, const void* src, int64_t pixels, int64_t channels,
           int64_t size) {
  auto* to = static_cast<char*>(dst);
  const auto* from = static_cast<const char*>(src);
  const int64_t done = split_vectors(to, plane_stride, from, pixels, channels, size);
  for (int64_t c = 0; c < channels; c++) {
    copy_runs(to + c * plane_stride + done * size, size, from + (done * channels + c) * size,
              channels * size, size, pixels - done);
  }
}

void join(void* dst, const void* src, int64_t plane_stride, int64_t pixels, int64_t channels,
          int64_t size) {
  auto* to = static_cast<char*>(dst);
  const auto* from = static_cast<const char*>(src);
  const int64_t done = join_vectors(to, from, plane_stride, pixels, channels, size);
  for (int64_t c = 0; c < channels; c++) {
    copy_runs(to + (done * channels + c) * size, channels * size,
              from + c * plane_stride + done * size, size, size, pixels - done);
  }
}

template <int64_t Size>
DALIESQUE_INLINE void transpose_items(char* dst, const int64_t* dst_offsets, const char* src,
                                      const int64_t* src_offsets, int64_t rows, int64_t columns,
                                      int64_t size) {
  const int64_t length = Size ? Size : size;
  for (int64_t c = 0; c < columns; c++) {
    char* to = dst + dst_offsets[c];
    const char* from = src + c * length;
    for (int64_t r = 0; r < rows; r++) {
      memcpy(to + r * length, from + src_offsets[r], static_cast<size_t>(length));
    }
  }
}

/// One block, small enough that its source and destination lines stay in the first-level cache.
template <int64_t Size>
DALIESQUE_INLINE void transpose_block(char* dst, const int64_t* dst_offsets, const char* src,
                                      const int64_t* src_offsets, int64_t rows, int64_t columns,
                                      int64_t size) {
  int64_t c = 0;
#ifdef __AVX2__
  if constexpr (Size == 1 || Size == 2 || Size == 4 || Size == 8) {
    constexpr int64_t kItems = kWidth / Size;
    for (; c + kItems <= columns; c += kItems) {
      int64_t r = 0;
      for (; r + kItems <= rows; r += kItems) {
        transpose_square<Size>(dst + r * Size, dst_offsets + c, src + c * Size, src_offsets + r);
      }
      transpose_items<Size>(dst + r * Size, dst_offsets + c, src + c * Size, src_offsets + r,
                            rows - r, kItems, size);
    }
  }
#endif
  transpose_items<Size>(dst, dst_offsets + c, src + c * (Size ? Size : size), src_offsets, rows,
                        columns - c, size);
}

void transpose(void* dst, const int64_t* dst_offsets, const void* src, const int64_t* src_offsets,
               int64_t rows, int64_t columns, int64_t size) {
  constexpr int64_t kBlock = 64;
  with_fixed_size(size, [&](auto fixed) {
    constexpr int64_t kSize = decltype(fixed)::value;
    for (int64_t r = 0; r < rows; r += kBlock) {
      const int64_t block_rows = rows - r < kBlock ? rows - r : kBlock;
      for (int64_t c = 0; c < columns; c += kBlock) {
        const int64_t block_columns = columns - c < kBlock ? columns - c : kBlock;
        transpose_block<kSize>(static_cast<char*>(dst) + r * size, dst_offsets + c,
                               static_cast<const char*>(src) + c * size, src_offsets + r,
                               block_rows, block_columns, size);
      }
    }
  });
}

}  // namespace

const RearrangeLoops rearrange_loops = {reverse, reverse_ascending, split,
                                        join,    transpose,         copy_runs};

}  // namespace daliesque::DALIESQUE_ISA
