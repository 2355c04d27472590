// SPDX-License-Identifier: Apache-2.0
// The engines and distributions of <random> that the reference uses, with the exact draws and
// roundings of GNU libstdc++ (11 and later). The standard leaves the distributions to each
// library, so that using <random> itself would give other numbers on other systems.
//
// Where a logarithm, exponential or power decides the result, the last bit depends on the C
// library; those functions are named in each comment.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace daliesque::random {

/// The logarithm of the absolute value of the gamma function. lgamma() also writes the sign into
/// a global variable, which concurrent samples must not do.
inline double log_gamma(double x) {
#if defined(__GLIBC__) || defined(__APPLE__)
  int sign;
  return ::lgamma_r(x, &sign);
#else
  return std::lgamma(x);
#endif
}

/// log(n!) for a whole number n; small ones are looked up.
inline double log_factorial(double n) {
  constexpr int kKept = 1024;
  static const std::vector<double> kept = [] {
    std::vector<double> values;
    for (int k = 0; k < kKept; k++) values.push_back(log_gamma(k + 1.0));
    return values;
  }();
  return n >= 0 && n < kKept ? kept[static_cast<size_t>(n)] : log_gamma(n + 1);
}

/// The Mersenne Twister with 32-bit words (19937 bits of state): std::mt19937.
class Mt19937 {
 public:
  using result_type = uint32_t;
  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return 0xFFFFFFFFu; }

  explicit Mt19937(uint32_t seed) {
    words_[0] = seed;
    for (uint32_t i = 1; i < kSize; i++) {
      words_[i] = 1812433253u * (words_[i - 1] ^ (words_[i - 1] >> 30)) + i;
    }
  }

  uint32_t operator()() {
    if (next_ == kSize) refill();
    uint32_t y = words_[next_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9D2C5680u;
    y ^= (y << 15) & 0xEFC60000u;
    return y ^ (y >> 18);
  }

 private:
  static constexpr uint32_t kSize = 624, kShift = 397;

  void refill() {
    for (uint32_t i = 0; i < kSize; i++) {
      const uint32_t y = (words_[i] & 0x80000000u) | (words_[(i + 1) % kSize] & 0x7FFFFFFFu);
      words_[i] = words_[(i + kShift) % kSize] ^ (y >> 1) ^ (y & 1 ? 0x9908B0DFu : 0);
    }
    next_ = 0;
  }

  uint32_t words_[kSize];
  uint32_t next_ = kSize;
};

/// The Mersenne Twister with 64-bit words: std::mt19937_64.
class Mt19937x64 {
 public:
  using result_type = uint64_t;
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }

  explicit Mt19937x64(uint64_t seed) {
    words_[0] = seed;
    for (uint32_t i = 1; i < kSize; i++) {
      words_[i] = 6364136223846793005u * (words_[i - 1] ^ (words_[i - 1] >> 62)) + i;
    }
  }

  uint64_t operator()() {
    if (next_ == kSize) refill();
    uint64_t y = words_[next_++];
    y ^= (y >> 29) & 0x5555555555555555u;
    y ^= (y << 17) & 0x71D67FFFEDA60000u;
    y ^= (y << 37) & 0xFFF7EEE000000000u;
    return y ^ (y >> 43);
  }

 private:
  static constexpr uint32_t kSize = 312, kShift = 156;

  void refill() {
    for (uint32_t i = 0; i < kSize; i++) {
      const uint64_t y =
          (words_[i] & 0xFFFFFFFF80000000u) | (words_[(i + 1) % kSize] & 0x7FFFFFFFu);
      words_[i] = words_[(i + kShift) % kSize] ^ (y >> 1) ^ (y & 1 ? 0xB5026F5AA96619E9u : 0);
    }
    next_ = 0;
  }

  uint64_t words_[kSize];
  uint32_t next_ = kSize;
};

