// SPDX-License-Identifier: Apache-2.0
#include "audio/lanes.simd.h"
#include "audio/vorbis_bits.simd.h"
#include "audio/vorbis_mdct.simd.h"

namespace daliesque::audio::DALIESQUE_ISA {

namespace {

/// Vectors of `dimensions` numbers, or of any length if that is 0.
template <int dimensions>
bool add_vectors_of(VorbisBits& given, const VorbisBook& book, float* out, int64_t count) {
  VorbisBits bits = given;
  const int step = dimensions > 0 ? dimensions : book.dimensions;
  for (const float* const end = out + count; out < end; out += step) {
    vorbis_refill(bits);
    const float* vector = book.vectors + static_cast<int64_t>(vorbis_entry(bits, book)) * step;
    if (bits.left < 0) break;
    if constexpr (dimensions >= 2) {
      using W = Wide<(dimensions < kWidest ? dimensions : kWidest)>;
      for (int k = 0; k < dimensions; k += W::lanes) {
        W::store(out + k, W::load(out + k) + W::load(vector + k));
      }
    } else {
      for (int k = 0; k < step; k++) out[k] += vector[k];
    }
  }
  given = bits;
  return bits.left >= 0;
}

bool add_vectors(VorbisBits& bits, const VorbisBook& book, float* out, int64_t count) {
  switch (book.dimensions) {
    case 1:
      return add_vectors_of<1>(bits, book, out, count);
    case 2:
      return add_vectors_of<2>(bits, book, out, count);
    case 4:
      return add_vectors_of<4>(bits, book, out, count);
    case 8:
      return add_vectors_of<8>(bits, book, out, count);
    default:
      return add_vectors_of<0>(bits, book, out, count);
  }
}

bool add_spread_vectors(VorbisBits& bits, const VorbisBook& book, float* out, int64_t count) {
  const int64_t step = count / book.dimensions;
  for (int64_t i = 0; i < step; i++) {
    vorbis_refill(bits);
    const float* vector =
        book.vectors + static_cast<int64_t>(vorbis_entry(bits, book)) * book.dimensions;
    if (bits.left < 0) return false;
    for (int k = 0; k < book.dimensions; k++) out[i + k * step] += vector[k];
  }
  return true;
}

void uncouple(float* magnitude, float* angle, int64_t count) {
  const Floats zero{};
  for (int64_t i = 0; i < count; i += kLanes) {
    const Floats m = Lanes::load(magnitude + i), a = Lanes::load(angle + i);
    const Floats toward = m > zero ? a : -a;
    Lanes::store(magnitude + i, a > zero ? m : m + toward);
    Lanes::store(angle + i, a > zero ? m - toward : m);
  }
}

void split_pairs(float* left, float* right, const float* in, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const Pair pair = split(Lanes::load(in + 2 * i), Lanes::load(in + 2 * i + kLanes));
    Lanes::store(left + i, pair.even);
    Lanes::store(right + i, pair.odd);
  }
}

using Ints [[gnu::vector_size(4 * kLanes)]] = int32_t;

/// The numbers of a table at some positions.
DALIESQUE_INLINE void look_up(float* out, const float* table, const Ints& positions) {
#ifdef __AVX2__
  _mm256_storeu_ps(out, _mm256_i32gather_ps(table, reinterpret_cast<__m256i>(positions), 4));
#else
  for (int k = 0; k < kLanes; k++) out[k] = table[positions[k]];
#endif
}

void draw_line(float* out, int64_t count, int64_t length, int from, int to, const float* levels) {
  const int32_t sign = to < from ? -1 : 1;
  const auto change = static_cast<float>((to - from) * sign);
  // Levels are less than 256 apart and lines no longer than kMostVorbisLine, so the products are
  // exact and, half a step away from multiples of the length, stay on their side of these.
  const float inverse = 1 / static_cast<float>(length);
  Floats x;
  for (int k = 0; k < kLanes; k++) x[k] = static_cast<float>(k);
  for (int64_t i = 0; i < count; i += kLanes) {
    const Floats steps = (x * change + 0.5f) * inverse;
    Ints level = from + sign * __builtin_convertvector(steps, Ints);
    // Lanes beyond the end of the line may leave the table.
    level = level < 0 ? Ints{} : level;
    level = level > kMostVorbisLevel ? kMostVorbisLevel - Ints{} : level;
    look_up(out + i, levels, level);
    x += static_cast<float>(kLanes);
  }
}

void make_pairs(float* out, const float* left, const float* right, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    merge(out + 2 * i, {Lanes::load(left + i), Lanes::load(right + i)});
  }
  for (; i < count; i++) {
    out[2 * i] = left[i];
    out[2 * i + 1] = right[i];
  }
}

}  // namespace

const VorbisLoops vorbis_loops = {add_vectors, add_spread_vectors, uncouple,     split_pairs,
                                  make_pairs,  draw_line,          inverse_mdct, overlap,
                                  mirror};

}  // namespace daliesque::audio::DALIESQUE_ISA
