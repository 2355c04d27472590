// SPDX-License-Identifier: Apache-2.0
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "core/saturate.h"
#include "tensor/normalize_rows.h"

namespace daliesque::tensor::DALIESQUE_ISA {

namespace {

template <class In>
void normalize(float* __restrict out, const void* in, int64_t count, float mean, float scale,
               float shift) {
  const auto* __restrict from = static_cast<const In*>(in);
  int64_t i = 0;
#ifdef __AVX2__
  if constexpr (std::is_same_v<In, float16>) {
    const __m256 means = _mm256_set1_ps(mean), scales = _mm256_set1_ps(scale);
    const __m256 shifts = _mm256_set1_ps(shift);
    for (; i + 8 <= count; i += 8) {
      const auto* halves = reinterpret_cast<const __m128i*>(from + i);
      const __m256 value = _mm256_cvtph_ps(_mm_loadu_si128(halves));
      const __m256 scaled = _mm256_mul_ps(_mm256_sub_ps(value, means), scales);
      _mm256_storeu_ps(out + i, _mm256_add_ps(scaled, shifts));
    }
  }
#endif
  for (; i < count; i++) out[i] = (static_cast<float>(from[i]) - mean) * scale + shift;
}

template <class In>
void normalize_each(float* __restrict out, const void* in, int64_t count,
                    const float* __restrict mean, const float* __restrict scale, float shift) {
  const auto* __restrict from = static_cast<const In*>(in);
  for (int64_t i = 0; i < count; i++) {
    out[i] = (static_cast<float>(from[i]) - mean[i]) * scale[i] + shift;
  }
}

/// Adding just under a half and cutting off the fraction rounds halves away from zero, exactly, for
/// every float; unlike round() it can be vectorized.
template <class Out>
DALIESQUE_INLINE Out round_to_small(float value) {
  constexpr float kAlmostHalf = 0x1.fffffep-2f;
  constexpr auto kLowest = static_cast<float>(std::numeric_limits<Out>::min());
  constexpr auto kHighest = static_cast<float>(std::numeric_limits<Out>::max());
  const float number = value == value ? value : 0.0f;
  const float moved = number + (number < 0 ? -kAlmostHalf : kAlmostHalf);
  const float above = moved > kLowest ? moved : kLowest;
  const float inside = above < kHighest ? above : kHighest;
  return static_cast<Out>(static_cast<int32_t>(inside));
}

#ifdef __AVX2__
/// Rounding to nearest even then rounds ties away from zero: see float_to_half.
DALIESQUE_INLINE __m256 break_ties(__m256 values) {
  const __m256i bits = _mm256_castps_si256(values);
  const __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
  const __m256i infinite = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(0x7f800000));
  const __m256i one = _mm256_andnot_si256(infinite, _mm256_set1_epi32(1));
  return _mm256_castsi256_ps(_mm256_or_si256(bits, one));
}
#endif

template <class Out>
void store(void* out, const float* __restrict in, int64_t count) {
  auto* __restrict to = static_cast<Out*>(out);
  int64_t i = 0;
#ifdef __AVX2__
  if constexpr (std::is_same_v<Out, float16>) {
    for (; i + 8 <= count; i += 8) {
      const __m128i halves = _mm256_cvtps_ph(break_ties(_mm256_loadu_ps(in + i)), 0);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), halves);
    }
  }
#endif
  for (; i < count; i++) {
    if constexpr (std::is_integral_v<Out> && sizeof(Out) <= 2) {
      to[i] = round_to_small<Out>(in[i]);
    } else {
      to[i] = saturate<Out>(in[i]);
    }
  }
}

template <class Function, template <class> class Entry>
Function find(DType type) {
  switch (type) {
    case DType::uint8:
      return Entry<uint8_t>::function;
    case DType::uint16:
      return Entry<uint16_t>::function;
    case DType::uint32:
      return Entry<uint32_t>::function;
    case DType::uint64:
      return Entry<uint64_t>::function;
    case DType::int8:
      return Entry<int8_t>::function;
    case DType::int16:
      return Entry<int16_t>::function;
    case DType::int32:
      return Entry<int32_t>::function;
    case DType::int64:
      return Entry<int64_t>::function;
    case DType::float16:
      return Entry<float16>::function;
    case DType::bfloat16:
      return Entry<bfloat16>::function;
    case DType::float32:
      return Entry<float>::function;
    case DType::float64:
      return Entry<double>::function;
    default:
      return nullptr;
  }
}

template <class In>
struct NormalizeEntry {
  static constexpr NormalizeToFloat function = normalize<In>;
};
template <class In>
struct NormalizeEachEntry {
  static constexpr NormalizeEachToFloat function = normalize_each<In>;
};
template <class Out>
struct StoreEntry {
  static constexpr StoreFloats function = store<Out>;
};

#ifdef __AVX2__
/// How 16 pixels are split into channels. As in the general splitting of pixels: one blend of three
/// vectors holds a whole channel, one shuffle puts it in order, here from either end.
struct PixelSplit {
  alignas(16) char second[3][16] = {}, third[3][16] = {}, order[2][3][16] = {};

  constexpr PixelSplit() {
    for (int c = 0; c < 3; c++) {
      for (int k = 0; k < 16; k++) {
        // Lane k of the blend holds the item of channel c among items k, k + 16 and k + 32.
        const int vector = (c + 2 * k) % 3;
        second[c][k] = vector == 1 ? -1 : 0;
        third[c][k] = vector == 2 ? -1 : 0;
        order[0][c][k] = static_cast<char>((3 * k + c) % 16);
        order[1][c][k] = static_cast<char>((3 * (15 - k) + c) % 16);
      }
    }
  }
};
// Made by the compiler: to make it for each row would take longer than most rows do.
constexpr PixelSplit kPixelSplit;
#endif