/// std::seed_seq: spreads `count` seed words over `size` output words.
inline void generate_seeds(uint32_t* out, size_t size, const uint32_t* seeds, size_t count) {
  if (size == 0) return;
  std::fill_n(out, size, 0x8B8B8B8Bu);
  const size_t t = size >= 623  ? 11
                   : size >= 68 ? 7
                   : size >= 39 ? 5
                   : size >= 7  ? 3
                                : (size - 1) / 2;
  const size_t p = (size - t) / 2, q = p + t, rounds = std::max(count + 1, size);
  const auto mix = [](uint32_t x) { return x ^ (x >> 27); };
  for (size_t k = 0; k < rounds; k++) {
    uint32_t& here = out[k % size];
    uint32_t& ahead = out[(k + p) % size];
    const uint32_t a = 1664525u * mix(here ^ ahead ^ out[(k + size - 1) % size]);
    const uint32_t b = a + static_cast<uint32_t>(k == 0 ? count : k % size) +
                       (k >= 1 && k <= count ? seeds[k - 1] : 0);
    ahead += a;
    out[(k + q) % size] += b;
    here = b;
  }
  for (size_t k = rounds; k < rounds + size; k++) {
    uint32_t& here = out[k % size];
    uint32_t& ahead = out[(k + p) % size];
    const uint32_t a = 1566083941u * mix(here + ahead + out[(k + size - 1) % size]);
    const uint32_t b = a - static_cast<uint32_t>(k % size);
    ahead ^= a;
    out[(k + q) % size] ^= b;
    here = b;
  }
}

/// Lewis, Goodman and Miller's minimal standard: std::minstd_rand0, libstdc++'s
/// std::default_random_engine, seeded through a std::seed_seq that holds one number.
class MinStd {
 public:
  using result_type = uint32_t;
  static constexpr uint32_t min() { return 1; }
  static constexpr uint32_t max() { return kModulus - 1; }

  explicit MinStd(int64_t seed) {
    const uint32_t word = static_cast<uint32_t>(seed);
    uint32_t seeds[4];
    generate_seeds(seeds, 4, &word, 1);
    set_state(seeds[3] % kModulus);
  }

  uint32_t operator()() {
    state_ = static_cast<uint32_t>(uint64_t{16807} * state_ % kModulus);
    return state_;
  }

  uint32_t state() const { return state_; }
  void set_state(uint32_t state) { state_ = state == 0 ? 1 : state; }

 private:
  static constexpr uint32_t kModulus = 2147483647;
  uint32_t state_;
};

/// An integer in [0, last], each equally likely.
template <class Engine>
uint64_t uniform_up_to(Engine& engine, uint64_t last) {
  constexpr uint64_t span = uint64_t{Engine::max()} - Engine::min();
  const auto draw = [&]() -> uint64_t { return engine() - Engine::min(); };
  if (last == span) return draw();
  if (last > span) {
    // The engine's range is too small: draw the high part first, then the low one.
    uint64_t high, value;
    do {
      high = (span + 1) * uniform_up_to(engine, last / (span + 1));
      value = high + draw();
    } while (value > last || value < high);
    return value;
  }
  const uint64_t count = last + 1;
  if constexpr (span == ~uint64_t{0}) {
    unsigned __int128 product = static_cast<unsigned __int128>(draw()) * count;
    if (static_cast<uint64_t>(product) < count) {
      const uint64_t threshold = -count % count;
      while (static_cast<uint64_t>(product) < threshold) {
        product = static_cast<unsigned __int128>(draw()) * count;
      }
    }
    return static_cast<uint64_t>(product >> 64);
  } else if constexpr (span == 0xFFFFFFFFu) {
    // Lemire, "Fast random integer generation in an interval" (2019).
    const uint32_t narrow = static_cast<uint32_t>(count);
    uint64_t product = draw() * narrow;
    if (static_cast<uint32_t>(product) < narrow) {
      const uint32_t threshold = -narrow % narrow;
      while (static_cast<uint32_t>(product) < threshold) product = draw() * narrow;
    }
    return product >> 32;
  } else {
    const uint64_t scale = span / count, end = count * scale;
    uint64_t value;
    do value = draw();
    while (value >= end);
    return value / scale;
  }
}

/// std::uniform_int_distribution<Int>(low, high): both ends included.
template <class Int, class Engine>
Int uniform_int(Engine& engine, Int low, Int high) {
  const uint64_t last = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return static_cast<Int>(static_cast<uint64_t>(low) + uniform_up_to(engine, last));
}

/// std::shuffle(values, values + count, engine). Indices come in pairs from one draw as long as
/// the engine's range holds the product of both.
template <class T, class Engine>
void shuffle(T* values, size_t count, Engine& engine) {
  if (count < 2) return;
  constexpr uint64_t span = uint64_t{Engine::max()} - Engine::min();
  const auto exchange = [&](size_t i, uint64_t j) { std::swap(values[i], values[j]); };
  if (span / count < count) {
    for (size_t i = 1; i < count; i++) exchange(i, uniform_up_to(engine, i));
    return;
  }
  size_t i = 1;
  if (count % 2 == 0) exchange(i++, uniform_up_to(engine, 1));
  while (i < count) {
    const uint64_t first = i + 1, second = i + 2;
    const uint64_t both = uniform_up_to(engine, first * second - 1);
    exchange(i++, both / second);
    exchange(i++, both % second);
  }
}

