// SPDX-License-Identifier: Apache-2.0
// Compares std_random.h with the <random> and <algorithm> of GNU libstdc++, bit for bit.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "check.h"
#include "random/philox.h"
#include "random/std_random.h"

namespace {

using daliesque::random::Philox;
using daliesque::random::PhiloxState;
using daliesque::testing::check;
using daliesque::testing::passed;
namespace ours = daliesque::random;

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

Philox engine(uint64_t number) {
  return Philox(PhiloxState{number * 0x9E3779B97F4A7C15u, number * 0xD1B54A32D192ED03u,
                            number * 77777, static_cast<uint32_t>(number & 3)});
}

template <class Theirs, class Ours>
void compare_engines(Theirs theirs, Ours mine, const char* what) {
  for (int i = 0; i < 2000; i++) check(theirs() == mine(), what);
}

template <class Int, class Theirs, class Ours>
void compare_integers(Theirs theirs, Ours mine, std::initializer_list<std::pair<Int, Int>> ranges) {
  for (const auto& [low, high] : ranges) {
    std::uniform_int_distribution<Int> distribution(low, high);
    for (int i = 0; i < 500; i++) {
      check(distribution(theirs) == ours::uniform_int<Int>(mine, low, high), "uniform_int");
    }
  }
}

template <class Theirs, class Ours>
void compare_shuffles() {
  for (const size_t count : {0, 1, 2, 3, 4, 5, 10, 17, 1000, 65535, 65536, 70001}) {
    for (const uint64_t seed : {1ull, 524287ull, (7ull << 32) + 524287}) {
      std::vector<int> expected(count);
      std::iota(expected.begin(), expected.end(), 0);
      std::vector<int> found = expected;
      Theirs theirs(static_cast<typename Theirs::result_type>(seed));
      Ours mine(static_cast<typename Ours::result_type>(seed));
      std::shuffle(expected.begin(), expected.end(), theirs);
      ours::shuffle(found.data(), found.size(), mine);
      check(expected == found, "shuffle");
      check(theirs() == mine(), "draws of shuffle");
    }
  }
}

template <class Real>
void compare_reals() {
  for (uint64_t number = 0; number < 1000; number++) {
    Philox theirs = engine(number), mine = engine(number);
    const Real low = Real(-0.3) * static_cast<Real>(number), high = Real(1.7);
    std::uniform_real_distribution<Real> uniform(low, high);
    std::exponential_distribution<Real> exponential;
    std::normal_distribution<Real> normal;
    ours::Normal<Real> my_normal;
    for (int i = 0; i < 10; i++) {
      check(same_bits(uniform(theirs), ours::uniform_real(mine, low, high)), "uniform_real");
      check(same_bits(exponential(theirs), ours::exponential<Real>(mine)), "exponential");
      check(same_bits(normal(theirs), my_normal(mine)), "normal");
    }
    for (const double alpha : {0.01, 0.3, 0.999, 1.0, 1.5, 7.25, 100.0}) {
      std::gamma_distribution<Real> gamma{static_cast<Real>(alpha)};
      ours::Gamma<Real> my_gamma{static_cast<Real>(alpha)};
      for (int i = 0; i < 10; i++) check(same_bits(gamma(theirs), my_gamma(mine)), "gamma");
    }
    check(theirs.state() == mine.state(), "number of draws");
  }
}

void compare_default_engine() {
  for (const int64_t seed : {0l, 1l, -1l, 42l, 1l << 40, 7 - (1l << 40)}) {
    std::seed_seq sequence({seed});
    std::default_random_engine theirs(sequence);
    compare_engines(theirs, ours::MinStd(seed), "minstd_rand0");
    compare_integers<int>(theirs, ours::MinStd(seed),
                          {{0, 0},
                           {0, 1},
                           {0, 9},
                           {-5, 1000000},
                           {0, 2147483644},
                           {0, 2147483645},
                           {0, 2147483646},
                           {-2147483647 - 1, 2147483647}});
  }
}

void compare_seed_sequences() {
  for (const size_t size : {1, 2, 4, 6, 7, 38, 39, 67, 68, 622, 623, 1000}) {
    for (const size_t count : {0, 1, 2, 5, 2000}) {
      std::vector<uint32_t> seeds(count), expected(size), found(size);
      for (size_t i = 0; i < count; i++) seeds[i] = static_cast<uint32_t>(i) * 2654435761u;
      std::seed_seq(seeds.begin(), seeds.end()).generate(expected.begin(), expected.end());
      ours::generate_seeds(found.data(), size, seeds.data(), count);
      check(expected == found, "seed_seq");
    }
  }
}

void compare_discrete_and_poisson() {
  for (uint64_t number = 0; number < 2000; number++) {
    Philox theirs = engine(number), mine = engine(number);
    std::vector<float> weights{1.0f};
    for (uint64_t i = 0; i < number % 9; i++) {
      weights.push_back(static_cast<float>((number * 31 + i * 17) % 7) / 7.0f);
    }
    std::discrete_distribution<> discrete(weights.begin(), weights.end());
    const ours::Discrete my_discrete(weights.data(), weights.size());
    for (int i = 0; i < 10; i++) check(discrete(theirs) == my_discrete(mine), "discrete");
    for (const double scale : {0.01, 0.1, 30.0, 1e5}) {
      // The standard library wants means above 0.
      const double mean = static_cast<double>(number % 400 + 1) * scale;
      std::poisson_distribution<uint32_t> poisson(mean);
      ours::Poisson my_poisson(mean);
      for (int i = 0; i < 3; i++) check(poisson(theirs) == my_poisson(mine), "poisson");
    }
    check(theirs.state() == mine.state(), "number of draws");
  }
}

}  // namespace

int main() {
  for (const uint64_t seed : {0ull, 1ull, 524287ull, 0xFFFFFFFFFFull}) {
    const auto narrow = static_cast<uint32_t>(seed);
    compare_engines(std::mt19937(narrow), ours::Mt19937(narrow), "mt19937");
    compare_engines(std::mt19937_64(seed), ours::Mt19937x64(seed), "mt19937_64");
    compare_integers<int64_t>(
        std::mt19937_64(seed), ours::Mt19937x64(seed),
        {{0, 0}, {-5, 1l << 40}, {0, 0x6000000000000000}, {INT64_MIN, INT64_MAX}});
    compare_integers<int>(engine(seed), engine(seed),
                          {{0, 0}, {0, 1}, {3, 9}, {0, 0x60000000}, {-2147483647 - 1, 2147483647}});
    compare_integers<int64_t>(engine(seed), engine(seed),
                              {{0, 0xFFFFFFFE},
                               {0, 0xFFFFFFFF},
                               {0, 0x100000000},
                               {-5, 1l << 40},
                               {0, 0x6000000000000000},
                               {INT64_MIN, INT64_MAX}});
    compare_integers<short>(engine(seed), engine(seed), {{0, 0}, {-7, 7}, {-32768, 32767}});
  }
  compare_shuffles<std::mt19937, ours::Mt19937>();
  compare_shuffles<std::mt19937_64, ours::Mt19937x64>();
  compare_reals<float>();
  compare_reals<double>();
  compare_default_engine();
  compare_seed_sequences();
  compare_discrete_and_poisson();
  return passed("random_test");
}
