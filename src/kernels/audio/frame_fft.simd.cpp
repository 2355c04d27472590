// SPDX-License-Identifier: Apache-2.0
#include "audio/butterflies.simd.h"
#include "audio/frame_loops.h"

namespace daliesque::audio::DALIESQUE_ISA {

namespace {

// An element of the work space: the real parts of all lanes, then the imaginary ones.
constexpr int64_t kElement = 2 * kFftLanes;
// So many elements fit into the fastest cache. Of more, each quarter is finished by itself, once
// the first pass has made them independent.
constexpr int64_t kWhole = 256;

template <class W>
DALIESQUE_INLINE Value<W> get(const float* element) {
  return {W::load(element), W::load(element + kFftLanes)};
}

template <class W>
DALIESQUE_INLINE void put(float* element, const Value<W>& value) {
  W::store(element, value.re);
  W::store(element + kFftLanes, value.im);
}

/// The same number in all lanes.
template <class W>
DALIESQUE_INLINE Value<W> spread(const float* number) {
  const typename W::Type zero{};
  return {number[0] - zero, number[1] - zero};
}

template <class W>
DALIESQUE_INLINE Value<W> multiply(const Value<W>& a, const Value<W>& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// Four numbers of as many rows as there are lanes, times the window if there is one: those at `at`
/// become out[0].
template <class W>
DALIESQUE_INLINE void load_four(typename W::Type (&out)[4], const float* const* rows,
                                const float* window, int64_t at) {
#ifdef __AVX2__
  // Putting halves together while loading spares a third of the shuffles of whole vectors.
  __m256 r[4];
  for (int k = 0; k < 4; k++) {
    const __m128 low = _mm_loadu_ps(rows[k] + at), high = _mm_loadu_ps(rows[k + 4] + at);
    r[k] = _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
  }
  const __m256 a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
  const __m256 c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);
  out[0] = _mm256_shuffle_ps(a, c, 0x44);
  out[1] = _mm256_shuffle_ps(a, c, 0xee);
  out[2] = _mm256_shuffle_ps(b, d, 0x44);
  out[3] = _mm256_shuffle_ps(b, d, 0xee);
#else
  static_assert(W::lanes == 4);
  for (int k = 0; k < 4; k++) {
    out[k] = typename W::Type{rows[0][at + k], rows[1][at + k], rows[2][at + k], rows[3][at + k]};
  }
#endif
  if (!window) return;
  for (int k = 0; k < 4; k++) out[k] *= window[at + k];
}

/// The same where the input ends among these numbers, or has ended before; zeros follow it.
template <class W>
[[gnu::noinline]] void load_end(typename W::Type (&out)[4], const float* const* rows,
                                const float* window, int64_t at, int64_t count) {
  for (int k = 0; k < 4; k++) {
    float numbers[W::lanes] = {};
    for (int lane = 0; lane < W::lanes && at + k < count; lane++) {
      numbers[lane] = rows[lane][at + k] * (window ? window[at + k] : 1);
    }
    out[k] = W::load(numbers);
  }
}

/// Two neighboring butterflies of the first pass. `parts` are the inputs: real and imaginary part
/// for the one, then for the other; those beyond `present` are zero.
template <class W, int present>
DALIESQUE_INLINE void first_columns(float* to, int64_t span,
                                    const typename W::Type (&parts)[present][4],
                                    const float* twiddles) {
  for (int next = 0; next < 2; next++) {
    Value<W> v[4];
    for (int k = 0; k < present; k++) v[k] = {parts[k][2 * next], parts[k][2 * next + 1]};
    if constexpr (present == 4) {
      Butterfly<W, 4>::run(v, nullptr);
    } else {
      const Value<W> a = add(v[0], v[2]), b = subtract(v[0], v[2]), c = v[1],
                     d = times_minus_i(v[1]);
      v[0] = add(a, c);
      v[1] = add(b, d);
      v[2] = subtract(a, c);
      v[3] = subtract(b, d);
    }
    float* element = to + next * kElement;
    put(element, v[0]);
    for (int k = 1; k < 4; k++) {
      const Value<W> factor = spread<W>(twiddles + 6 * next + 2 * (k - 1));
      put(element + k * span * kElement, multiply(v[k], factor));
    }
  }
}

template <class W, bool windowed>
DALIESQUE_INLINE void first_pass(float* work, const FrameInput& in, const FramePass& pass,
                                 int64_t lane) {
  const float* rows[W::lanes];
  for (int k = 0; k < W::lanes; k++) rows[k] = in.rows[lane + k];
  const float *window = windowed ? in.window : nullptr, *twiddles = pass.twiddles;
  const int64_t span = pass.span, count = in.count;
  for (int64_t j = 0; j < span; j += 2, twiddles += 12) {
    float* to = work + j * kElement + lane;
    const int64_t third = 2 * (j + 2 * span), fourth = third + 2 * span;
    // Windows are often shorter than the transform.
    if (third + 4 <= count && fourth >= count) {
      typename W::Type parts[3][4];
      for (int k = 0; k < 3; k++) load_four<W>(parts[k], rows, window, 2 * (j + k * span));
      first_columns<W, 3>(to, span, parts, twiddles);
    } else if (fourth + 4 <= count) {
      typename W::Type parts[4][4];
      for (int k = 0; k < 4; k++) load_four<W>(parts[k], rows, window, 2 * (j + k * span));
      first_columns<W, 4>(to, span, parts, twiddles);
    } else {
      typename W::Type parts[4][4];
      for (int k = 0; k < 4; k++) {
        const int64_t at = 2 * (j + k * span);
        if (at + 4 <= count) {
          load_four<W>(parts[k], rows, window, at);
        } else {
          load_end<W>(parts[k], in.rows + lane, window, at, count);
        }
      }
      first_columns<W, 4>(to, span, parts, twiddles);
    }
  }
}

/// Brings memory into the cache little by little, so that the arithmetic in between hides the wait.
class Fetching {
 public:
  Fetching(const FrameAhead& ahead, int64_t portions)
      : at_(reinterpret_cast<const char*>(ahead.first)),
        step_(ahead.step * 4),
        left_(ahead.count),
        portion_((ahead.count + portions - 1) / portions) {}