/// Draws each value in turn from the next `reach` ones that are left: what comes out of a buffer
/// that holds so many values, gives a random one and is refilled in order.
template <class T, class Engine>
void shuffle_nearby(T* values, size_t count, size_t reach, Engine& engine) {
  for (size_t i = 0; i < count; i++) {
    const size_t choices = std::min(reach, count - i);
    std::swap(values[i], values[i + uniform_up_to(engine, choices - 1)]);
  }
}

/// std::generate_canonical: a number in [0, 1) from one 32-bit draw (float) or two (double).
template <class Real, class Engine>
Real canonical(Engine& engine) {
  static_assert(Engine::min() == 0 && Engine::max() == 0xFFFFFFFFu);
  Real value;
  if constexpr (std::numeric_limits<Real>::digits <= 32) {
    value = static_cast<Real>(engine()) * Real(0x1p-32);
  } else {
    const Real low = engine();
    value = (low + static_cast<Real>(engine()) * Real(0x1p32)) * Real(0x1p-64);
  }
  return value < 1 ? value : 1 - std::numeric_limits<Real>::epsilon() / 2;
}

/// std::uniform_real_distribution<Real>(low, high).
template <class Real, class Engine>
Real uniform_real(Engine& engine, Real low, Real high) {
  return canonical<Real>(engine) * (high - low) + low;
}

/// std::exponential_distribution<Real>(1). Uses log.
template <class Real, class Engine>
Real exponential(Engine& engine) {
  return -std::log(1 - canonical<Real>(engine));
}

/// std::normal_distribution<Real>(0, 1), by Marsaglia's polar method; every second value comes
/// from the pair drawn before. Uses log.
template <class Real>
class Normal {
 public:
  template <class Engine>
  Real operator()(Engine& engine) {
    if (has_saved_) {
      has_saved_ = false;
      return saved_;
    }
    Real x, y, square;
    do {
      // libstdc++ subtracts in double, for float as well.
      x = static_cast<Real>(static_cast<double>(2 * canonical<Real>(engine)) - 1.0);
      y = static_cast<Real>(static_cast<double>(2 * canonical<Real>(engine)) - 1.0);
      square = x * x + y * y;
    } while (square > 1 || square == 0);
    const Real scale = std::sqrt(-2 * std::log(square) / square);
    saved_ = x * scale;
    has_saved_ = true;
    return y * scale;
  }

 private:
  Real saved_ = 0;
  bool has_saved_ = false;
};

/// std::gamma_distribution<Real>(alpha, 1), by Marsaglia and Tsang's method (ACM TOMS 26, 2000).
/// Uses log and, for alpha < 1, pow.
template <class Real>
class Gamma {
 public:
  explicit Gamma(Real alpha)
      : alpha_(alpha),
        shape_(alpha < 1 ? alpha + 1 : alpha),
        d_(shape_ - Real(1) / Real(3)),
        c_(1 / std::sqrt(9 * d_)) {}

  template <class Engine>
  Real operator()(Engine& engine) {
    Real u, v, n;
    do {
      do {
        n = normal_(engine);
        v = 1 + c_ * n;
      } while (v <= 0);
      v = v * v * v;
      u = canonical<Real>(engine);
    } while (rejects(u, v, n));
    if (alpha_ == shape_) return d_ * v;
    do u = canonical<Real>(engine);
    while (u == 0);
    return std::pow(u, 1 / alpha_) * d_ * v;
  }

 private:
  bool rejects(Real u, Real v, Real n) const {
    // The double constants make libstdc++ evaluate these in double, for float as well; the
    // logarithms are of type Real.
    if (!(u > 1 - 0.0331 * n * n * n * n)) return false;
    return std::log(u) > 0.5 * n * n + d_ * (1.0 - v + std::log(v));
  }

  Real alpha_, shape_, d_, c_;
  Normal<Real> normal_;
};

/// std::discrete_distribution: index i with a probability proportional to weights[i].
class Discrete {
 public:
  Discrete(const float* weights, size_t count) : sums_(weights, weights + count) {
    if (count < 2) {
      sums_.clear();
      return;
    }
    double total = 0;
    for (const double weight : sums_) total += weight;
    double sum = 0;
    for (double& entry : sums_) entry = sum += entry / total;
    sums_.back() = 1;
  }

