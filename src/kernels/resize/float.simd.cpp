// SPDX-License-Identifier: Apache-2.0
// Resampling in single precision, bit for bit like the reference: taps are multiplied and added
// one after the other, without fused operations.
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <type_traits>

#include "resize/resize_loops.h"

namespace daliesque::resize::DALIESQUE_ISA {

namespace {

/// Rounds half to even, and clamps. The constant leaves no fraction bits in a float of its size.
template <class T>
inline T round_to(float value) {
  constexpr float low = std::is_signed_v<T> ? -32768.0f : 0.0f;
  constexpr float high = sizeof(T) == 1 ? 255.0f : std::is_signed_v<T> ? 32767.0f : 65535.0f;
  value = value > low ? value : low;
  value = value < high ? value : high;
  return static_cast<T>(static_cast<int32_t>((value + 12582912.0f) - 12582912.0f));
}
template <>
inline float round_to<float>(float value) {
  return value;
}

#ifdef __AVX2__

using Vector = __m256;

inline Vector zero() { return _mm256_setzero_ps(); }
inline Vector broadcast(float value) { return _mm256_set1_ps(value); }
inline Vector add_product(Vector sum, Vector a, Vector b) {
  return _mm256_add_ps(sum, _mm256_mul_ps(a, b));
}

inline Vector load(const float* from) { return _mm256_loadu_ps(from); }
inline Vector load(const uint8_t* from) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
}
inline Vector load(const uint16_t* from) {
  const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(words));
}
inline Vector load(const int16_t* from) {
  const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(words));
}

inline void store(float* to, Vector v) { _mm256_storeu_ps(to, v); }
inline void store(int16_t* to, Vector v) {
  const __m256i n = _mm256_cvtps_epi32(v);
  const __m128i packed = _mm_packs_epi32(_mm256_castsi256_si128(n), _mm256_extracti128_si256(n, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), packed);
}
inline void store(uint16_t* to, Vector v) {
  const __m256i n = _mm256_cvtps_epi32(v);
  const __m128i packed =
      _mm_packus_epi32(_mm256_castsi256_si128(n), _mm256_extracti128_si256(n, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), packed);
}
inline void store(uint8_t* to, Vector v) {
  const __m256i n = _mm256_cvtps_epi32(v);
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(n), _mm256_extracti128_si256(n, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(words, words));
}

inline void transpose(Vector (&v)[8]) {
  const Vector a0 = _mm256_unpacklo_ps(v[0], v[1]), a1 = _mm256_unpackhi_ps(v[0], v[1]);
  const Vector a2 = _mm256_unpacklo_ps(v[2], v[3]), a3 = _mm256_unpackhi_ps(v[2], v[3]);
  const Vector a4 = _mm256_unpacklo_ps(v[4], v[5]), a5 = _mm256_unpackhi_ps(v[4], v[5]);
  const Vector a6 = _mm256_unpacklo_ps(v[6], v[7]), a7 = _mm256_unpackhi_ps(v[6], v[7]);
  const Vector b0 = _mm256_shuffle_ps(a0, a2, 0x44), b1 = _mm256_shuffle_ps(a0, a2, 0xEE);
  const Vector b2 = _mm256_shuffle_ps(a1, a3, 0x44), b3 = _mm256_shuffle_ps(a1, a3, 0xEE);
  const Vector b4 = _mm256_shuffle_ps(a4, a6, 0x44), b5 = _mm256_shuffle_ps(a4, a6, 0xEE);
  const Vector b6 = _mm256_shuffle_ps(a5, a7, 0x44), b7 = _mm256_shuffle_ps(a5, a7, 0xEE);
  v[0] = _mm256_permute2f128_ps(b0, b4, 0x20);
  v[1] = _mm256_permute2f128_ps(b1, b5, 0x20);
  v[2] = _mm256_permute2f128_ps(b2, b6, 0x20);
  v[3] = _mm256_permute2f128_ps(b3, b7, 0x20);
  v[4] = _mm256_permute2f128_ps(b0, b4, 0x31);
  v[5] = _mm256_permute2f128_ps(b1, b5, 0x31);
  v[6] = _mm256_permute2f128_ps(b2, b6, 0x31);
  v[7] = _mm256_permute2f128_ps(b3, b7, 0x31);
}

