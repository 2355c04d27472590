// SPDX-License-Identifier: Apache-2.0
#include "tensor/normalize.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "tensor/normalize_chunks.h"
#include "tensor/normalize_rows.h"

namespace daliesque::tensor {

namespace {

void normalize_piece(std::byte* out, const std::byte* in, int64_t out_size, int64_t in_size,
                     const RowNormalizer& rows, const Chunks& chunks, const float* mean,
                     const float* factor, int64_t begin, int64_t end, float shift) {
  const int64_t period = chunks.period;
  if (period == 1) {
    rows.run(out + begin * out_size, in + begin * in_size, end - begin, *mean, *factor, shift);
    return;
  }
  const int64_t repeats =
      std::clamp<int64_t>(kNormalizeBlock / period, 1, std::max<int64_t>(1, end - begin));
  std::vector<float> pattern(static_cast<size_t>(2 * period * repeats));
  float *means = pattern.data(), *factors = means + period * repeats;
  repeat(means, mean, period, chunks.inner_steps[0], repeats);
  repeat(factors, factor, period, chunks.inner_steps[1], repeats);
  for (int64_t k = begin; k < end; k += repeats) {
    rows.run_each(out + k * period * out_size, in + k * period * in_size,
                  std::min(repeats, end - k) * period, means, factors, shift);
  }
}

/// As normalize_piece, for units [begin, end) of a sample with short runs.
void normalize_short_runs(std::byte* out, const std::byte* in, int64_t out_size, int64_t in_size,
                          const RowNormalizer& rows, const Chunks& chunks, const float* mean,
                          const float* factor, int64_t begin, int64_t end, float shift) {
  float means[kNormalizeBlock], factors[kNormalizeBlock];
  ChunkWalk walk(chunks, begin / chunks.repeats);
  int64_t left = chunks.repeats - begin % chunks.repeats;
  for (int64_t unit = begin; unit < end; unit += kNormalizeBlock) {
    const int64_t count = std::min(kNormalizeBlock, end - unit);
    for (int64_t k = 0; k < count;) {
      if (left == 0) {
        left = chunks.repeats;
        walk.next();
      }
      const int64_t run = std::min(left, count - k);
      std::fill_n(means + k, run, mean[walk.offset(0)]);
      std::fill_n(factors + k, run, factor[walk.offset(1)]);
      left -= run;
      k += run;
    }
    rows.run_each(out + unit * out_size, in + unit * in_size, count, means, factors, shift);
  }
}

}  // namespace

Samples deviation_factors(const Samples& deviations, double epsilon, float scale) {
  Samples out = Samples::empty_like(deviations);
  const auto added = static_cast<float>(epsilon);
  for (int64_t i = 0; i < out.size(); i++) {
    const float* in = deviations.data<const float>(i);
    auto* factors = out.data<float>(i);
    for (int64_t k = 0; k < out.volume(i); k++) {
      if (epsilon != 0) {
        factors[k] = scale / std::sqrt(in[k] * in[k] + added);
      } else {
        factors[k] = in[k] == 0 ? 0.0f : scale / in[k];
      }
    }
  }
  return out;
}

void normalize(Samples& out, const Samples& in, const Samples& means, const Samples& factors,
               float shift) {
  const RowNormalizer rows(out.dtype(), in.dtype());
  std::vector<Chunks> plans;
  plans.reserve(static_cast<size_t>(in.size()));
  const auto pick = [](const Samples& parameters, int64_t i) {
    return parameters.size() > 1 ? i : 0;
  };
  for (int64_t i = 0; i < in.size(); i++) {
    plans.push_back(
        find_chunks(in.shape(i), means.shape(pick(means, i)), factors.shape(pick(factors, i))));
  }
  const auto in_size = static_cast<int64_t>(in.itemsize());
  const auto out_size = static_cast<int64_t>(out.itemsize());
  // A unit is a period; a slice of them may span several chunks.
  parallel_slices(
      in.size(),
      [&](int64_t i) {
        const Chunks& chunks = plans[static_cast<size_t>(i)];
        return in.volume(i) ? chunks.count * chunks.repeats : 0;
      },
      [&](int64_t i) {
        return static_cast<double>(plans[static_cast<size_t>(i)].period) * kNormalizeNanoseconds;
      },
      [&](int64_t i, int64_t begin, int64_t end) {
        const Chunks& chunks = plans[static_cast<size_t>(i)];
        auto* to = out.data<std::byte>(i);
        const auto* from = in.data<const std::byte>(i);
        const auto* mean = means.data<const float>(pick(means, i));
        const auto* factor = factors.data<const float>(pick(factors, i));
        if (chunks.has_short_runs()) {
          normalize_short_runs(to, from, out_size, in_size, rows, chunks, mean, factor, begin, end,
                               shift);
          begin = end;
        }
        for (int64_t unit = begin; unit < end;) {
          const int64_t chunk = unit / chunks.repeats, first = chunk * chunks.repeats;
          const int64_t stop = std::min(end, first + chunks.repeats);
          const auto offsets = chunks.parameters(chunk);
          const int64_t start = first * chunks.period;
          normalize_piece(to + start * out_size, from + start * in_size, out_size, in_size, rows,
                          chunks, mean + offsets[0], factor + offsets[1], unit - first,
                          stop - first, shift);
          unit = stop;
        }
      });
}

void normalize(Samples& out, const Samples& in, const NormalizeArgs& args) {
  const auto all = [&](Samples& to, const Samples& from, const Samples* means,
                       const Samples* factors) {
    Samples own_means, own_factors;
    if (!means) {
      own_means = normalize_means(from, args.scope);
      means = &own_means;
    }
    if (!factors) {
      own_factors =
          normalize_factors(from, *means, args.scope, args.ddof, args.epsilon, args.scale);
      factors = &own_factors;
    }
    normalize(to, from, *means, *factors, args.shift);
  };
  const bool computes = !args.means || !args.factors;
  if (!computes || args.scope.batch || in.size() < current_pool()->num_threads()) {
    all(out, in, args.means, args.factors);
    return;
  }
  // Sample by sample, so that a sample is still in the caches when it is read again.
  parallel_for(
      in.size(),
      [&](int64_t i) { return static_cast<double>(in.volume(i)) * 3 * kNormalizeNanoseconds; },
      [&](int64_t i) {
        const auto one = [i](const Samples& samples) {
          const int64_t index = samples.size() > 1 ? i : 0;
          return samples.select(std::span(&index, 1));
        };
        Samples to = one(out), means, factors;
        if (args.means) means = one(*args.means);
        if (args.factors) factors = one(*args.factors);
        all(to, one(in), args.means ? &means : nullptr, args.factors ? &factors : nullptr);
      });
}

}  // namespace daliesque::tensor