  /// Draws nothing if there is only one possible answer.
  template <class Engine>
  int64_t operator()(Engine& engine) const {
    if (sums_.empty()) return 0;
    const double target = canonical<double>(engine);
    return std::lower_bound(sums_.begin(), sums_.end(), target) - sums_.begin();
  }

 private:
  std::vector<double> sums_;
};

/// std::poisson_distribution<uint32_t>(mean): multiplication of uniform numbers for means below
/// 12, Devroye's rejection method (Non-Uniform Random Variate Generation, X.3.3, with the errata)
/// above. Uses exp, log and lgamma. `mean` must be below 2^31: the method would not end otherwise.
class Poisson {
 public:
  explicit Poisson(double mean) : mean_(mean) {
    if (!(mean >= 12)) {
      threshold_ = std::exp(-mean);
      return;
    }
    constexpr double quarter_pi = 0.7853981633974483096156608458198757;
    floor_ = std::floor(mean);
    log_mean_ = std::log(mean);
    log_factorial_ = log_factorial(floor_);
    root_ = std::sqrt(floor_);
    const double dx = std::sqrt(2 * floor_ * std::log(32 * floor_ / quarter_pi));
    d_ = std::round(std::max(6.0, std::min(floor_, dx)));
    const double cx = 2 * floor_ + d_;
    right_root_ = std::sqrt(cx / 2);
    inverse_cx_ = 1 / cx;
    body_area_ = std::sqrt(quarter_pi * cx) * std::exp(inverse_cx_);
    tail_area_ = 2 * cx * std::exp(-d_ * inverse_cx_ * (1 + d_ / 2)) / d_;
  }

  template <class Engine>
  uint32_t operator()(Engine& engine) {
    return mean_ >= 12 ? by_rejection(engine) : by_multiplication(engine);
  }

 private:
  template <class Engine>
  uint32_t by_multiplication(Engine& engine) const {
    uint32_t count = 0;
    double product = 1;
    do {
      product *= canonical<double>(engine);
      count++;
    } while (product > threshold_);
    return count - 1;
  }

  template <class Engine>
  uint32_t by_rejection(Engine& engine) {
    constexpr double below_half = (1 - std::numeric_limits<double>::epsilon()) / 2;
    constexpr double root_half_pi = 1.2533141373155002512078826424055226;
    constexpr double part = 0.0128205128205128205128205128205128;      // 1 / 78
    constexpr double exp_part = 1.0129030479320018583185514777512983;  // e^(1 / 78)
    const double c1 = root_ * root_half_pi, c2 = body_area_ + c1, c3 = c2 + 1, c4 = c3 + 1;
    const double c5 = c4 + exp_part, c = tail_area_ + c5;
    const double twice_cx = 2 * (2 * floor_ + d_);
    while (true) {
      const double u = c * canonical<double>(engine);
      const double e = exponential<double>(engine);
      double x, w = 0;
      if (u <= c1) {
        const double n = normal_(engine);
        x = std::floor(-std::abs(n) * root_ - 1);
        w = -n * n / 2;
        if (x < -floor_) continue;
      } else if (u <= c2) {
        const double y = 1 + std::abs(normal_(engine)) * right_root_;
        x = std::ceil(y);
        w = y * (2 - y) * inverse_cx_;
        if (x > d_) continue;
      } else if (u <= c3) {
        x = -1;
      } else if (u <= c4) {
        x = 0;
      } else if (u <= c5) {
        x = 1;
        w = part;
      } else {
        const double y = d_ + exponential<double>(engine) * twice_cx / d_;
        x = std::ceil(y);
        w = -d_ * inverse_cx_ * (1 + y / 2);
      }
      if (w - e - x * log_mean_ > log_factorial_ - log_factorial(x + floor_)) continue;
      if (x + floor_ >= std::numeric_limits<uint32_t>::max() + below_half) continue;
      return static_cast<uint32_t>(x + floor_ + below_half);
    }
  }

  double mean_, threshold_ = 0;
  double floor_ = 0, log_mean_ = 0, log_factorial_ = 0, root_ = 0, d_ = 0;
  double right_root_ = 0, inverse_cx_ = 0, body_area_ = 0, tail_area_ = 0;
  Normal<double> normal_;
};

}  // namespace daliesque::random