#else

struct Vector {
  float lane[8];
};

inline Vector broadcast(float value) {
  Vector v;
  for (float& lane : v.lane) lane = value;
  return v;
}
inline Vector zero() { return broadcast(0); }
inline Vector add_product(Vector sum, const Vector& a, const Vector& b) {
  for (int i = 0; i < 8; i++) sum.lane[i] += a.lane[i] * b.lane[i];
  return sum;
}
template <class T>
inline Vector load(const T* from) {
  Vector v;
  for (int i = 0; i < 8; i++) v.lane[i] = static_cast<float>(from[i]);
  return v;
}
template <class T>
inline void store(T* to, const Vector& v) {
  for (int i = 0; i < 8; i++) to[i] = round_to<T>(v.lane[i]);
}
inline void transpose(Vector (&v)[8]) {
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < i; j++) {
      const float kept = v[i].lane[j];
      v[i].lane[j] = v[j].lane[i];
      v[j].lane[i] = kept;
    }
  }
}

#endif

template <class Out, class In>
void blend_rows(void* out_bytes, const RowTaps<void, float>& taps, int64_t count) {
  auto* out = static_cast<Out*>(out_bytes);
  int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    constexpr int64_t kSize = sizeof(In);
    for (int64_t offset = i * kSize; offset < (i + 32) * kSize; offset += 64) taps.fetch(offset);
    Vector s0 = zero(), s1 = zero(), s2 = zero(), s3 = zero();
    for (int k = 0; k < taps.taps; k++) {
      const In* in = static_cast<const In*>(taps.rows[k]) + i;
      const Vector weight = broadcast(taps.weights[k]);
      s0 = add_product(s0, load(in), weight);
      s1 = add_product(s1, load(in + 8), weight);
      s2 = add_product(s2, load(in + 16), weight);
      s3 = add_product(s3, load(in + 24), weight);
    }
    store(out + i, s0);
    store(out + i + 8, s1);
    store(out + i + 16, s2);
    store(out + i + 24, s3);
  }
  for (; i + 8 <= count; i += 8) {
    Vector sum = zero();
    for (int k = 0; k < taps.taps; k++) {
      const In* in = static_cast<const In*>(taps.rows[k]) + i;
      sum = add_product(sum, load(in), broadcast(taps.weights[k]));
    }
    store(out + i, sum);
  }
  for (; i < count; i++) {
    float sum = 0;
    for (int k = 0; k < taps.taps; k++) {
      sum += static_cast<float>(static_cast<const In*>(taps.rows[k])[i]) * taps.weights[k];
    }
    out[i] = round_to<Out>(sum);
  }
}

/// Element j of the eight rows becomes vector j.
template <class In>
void transpose_in(float* to, const void* const* rows, int64_t begin, int64_t count) {
  int64_t j = 0;
  for (; j + 8 <= count; j += 8) {
    Vector v[8];
    for (int r = 0; r < 8; r++) v[r] = load(static_cast<const In*>(rows[r]) + begin + j);
    transpose(v);
    for (int r = 0; r < 8; r++) store(to + (j + r) * 8, v[r]);
  }
  for (; j < count; j++) {
    for (int r = 0; r < 8; r++) {
      to[j * 8 + r] = static_cast<float>(static_cast<const In*>(rows[r])[begin + j]);
    }
  }
}

template <class Out>
void transpose_out(void* const* out, const float* from, int64_t begin, int64_t count, int rows) {
  int64_t j = 0;
  for (; j + 8 <= count; j += 8) {
    Vector v[8];
    for (int r = 0; r < 8; r++) v[r] = load(from + (j + r) * 8);
    transpose(v);
    for (int r = 0; r < rows; r++) store(static_cast<Out*>(out[r]) + begin + j, v[r]);
  }
  for (; j < count; j++) {
    for (int r = 0; r < rows; r++) {
      static_cast<Out*>(out[r])[begin + j] = round_to<Out>(from[j * 8 + r]);
    }
  }
}

