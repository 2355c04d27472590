// SPDX-License-Identifier: Apache-2.0
#include "audio/resample.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numbers>
#include <type_traits>

#include "core/parallel.h"
#include "core/saturate.h"
#include "core/simd.h"

namespace daliesque::audio {

namespace {

using ResampleTypes = Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, float>;

const ResampleLoops& resample_loops() { return DALIESQUE_CHOOSE(resample_loops); }

// The reference counts positions in single precision within blocks of this many results.
constexpr int64_t kResampleBlock = 256;

std::shared_ptr<const ResampleWindow> window_for(int lobes) {
  static std::mutex mutex;
  static std::shared_ptr<const ResampleWindow> last;
  const std::lock_guard lock(mutex);
  if (!last || last->lobes != lobes) last = std::make_shared<const ResampleWindow>(lobes);
  return last;
}

bool is_signed(DType type) {
  return type == DType::int8 || type == DType::int16 || type == DType::int32 ||
         type == DType::float32;
}

int64_t channels_of(const Samples& samples, int64_t i) {
  return samples.ndim() > 1 ? samples.shape(i)[1] : 1;
}

/// Values of one channel as floats. Between signed and unsigned types, the middle of the unsigned
/// range stands for 0.
template <class T>
void normalize(float* out, const T* in, int64_t count, int64_t channels, bool to_signed) {
  float scale = 1, shift = 0;
  if constexpr (!std::is_same_v<T, float>) {
    scale = 1.0f / static_cast<float>(std::numeric_limits<T>::max());
  }
  if (to_signed == std::is_signed_v<T>) {
    for (int64_t j = 0; j < count; j++) out[j] = static_cast<float>(in[j * channels]) * scale;
    return;
  }
  const float before = to_signed ? 0 : 1, after = to_signed ? 2 : 0.5f;
  shift = to_signed ? -1 : 0;
  for (int64_t j = 0; j < count; j++) {
    out[j] = (static_cast<float>(in[j * channels]) * scale + before) * after + shift;
  }
}

/// Makes planes of floats, one for each channel, of all samples that are not such already.
Samples planes_of(const Samples& in, bool to_signed) {
  bool ready = in.dtype() == DType::float32 && to_signed;
  for (int64_t i = 0; i < in.size() && ready; i++) ready = channels_of(in, i) == 1;
  if (ready) return in;
  Samples planes = Samples::empty_like(in, DType::float32);
  dispatch(ResampleTypes{}, in.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(
        in.size(), [&](int64_t i) { return 0.5 * static_cast<double>(in.volume(i)); },
        [&](int64_t i) {
          const int64_t channels = channels_of(in, i), length = in.shape(i)[0];
          for (int64_t c = 0; c < channels; c++) {
            normalize(planes.data<float>(i) + c * length, in.data<const T>(i) + c, length, channels,
                      to_signed);
          }
        });
  });
  return planes;
}

template <class T>
void store_frames(T* out, const float* in, int64_t count, int64_t channels) {
  constexpr auto kScale = static_cast<float>(std::numeric_limits<T>::max());
  for (int64_t j = 0; j < count; j++) out[j * channels] = saturate<T>(in[j] * kScale);
}

template <>
void store_frames<float>(float* out, const float* in, int64_t count, int64_t channels) {
  for (int64_t j = 0; j < count; j++) out[j * channels] = in[j];
}

}  // namespace

ResampleWindow::ResampleWindow(int lobe_count) : lobes(lobe_count) {
  taps = (2 * lobes + 7) / 8 * 8;
  // Single precision here and there, as in the reference.
  const int64_t count = 2 * kPhases * lobes + 1, center = kPhases * lobes;
  const float spacing = 2.0f * static_cast<float>(lobes) / static_cast<float>(count - 1);
  const float envelope_spacing = 2.0f / static_cast<float>(count);
  std::vector<float> values(static_cast<size_t>(count + 1));
  for (int64_t k = 0; k < count; k++) {
    const float x = static_cast<float>(k - center) * spacing;
    const float y = static_cast<float>(k - center) * envelope_spacing;
    const auto angle = static_cast<float>(static_cast<double>(x) * std::numbers::pi);
    const float sinc =
        std::abs(angle) < 1e-5f ? 1.0f - angle * angle * (1.0f / 6) : std::sin(angle) / angle;
    const double hann = 0.5 * (1 + std::cos(static_cast<double>(y) * std::numbers::pi));
    values[static_cast<size_t>(k)] = static_cast<float>(static_cast<double>(sinc) * hann);
  }
  // A position just above a sample is rounded to a distance of 1 from the next one: row kPhases.
  weights.resize(static_cast<size_t>((kPhases + 1) * taps));
  changes.resize(static_cast<size_t>((kPhases + 1) * taps));
  for (int64_t p = 0; p <= kPhases; p++) {
    for (int64_t j = 0; j < 2 * lobes; j++) {
      const auto k = static_cast<size_t>(p + kPhases * j), to = static_cast<size_t>(p * taps + j);
      weights[to] = values[k];
      changes[to] = values[k + 1] - values[k];
    }
  }
}

void audio_resample(Samples& out, const Samples& in, const double* steps, int lobes) {
  const auto window = window_for(lobes);
  const Samples planes = planes_of(in, is_signed(out.dtype()));
  const auto blocks = [&](int64_t i) {
    return (out.shape(i)[0] + kResampleBlock - 1) / kResampleBlock;
  };
  dispatch(ResampleTypes{}, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_slices(
        in.size(), [&](int64_t i) { return channels_of(in, i) * blocks(i); },
        [&](int64_t) { return kResampleBlock * (3 + 0.2 * static_cast<double>(window->taps)); },
        [&](int64_t i, int64_t begin, int64_t end) {
          const int64_t channels = channels_of(in, i), per_channel = blocks(i);
          const int64_t length = in.shape(i)[0], results = out.shape(i)[0];
          // Steps beyond the end do not occur; huge ones would overflow single precision.
          const double step = std::min(steps[i], static_cast<double>(std::max<int64_t>(length, 1)));
          float block[kResampleBlock];
          for (int64_t unit = begin; unit < end; unit++) {
            const int64_t channel = unit / per_channel, first = unit % per_channel * kResampleBlock;
            const int64_t count = std::min(kResampleBlock, results - first);
            const double position = static_cast<double>(first) * step;
            const auto whole = static_cast<int64_t>(std::floor(position));
            const float* plane = planes.data<const float>(i) + channel * length;
            resample_loops().resample(block, count, plane + whole, whole, length - whole,
                                      static_cast<float>(position - static_cast<double>(whole)),
                                      static_cast<float>(step), *window);
            store_frames(out.data<T>(i) + first * channels + channel, block, count, channels);
          }
        });
  });
}

void downmix(float* out, const float* in, int64_t count, int64_t channels) {
  const float weight = 1.0f / static_cast<float>(channels);
  for (int64_t j = 0; j < count; j++) {
    float sum = in[j * channels] * weight;
    for (int64_t c = 1; c < channels; c++) sum += in[j * channels + c] * weight;
    out[j] = sum;
  }
}

}  // namespace daliesque::audio