  DALIESQUE_INLINE void next() {
    if (left_ <= 0) return;
    left_ -= portion_;
    for (int64_t k = 0; k < portion_; k++, at_ += step_) __builtin_prefetch(at_);
  }

 private:
  const char* at_;
  int64_t step_, left_, portion_;
};

template <class W, int radix, bool rotated>
DALIESQUE_INLINE void middle_column(float* work, int64_t half, const FramePass& pass, int64_t j,
                                    Fetching& in, Fetching& out) {
  Value<W> factors[radix - 1];
  for (int k = 1; k < radix; k++) {
    factors[k - 1] = spread<W>(pass.twiddles + 2 * (j * (radix - 1) + k - 1));
  }
  const int64_t span = pass.span * kElement, step = radix * span;
  for (float* at = work + j * kElement; at < work + half * kElement; at += step) {
    in.next();
    out.next();
    for (int64_t lane = 0; lane < kFftLanes; lane += W::lanes) {
      Value<W> v[radix];
      for (int k = 0; k < radix; k++) v[k] = get<W>(at + k * span + lane);
      Butterfly<W, radix>::run(v, nullptr);
      put(at + lane, v[0]);
      for (int k = 1; k < radix; k++) {
        put(at + k * span + lane, rotated ? multiply(v[k], factors[k - 1]) : v[k]);
      }
    }
  }
}

template <class W, int radix>
void middle_pass(float* work, int64_t half, const FramePass& pass, Fetching (&fetching)[2]) {
  // Copies, because stores of vectors might change anything that others can see.
  const FramePass own = pass;
  Fetching in = fetching[0], out = fetching[1];
  middle_column<W, radix, false>(work, half, own, 0, in, out);
  for (int64_t j = 1; j < own.span; j++) {
    middle_column<W, radix, true>(work, half, own, j, in, out);
  }
  fetching[0] = in;
  fetching[1] = out;
}

/// The last pass, which also makes magnitudes of the spectrum of the even numbers and that of the
/// odd ones.
template <class W, bool magnitude>
struct LastPass {
  float* out;
  int64_t stride;
  const float* work;
  int64_t half;
  const int32_t* order;
  const float* split;

