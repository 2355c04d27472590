// SPDX-License-Identifier: Apache-2.0
// Spectra of real signals of any length.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "audio/fft_loops.h"
#include "audio/frame_fft.h"

namespace daliesque::audio {

/// The discrete Fourier transform of `length` complex numbers: mixed radix, without reordering
/// (Stockham), or where `length` has a large prime factor, as a convolution (Bluestein).
class ComplexFft {
 public:
  explicit ComplexFft(int64_t length);

  int64_t length() const { return length_; }
  /// The floats of work space for transforming `lanes` signals side by side.
  int64_t work_size(int64_t lanes) const { return 4 * array_size(lanes); }
  /// Where the input goes: element j of signal q at [j * lanes + q].
  Complex input(float* work, int64_t lanes) const { return {work, work + array_size(lanes)}; }
  /// Transforms the input and returns where in the work space the result is.
  Complex run(float* work, int64_t lanes) const;

 private:
  struct Stage {
    int64_t radix, groups;
    std::vector<float> twiddles, roots;
  };

  /// Arrays of lengths that are powers of two would otherwise compete for the same cache lines.
  int64_t array_size(int64_t lanes) const { return padded_ * lanes + kSkew; }

  void plan_stages();
  void plan_convolution();
  Complex run_stages(Complex in, Complex out, int64_t lanes) const;

  static constexpr int64_t kSkew = 272;

  int64_t length_, padded_;
  std::vector<Stage> stages_;
  // Of the convolution: the factors before and after, and the spectrum in between.
  std::unique_ptr<ComplexFft> inner_;
  std::vector<float> chirp_, response_;
};

/// The squared magnitudes, or magnitudes, of the spectra of real signals.
class RealFft {
 public:
  explicit RealFft(int64_t length);

  int64_t length() const { return length_; }
  int64_t bins() const { return length_ / 2 + 1; }
  int64_t work_size(int64_t lanes) const { return fft_.work_size(lanes); }

  /// Takes `count` numbers of each of kFftLanes signals, times `window` unless that is null; the
  /// rest of the length is filled with zeros.
  void load_rows(float* work, const float* const* rows, const float* window, int64_t count) const;
  /// Takes `count` numbers of `lanes` signals that stand side by side, `stride` apart; those from
  /// `filled` on are zero.
  void load_columns(float* work, int64_t lanes, const float* in, int64_t stride, int64_t count,
                    int64_t filled) const;
  /// Writes bins() rows of `lanes` values, `out_stride` apart.
  void power(float* out, int64_t out_stride, float* work, int64_t lanes, bool magnitude) const;

  /// A faster way for kFftLanes signals, or null; it needs no more work space. Its results differ
  /// in their last digits.
  const FrameFft* frames() const { return frames_.get(); }

 private:
  void clear_from(float* work, int64_t lanes, int64_t count) const;

  int64_t length_;
  bool halved_;  ///< Two real numbers go into each complex one.
  ComplexFft fft_;
  std::vector<float> twiddles_;
  std::unique_ptr<const FrameFft> frames_;
};

/// A plan for this length; those used last are kept.
std::shared_ptr<const RealFft> real_fft(int64_t length);

}  // namespace daliesque::audio
