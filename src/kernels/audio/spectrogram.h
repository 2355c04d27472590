// SPDX-License-Identifier: Apache-2.0
// Spectra of signals: of windows that move along them, and of whole axes.
#pragma once

#include <cstdint>

#include "core/samples.h"

namespace daliesque::audio {

enum class SignalPadding : int32_t {
  none = 0,     ///< Windows stay inside the signal.
  zeros = 1,    ///< Windows are centered; there are zeros beyond the ends.
  reflect = 2,  ///< Windows are centered; the signal is mirrored at its ends.
};

struct SpectrogramArgs {
  int64_t nfft;
  const float* window;
  int64_t window_length, window_step;
  SignalPadding padding;
  bool magnitude;   ///< instead of its square
  bool time_major;  ///< Results have the shape (windows, bins) instead of (bins, windows).
};

/// The spectra of the windows of each signal; `in` is float32, each sample one signal, whatever its
/// axes. The shapes of `out` say how many windows there are.
void spectrogram(Samples& out, const Samples& in, const SpectrogramArgs& args);

/// The spectra along an axis, whose extent is at most `nfft` and becomes nfft / 2 + 1.
void power_spectrum(Samples& out, const Samples& in, int axis, int64_t nfft, bool magnitude);

}  // namespace daliesque::audio
