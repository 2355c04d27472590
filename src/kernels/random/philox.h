// SPDX-License-Identifier: Apache-2.0
// Philox 4x32-10, the counter-based generator behind every random operator. Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). The draws, the use of the counter and
// the printed state are those of the reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/half.h"

namespace daliesque::random {

/// Computes the four words that belong to one value of the 128-bit counter.
DALIESQUE_INLINE void philox_block(uint32_t out[4], uint64_t key, uint64_t low, uint64_t high) {
  uint32_t x0 = static_cast<uint32_t>(low), x1 = static_cast<uint32_t>(low >> 32);
  uint32_t x2 = static_cast<uint32_t>(high), x3 = static_cast<uint32_t>(high >> 32);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; round++) {
    const uint64_t even = uint64_t{0xD2511F53u} * x0, odd = uint64_t{0xCD9E8D57u} * x2;
    x0 = static_cast<uint32_t>(odd >> 32) ^ x1 ^ k0;
    x1 = static_cast<uint32_t>(odd);
    x2 = static_cast<uint32_t>(even >> 32) ^ x3 ^ k1;
    x3 = static_cast<uint32_t>(even);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = x0;
  out[1] = x1;
  out[2] = x2;
  out[3] = x3;
}

/// A position in the stream of a generator: `phase` words (0..3) of the counter's block are used
/// up.
struct PhiloxState {
  uint64_t key = 0;
  uint64_t counter_low = 0;
  uint64_t counter_high = 0;
  uint32_t phase = 0;

  bool operator==(const PhiloxState&) const = default;

  /// Moves on by `draws` words.
  DALIESQUE_INLINE void skip(uint64_t draws) {
    phase += static_cast<uint32_t>(draws & 3);
    const uint64_t blocks = (draws >> 2) + (phase >> 2);
    phase &= 3;
    counter_low += blocks;
    counter_high += counter_low < blocks;
  }

  /// Moves on by whole sequences of 2^66 words.
  DALIESQUE_INLINE void skip_sequences(uint64_t count) { counter_high += count; }

  /// "Philox_<key>_<counter high>:<counter low>_<phase>", in hexadecimal.
  std::string to_string() const;

  /// Reads what to_string() writes; throws UsageError with the reason otherwise.
  static PhiloxState parse(std::string_view text);
};

/// The generator as a standard uniform random bit generator. Blocks are computed when needed.
class Philox {
 public:
  using result_type = uint32_t;
  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return 0xFFFFFFFFu; }

  Philox() = default;
  explicit Philox(const PhiloxState& state) : state_(state) {}

  DALIESQUE_INLINE uint32_t operator()() {
    if (!ready_) {
      philox_block(block_, state_.key, state_.counter_low, state_.counter_high);
      ready_ = true;
    }
    const uint32_t word = block_[state_.phase];
    if (++state_.phase == 4) {
      state_.phase = 0;
      state_.counter_high += ++state_.counter_low == 0;
      ready_ = false;
    }
    return word;
  }

  void skip(uint64_t draws) {
    state_.skip(draws);
    ready_ = false;
  }

  const PhiloxState& state() const { return state_; }

 private:
  PhiloxState state_;
  uint32_t block_[4] = {};
  bool ready_ = false;
};

/// How many words a random operator takes from the user's generator per call.
constexpr int kStateWords = 7;

/// The operator's own state, made of kStateWords draws from the user's generator.
PhiloxState draw_operator_state(Philox& rng);

/// Samples of a batch start this many sequences apart, and elements of a sample this many words:
/// enough for the longest distribution, and coprime with 2^64.
constexpr int32_t kSequencesPerSample = 65537;
constexpr uint64_t kWordsPerElement = 257;

/// Where the draws of sample `index` begin, given the operator's state.
inline PhiloxState sample_state(PhiloxState state, int64_t index) {
  state.skip_sequences(static_cast<uint64_t>(index) * kSequencesPerSample);
  return state;
}

/// Where the draws of one element of a sample begin.
DALIESQUE_INLINE PhiloxState element_state(PhiloxState state, int64_t element) {
  state.skip(static_cast<uint64_t>(element) * kWordsPerElement);
  return state;
}

/// Elements per call of philox_words(), and the distance of its planes.
constexpr int64_t kPhiloxTile = 512;

/// The first `words` draws (1, 2 or 4) of elements first, first + 1, ... of a sample: draw w of
/// element first + i goes to out[w * kPhiloxTile + i]. `count` is at most kPhiloxTile; all of
/// `out` may be overwritten.
void philox_words(uint32_t* out, const PhiloxState& sample, int64_t first, int64_t count,
                  int words);

/// Like philox_words(), but all words of `blocks` blocks, from the start of the block in which the
/// draws of an element begin: the element's first draw is word element_state().phase.
void philox_blocks(uint32_t* out, const PhiloxState& sample, int64_t first, int64_t count,
                   int blocks);

}  // namespace daliesque::random