  DALIESQUE_INLINE void run() const {
    const int64_t quarter = half / 4;
    ends(quarter);
    for (int64_t k = 1; k < quarter / 2; k++) {
      Value<W> low[4], high[4];
      transform(low, k);
      transform(high, quarter - k);
      for (int m = 0; m < 4; m++) pair(k + m * quarter, low[m], high[3 - m]);
    }
  }

  DALIESQUE_INLINE void transform(Value<W> (&v)[4], int64_t k) const {
    const float* from = work + order[k] * kElement;
    for (int m = 0; m < 4; m++) v[m] = get<W>(from + m * kElement);
    Butterfly<W, 4>::run(v, nullptr);
  }

  /// Frequencies that are mirrored onto others with the same index.
  DALIESQUE_INLINE void ends(int64_t quarter) const {
    Value<W> v[4];
    transform(v, 0);
    const typename W::Type zero{};
    store(0, {v[0].re + v[0].im, zero});
    store(half, {v[0].re - v[0].im, zero});
    store(2 * quarter, v[2]);
    pair(quarter, v[1], v[3]);
    transform(v, quarter / 2);
    pair(quarter / 2, v[0], v[3]);
    pair(quarter / 2 + quarter, v[1], v[2]);
  }

  /// Frequencies k and half - k, from the elements `a` and `b` of these numbers.
  DALIESQUE_INLINE void pair(int64_t k, const Value<W>& a, const Value<W>& b) const {
    // The spectrum of the even numbers, and twice that of the odd ones.
    const Value<W> even = scale<W>({a.re + b.re, a.im - b.im}, 0.5f);
    const Value<W> odd{a.im + b.im, b.re - a.re};
    const Value<W> rotated = multiply(odd, spread<W>(split + 2 * k));
    store(k, add(even, rotated));
    store(half - k, subtract(even, rotated));
  }

  DALIESQUE_INLINE void store(int64_t k, const Value<W>& value) const {
    typename W::Type power = value.re * value.re + value.im * value.im;
    if constexpr (magnitude) power = square_root<W>(power);
    W::store(out + k * stride, power);
  }
};

template <class W, bool magnitude>
void last_pass(float* out, int64_t stride, const float* work, const FramePlan& plan) {
  for (int64_t lane = 0; lane < kFftLanes; lane += W::lanes) {
    const LastPass<W, magnitude> pass{out + lane, stride,     work + lane,
                                      plan.half,  plan.order, plan.split};
    pass.run();
  }
}

}  // namespace

void frame_power(float* out, int64_t out_stride, float* work, const FrameInput& in,
                 const FramePlan& plan, const FrameAhead (&ahead)[2], bool magnitude) {
  using W = Wide<kWidest>;
  int64_t butterflies = 0;
  for (int64_t p = 0; p < plan.middle_count; p++) butterflies += plan.half / plan.middle[p].radix;
  Fetching fetching[2] = {{ahead[0], butterflies}, {ahead[1], butterflies}};
  for (int64_t lane = 0; lane < kFftLanes; lane += W::lanes) {
    if (in.window) {
      first_pass<W, true>(work, in, plan.first, lane);
    } else {
      first_pass<W, false>(work, in, plan.first, lane);
    }
  }
  const int64_t part = plan.half <= kWhole ? plan.half : plan.half / 4;
  for (int64_t from = 0; from < plan.half; from += part) {
    for (int64_t p = 0; p < plan.middle_count; p++) {
      const FramePass& pass = plan.middle[p];
      if (pass.radix == 8) {
        middle_pass<W, 8>(work + from * kElement, part, pass, fetching);
      } else {
        middle_pass<W, 4>(work + from * kElement, part, pass, fetching);
      }
    }
  }
  if (magnitude) {
    last_pass<W, true>(out, out_stride, work, plan);
  } else {
    last_pass<W, false>(out, out_stride, work, plan);
  }
}

}  // namespace daliesque::audio::DALIESQUE_ISA