/// Sums `Channels` neighboring vectors over the taps, which are `stride` vectors apart.
template <int Channels>
inline void sum_taps(float* to, const float* from, const float* weights, int taps, int64_t stride) {
  Vector sums[Channels];
  for (auto& sum : sums) sum = zero();
  for (int k = 0; k < taps; k++, from += stride * 8) {
    const Vector weight = broadcast(weights[k]);
    for (int c = 0; c < Channels; c++) {
      sums[c] = add_product(sums[c], load(from + c * 8), weight);
    }
  }
  for (int c = 0; c < Channels; c++) store(to + c * 8, sums[c]);
}

inline void sum_pixel(float* to, const float* from, const float* weights, int taps,
                      int64_t channels) {
  switch (channels) {
    case 1:
      return sum_taps<1>(to, from, weights, taps, 1);
    case 3:
      return sum_taps<3>(to, from, weights, taps, 3);
    case 4:
      return sum_taps<4>(to, from, weights, taps, 4);
    default:
      for (int64_t c = 0; c < channels; c++) {
        sum_taps<1>(to + c * 8, from + c * 8, weights, taps, channels);
      }
  }
}

/// One row at a time, for groups too small to fill the lanes.
template <class Out, class In>
void resample_row(Out* out, const In* in, const Columns<float>& columns) {
  const int64_t channels = columns.channels;
  for (int64_t x = 0; x < columns.out_size; x++) {
    const float* weights = columns.weights + x * columns.taps;
    const In* from = in + columns.start[x] * channels;
    for (int64_t c = 0; c < channels; c++) {
      float sum = 0;
      for (int k = 0; k < columns.taps; k++) {
        sum += static_cast<float>(from[k * channels + c]) * weights[k];
      }
      out[x * channels + c] = round_to<Out>(sum);
    }
  }
}

template <class Out, class In>
void resample_columns(void* const* out, const void* const* rows, int count,
                      const Columns<float>& columns, void* scratch) {
  if (count <= 2) {
    for (int r = 0; r < count; r++) {
      resample_row(static_cast<Out*>(out[r]), static_cast<const In*>(rows[r]), columns);
    }
    return;
  }
  const int64_t channels = columns.channels;
  auto* sums = static_cast<float*>(scratch);
  float* transposed = sums + kColumnBlock * channels * 8;
  for (int64_t x0 = 0, b = 0; x0 < columns.out_size; x0 += kColumnBlock, b++) {
    const int64_t x1 = x0 + kColumnBlock < columns.out_size ? x0 + kColumnBlock : columns.out_size;
    const InputRange in = columns.blocks[b];
    transpose_in<In>(transposed, rows, in.begin * channels, (in.end - in.begin) * channels);
    for (int64_t x = x0; x < x1; x++) {
      sum_pixel(sums + (x - x0) * channels * 8,
                transposed + (columns.start[x] - in.begin) * channels * 8,
                columns.weights + x * columns.taps, columns.taps, channels);
    }
    transpose_out<Out>(out, sums, x0 * channels, (x1 - x0) * channels, count);
  }
}

}  // namespace

const FloatResizeLoops float_resize_loops = {
    {
        {blend_rows<uint8_t, uint8_t>, nullptr, nullptr, blend_rows<uint8_t, float>},
        {nullptr, blend_rows<uint16_t, uint16_t>, nullptr, blend_rows<uint16_t, float>},
        {nullptr, nullptr, blend_rows<int16_t, int16_t>, blend_rows<int16_t, float>},
        {blend_rows<float, uint8_t>, blend_rows<float, uint16_t>, blend_rows<float, int16_t>,
         blend_rows<float, float>},
    },
    {
        {resample_columns<uint8_t, uint8_t>, nullptr, nullptr, resample_columns<uint8_t, float>},
        {nullptr, resample_columns<uint16_t, uint16_t>, nullptr, resample_columns<uint16_t, float>},
        {nullptr, nullptr, resample_columns<int16_t, int16_t>, resample_columns<int16_t, float>},
        {resample_columns<float, uint8_t>, resample_columns<float, uint16_t>,
         resample_columns<float, int16_t>, resample_columns<float, float>},
    },
};

}  // namespace daliesque::resize::DALIESQUE_ISA