void rgb_to_planes(float* out, int64_t plane_stride, const uint8_t* in, int64_t pixels, bool mirror,
                   const float* mean, const float* scale) {
  int64_t done = 0;
#ifdef __AVX2__
  const auto load = [](const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  __m128i second[3], third[3], order[3];
  for (int c = 0; c < 3; c++) {
    second[c] = load(kPixelSplit.second[c]);
    third[c] = load(kPixelSplit.third[c]);
    order[c] = load(kPixelSplit.order[mirror][c]);
  }
  for (; done + 16 <= pixels; done += 16) {
    const uint8_t* from = in + 3 * (mirror ? pixels - done - 16 : done);
    const __m128i a = load(from), b = load(from + 16), d = load(from + 32);
    for (int c = 0; c < 3; c++) {
      const __m128i mixed = _mm_blendv_epi8(_mm_blendv_epi8(a, b, second[c]), d, third[c]);
      const __m128i values = _mm_shuffle_epi8(mixed, order[c]);
      const __m256 low = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(values));
      const __m256 high = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(values, 8)));
      const __m256 means = _mm256_set1_ps(mean[c]), scales = _mm256_set1_ps(scale[c]);
      float* to = out + c * plane_stride + done;
      _mm256_storeu_ps(to, _mm256_mul_ps(_mm256_sub_ps(low, means), scales));
      _mm256_storeu_ps(to + 8, _mm256_mul_ps(_mm256_sub_ps(high, means), scales));
    }
  }
#endif
  for (; done < pixels; done++) {
    const uint8_t* from = in + 3 * (mirror ? pixels - done - 1 : done);
    for (int c = 0; c < 3; c++) {
      out[c * plane_stride + done] = (static_cast<float>(from[c]) - mean[c]) * scale[c];
    }
  }
}

void add(double* sums, const float* __restrict values, int64_t count) {
  double local[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int64_t k = 0; k < kSums; k++) local[k] += static_cast<double>(values[i + k]);
  }
  for (int64_t k = 0; i < count; i++, k++) local[k] += static_cast<double>(values[i]);
  for (int64_t k = 0; k < kSums; k++) sums[k] += local[k];
}

void add_squares(double* sums, const float* __restrict values, int64_t count) {
  double local[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int64_t k = 0; k < kSums; k++) {
      const auto value = static_cast<double>(values[i + k]);
      local[k] += value * value;
    }
  }
  for (int64_t k = 0; i < count; i++, k++) {
    const auto value = static_cast<double>(values[i]);
    local[k] += value * value;
  }
  for (int64_t k = 0; k < kSums; k++) sums[k] += local[k];
}

void add_each(double* __restrict sums, int64_t length, const float* __restrict values,
              int64_t count) {
  for (int64_t i = 0; i < count; i += length) {
    const int64_t end = count - i < length ? count - i : length;
    for (int64_t k = 0; k < end; k++) sums[k] += static_cast<double>(values[i + k]);
  }
}

void add_each_square(double* __restrict sums, int64_t length, const float* __restrict values,
                     int64_t count) {
  for (int64_t i = 0; i < count; i += length) {
    const int64_t end = count - i < length ? count - i : length;
    for (int64_t k = 0; k < end; k++) {
      const auto value = static_cast<double>(values[i + k]);
      sums[k] += value * value;
    }
  }
}

void add_bytes(uint64_t* sum, uint64_t* squares, const uint8_t* values, int64_t count) {
  uint64_t total = 0, total_squares = 0;
  int64_t i = 0;
#ifdef __AVX2__
  const __m256i zero = _mm256_setzero_si256();
  __m256i sums = zero, products = zero;
  for (; i + 32 <= count; i += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + i));
    const __m256i low = _mm256_unpacklo_epi8(bytes, zero), high = _mm256_unpackhi_epi8(bytes, zero);
    sums = _mm256_add_epi64(sums, _mm256_sad_epu8(bytes, zero));
    // Each lane stays below 2^31: it gets a sixteenth of at most kMostBytes squares, twice.
    products = _mm256_add_epi32(products, _mm256_madd_epi16(low, low));
    products = _mm256_add_epi32(products, _mm256_madd_epi16(high, high));
  }
  alignas(32) uint64_t parts[4];
  alignas(32) uint32_t parts_squares[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(parts), sums);
  _mm256_store_si256(reinterpret_cast<__m256i*>(parts_squares), products);
  for (const uint64_t part : parts) total += part;
  for (const uint32_t part : parts_squares) total_squares += part;
#endif
  for (; i < count; i++) {
    total += values[i];
    total_squares += static_cast<uint32_t>(values[i]) * values[i];
  }
  *sum += total;
  *squares += total_squares;
}

void add_bytes_each(uint32_t* __restrict sums, uint32_t* __restrict squares, int64_t length,
                    const uint8_t* __restrict values, int64_t count) {
  for (int64_t i = 0; i < count; i += length) {
    const int64_t end = count - i < length ? count - i : length;
    for (int64_t k = 0; k < end; k++) {
      const uint32_t value = values[i + k];
      sums[k] += value;
      squares[k] += value * value;
    }
  }
}

}  // namespace

const NormalizeLoops normalize_loops = {
    find<NormalizeToFloat, NormalizeEntry>,
    find<NormalizeEachToFloat, NormalizeEachEntry>,
    find<StoreFloats, StoreEntry>,
    rgb_to_planes,
    add,
    add_squares,
    add_each,
    add_each_square,
    add_bytes,
    add_bytes_each,
};

}  // namespace daliesque::tensor::DALIESQUE_ISA
