// SPDX-License-Identifier: Apache-2.0
// The loops behind convert.h. Written so that the compiler vectorizes them: clamping
// comes before rounding, and rounding is done on integers.
#include "core/convert.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/saturate.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace daliesque::DALIESQUE_ISA {

/// Elements converted at a time when a conversion goes through float.
constexpr int64_t kBlock = 512;

/// True if the limits of Out are exact in In and a 32-bit integer holds every value of Out.
template <class Out, class In>
constexpr bool fits_int32 =
    sizeof(Out) < 4 || (std::is_same_v<Out, int32_t> && std::is_same_v<In, double>);

/// Rounds half away from zero and clamps; NaN gives 0. The same as saturate(), without branches.
template <class Out, class In>
DALIESQUE_INLINE Out round_to_integer(In value) {
  using Limits = std::numeric_limits<Out>;
  constexpr In half = static_cast<In>(0.5);
  if constexpr (fits_int32<Out, In> || std::is_same_v<Out, int32_t>) {
    constexpr bool exact = fits_int32<Out, In>;
    constexpr In low = static_cast<In>(Limits::min());
    // The largest float below 2^31, where the limit itself is not a float.
    constexpr In high = exact ? static_cast<In>(Limits::max()) : static_cast<In>(2147483520);
    const In number = value == value ? value : In{0};
    const In raised = number > low ? number : low;
    const In clamped = raised < high ? raised : high;
    const auto whole = static_cast<int32_t>(clamped);
    const In rest = clamped - static_cast<In>(whole);
    const int32_t rounded = whole + (rest >= half) - (rest <= -half);
    if constexpr (exact) {
      return static_cast<Out>(rounded);
    } else {
      const int32_t above = -static_cast<int32_t>(number > high);
      return (rounded & ~above) | (Limits::max() & above);
    }
  } else {
    return saturate<Out>(value);
  }
}

template <class Out, class In>
DALIESQUE_INLINE Out convert_one(In value) {
  if constexpr (std::is_floating_point_v<In> && std::is_same_v<Out, bool>) {
    // Rounds to zero exactly below one half; NaN counts as true.
    return !(value < static_cast<In>(0.5) && value > static_cast<In>(-0.5));
  } else if constexpr (std::is_floating_point_v<In> && std::is_integral_v<Out>) {
    return round_to_integer<Out>(value);
  } else {
    return saturate<Out>(value);
  }
}

template <class Out, class In>
static void convert(void* out, const void* in, int64_t count) {
  auto* __restrict to = static_cast<Out*>(out);
  const auto* __restrict from = static_cast<const In*>(in);
  for (int64_t i = 0; i < count; i++) to[i] = convert_one<Out>(from[i]);
}

template <size_t itemsize>
static void copy(void* out, const void* in, int64_t count) {
  if (count > 0) std::memcpy(out, in, static_cast<size_t>(count) * itemsize);
}

template <>
void convert<float, float16>(void* out, const void* in, int64_t count) {
  auto* to = static_cast<float*>(out);
  const auto* from = static_cast<const float16*>(in);
  int64_t i = 0;
#ifdef __AVX2__
  for (; i + 8 <= count; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
#endif
  for (; i < count; i++) to[i] = from[i];
}

template <>
void convert<float16, float>(void* out, const void* in, int64_t count) {
  auto* to = static_cast<float16*>(out);
  const auto* from = static_cast<const float*>(in);
  int64_t i = 0;
#ifdef __AVX2__
  // Ties go away from zero by the trick of float_to_half().
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  const __m256i infinity = _mm256_set1_epi32(0x7f800000);
  const __m256i one = _mm256_set1_epi32(1);
  for (; i + 8 <= count; i += 8) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    const __m256i infinite = _mm256_cmpeq_epi32(_mm256_and_si256(bits, magnitude), infinity);
    const __m256i untied = _mm256_or_si256(bits, _mm256_andnot_si256(infinite, one));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_castsi256_ps(untied), _MM_FROUND_TO_NEAREST_INT));
  }
#endif
  for (; i < count; i++) to[i] = float16(from[i]);
}

template <>
void convert<uint8_t, float>(void* out, const void* in, int64_t count) {
  auto* to = static_cast<uint8_t*>(out);
  const auto* from = static_cast<const float*>(in);
  int64_t i = 0;
#ifdef __AVX2__
  // Just below one half: one half itself would lift the largest float below 0.5 to 1.
  const __m256 almost_half = _mm256_set1_ps(0x1.fffffep-2f), highest = _mm256_set1_ps(255.0f);
  const auto round_eight = [&](int64_t at) {
    const __m256 positive = _mm256_max_ps(_mm256_loadu_ps(from + at), _mm256_setzero_ps());
    const __m256 clamped = _mm256_min_ps(positive, highest);
    return _mm256_cvttps_epi32(_mm256_add_ps(clamped, almost_half));
  };
  // Packing works within halves; this puts the groups of four in order again.
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (; i + 32 <= count; i += 32) {
    const __m256i first = _mm256_packs_epi32(round_eight(i), round_eight(i + 8));
    const __m256i second = _mm256_packs_epi32(round_eight(i + 16), round_eight(i + 24));
    const __m256i packed = _mm256_packus_epi16(first, second);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_permutevar8x32_epi32(packed, order));
  }
#endif
  for (; i < count; i++) to[i] = convert_one<uint8_t>(from[i]);
}

/// Converts by way of float, which holds every value of the 16-bit types.
template <class Out, class In>
static void convert_through_float(void* out, const void* in, int64_t count) {
  auto* to = static_cast<Out*>(out);
  const auto* from = static_cast<const In*>(in);
  float block[kBlock];
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t size = count - i < kBlock ? count - i : kBlock;
    convert<float, In>(block, from + i, size);
    convert<Out, float>(to + i, block, size);
  }
}

template <class Out, class In>
static constexpr ConvertLoop loop_for() {
  if constexpr (std::is_same_v<Out, In>) {
    return copy<sizeof(Out)>;
  } else if constexpr (std::is_same_v<Out, float> || std::is_same_v<In, float>) {
    return convert<Out, In>;
  } else if constexpr (is_half<Out> || is_half<In>) {
    return convert_through_float<Out, In>;
  } else {
    return convert<Out, In>;
  }
}

template <class Out, class... Ins>
static ConvertLoop loop_from(Types<Ins...>, DType from) {
  ConvertLoop found = nullptr;
  ((dtype_of<Ins> == from ? (found = loop_for<Out, Ins>(), true) : false) || ...);
  return found;
}

template <class... Outs>
static ConvertLoop loop_to(Types<Outs...>, DType to, DType from) {
  ConvertLoop found = nullptr;
  ((dtype_of<Outs> == to ? (found = loop_from<Outs>(AllTypes{}, from), true) : false) || ...);
  return found;
}

ConvertLoop convert_loop(DType to, DType from) { return loop_to(AllTypes{}, to, from); }

}  // namespace daliesque::DALIESQUE_ISA
