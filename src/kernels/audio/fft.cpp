// SPDX-License-Identifier: Apache-2.0
#include "audio/fft.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <utility>

#include "audio/roots.h"
#include "core/simd.h"

namespace daliesque::audio {

namespace {

constexpr int64_t kMostEights = 13;

/// Powers of two first, in as few stages as they fit into, then odd primes; empty if a prime is too
/// large.
std::vector<int64_t> factorize(int64_t n) {
  std::vector<int64_t> factors;
  int64_t twos = 0;
  for (; n % 2 == 0; n /= 2) twos++;
  // Eight inputs that are far apart would compete for the same few lines of the cache.
  const bool far = twos > kMostEights;
  for (; !far && twos >= 3 && twos != 4; twos -= 3) factors.push_back(8);
  for (; twos >= 2; twos -= 2) factors.push_back(4);
  if (twos) factors.push_back(2);
  for (int64_t factor = 3; factor <= kMaxRadix; factor += 2) {
    for (; n % factor == 0; n /= factor) factors.push_back(factor);
  }
  if (n != 1) factors.clear();
  return factors;
}

int64_t power_of_two_from(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

}  // namespace

const FftLoops& fft_loops() { return DALIESQUE_CHOOSE(fft_loops); }

ComplexFft::ComplexFft(int64_t length) : length_(length), padded_(length) {
  plan_stages();
  if (length > 1 && stages_.empty()) plan_convolution();
}

void ComplexFft::plan_stages() {
  int64_t rest = length_;
  for (int64_t radix : factorize(length_)) {
    Stage stage{radix, rest / radix, {}, {}};
    for (int64_t group = 0; group < stage.groups; group++) {
      for (int64_t k = 1; k < radix; k++) {
        const auto [re, im] = root_of_unity(group * k, rest);
        stage.twiddles.insert(stage.twiddles.end(), {re, im});
      }
    }
    for (int64_t k = 0; k < radix; k++) {
      const auto [re, im] = root_of_unity(k, radix);
      stage.roots.insert(stage.roots.end(), {re, -im});
    }
    rest /= radix;
    stages_.push_back(std::move(stage));
  }
}

void ComplexFft::plan_convolution() {
  padded_ = power_of_two_from(2 * length_ - 1);
  inner_ = std::make_unique<ComplexFft>(padded_);
  chirp_.resize(static_cast<size_t>(2 * length_));
  std::vector<float> work(static_cast<size_t>(inner_->work_size(1)));
  const Complex kernel = inner_->input(work.data(), 1);
  for (int64_t j = 0; j < length_; j++) {
    // j * j modulo 2n stays exact where the angle itself would lose digits.
    const int64_t square =
        static_cast<int64_t>(static_cast<unsigned __int128>(j) * static_cast<unsigned __int128>(j) %
                             static_cast<unsigned __int128>(2 * length_));
    const auto [re, im] = root_of_unity(square, 2 * length_);
    chirp_[static_cast<size_t>(2 * j)] = re;
    chirp_[static_cast<size_t>(2 * j + 1)] = im;
    for (const int64_t index : {j, (padded_ - j) % padded_}) {
      kernel.re[index] = re;
      kernel.im[index] = -im;
    }
  }
  const Complex spectrum = inner_->run(work.data(), 1);
  const float scale = 1 / static_cast<float>(padded_);
  for (int64_t k = 0; k < padded_; k++) {
    response_.insert(response_.end(), {spectrum.re[k] * scale, spectrum.im[k] * scale});
  }
}

Complex ComplexFft::run_stages(Complex in, Complex out, int64_t lanes) const {
  int64_t stride = lanes;
  for (const Stage& stage : stages_) {
    fft_loops().stage(
        out, in, {stage.radix, stage.groups, stride, stage.twiddles.data(), stage.roots.data()});
    std::swap(in, out);
    stride *= stage.radix;
  }
  return in;
}

Complex ComplexFft::run(float* work, int64_t lanes) const {
  const int64_t size = array_size(lanes);
  const Complex first{work, work + size}, second{work + 2 * size, work + 3 * size};
  if (!inner_) return run_stages(first, second, lanes);
  const FftLoops& loops = fft_loops();
  loops.multiply(first, first, chirp_.data(), length_, lanes);
  const size_t rest = static_cast<size_t>((padded_ - length_) * lanes) * sizeof(float);
  std::memset(first.re + length_ * lanes, 0, rest);
  std::memset(first.im + length_ * lanes, 0, rest);
  Complex spectrum = inner_->run_stages(first, second, lanes);
  loops.multiply(spectrum, spectrum, response_.data(), padded_, lanes);
  const Complex other = spectrum.re == first.re ? second : first;
  // Exchanging real and imaginary parts on both sides makes the transform its own inverse.
  const Complex back = inner_->run_stages({spectrum.im, spectrum.re}, {other.im, other.re}, lanes);
  const Complex result{back.im, back.re};
  loops.multiply(result, result, chirp_.data(), length_, lanes);
  return result;
}

RealFft::RealFft(int64_t length)
    : length_(length), halved_(length % 2 == 0), fft_(halved_ ? length / 2 : length) {
  if (!halved_) return;
  for (int64_t k = 0; k <= length / 4; k++) {
    const auto [re, im] = root_of_unity(k, length);
    twiddles_.insert(twiddles_.end(), {re, im});
  }
  if (FrameFft::takes(length)) frames_ = std::make_unique<const FrameFft>(length);
}

void RealFft::clear_from(float* work, int64_t lanes, int64_t count) const {
  const Complex in = fft_.input(work, lanes);
  const auto clear = [&](float* part, int64_t from) {
    std::memset(part + from * lanes, 0,
                static_cast<size_t>((fft_.length() - from) * lanes) * sizeof(float));
  };
  clear(in.re, halved_ ? (count + 1) / 2 : count);
  clear(in.im, halved_ ? count / 2 : 0);
}

void RealFft::load_rows(float* work, const float* const* rows, const float* window,
                        int64_t count) const {
  const Complex in = fft_.input(work, kFftLanes);
  fft_loops().interleave(in.re, halved_ ? in.im : nullptr, rows, window, count);
  clear_from(work, kFftLanes, count);
}

void RealFft::load_columns(float* work, int64_t lanes, const float* in, int64_t stride,
                           int64_t count, int64_t filled) const {
  const Complex to = fft_.input(work, lanes);
  for (int64_t j = 0; j < count; j++) {
    float* row = (halved_ && j % 2 ? to.im : to.re) + (halved_ ? j / 2 : j) * lanes;
    const float* from = in + j * stride;
    for (int64_t q = 0; q < lanes; q++) row[q] = q < filled ? from[q] : 0;
  }
  clear_from(work, lanes, count);
}

void RealFft::power(float* out, int64_t out_stride, float* work, int64_t lanes,
                    bool magnitude) const {
  const Complex spectrum = fft_.run(work, lanes);
  if (halved_) {
    fft_loops().split_power(out, out_stride, spectrum, twiddles_.data(), length_ / 2, lanes,
                            magnitude);
  } else {
    fft_loops().power(out, out_stride, spectrum, bins(), lanes, magnitude);
  }
}

std::shared_ptr<const RealFft> real_fft(int64_t length) {
  // A plan takes up to 22 bytes for each number of the signal, and longer to make than to use.
  constexpr int64_t kKeptLength = int64_t{1} << 22;
  static std::mutex mutex;
  static std::list<std::shared_ptr<const RealFft>> plans;
  {
    const std::lock_guard lock(mutex);
    const auto found =
        std::ranges::find_if(plans, [&](const auto& plan) { return plan->length() == length; });
    if (found != plans.end()) {
      plans.splice(plans.begin(), plans, found);
      return plans.front();
    }
  }
  auto made = std::make_shared<const RealFft>(length);
  const std::lock_guard lock(mutex);
  plans.push_front(made);
  int64_t total = 0;
  for (const auto& plan : plans) total += plan->length();
  for (; total > kKeptLength && plans.size() > 1; plans.pop_back()) total -= plans.back()->length();
  return made;
}

}  // namespace daliesque::audio
