// SPDX-License-Identifier: Apache-2.0
// The loops of a Vorbis decoder, one set for each instruction set.
#pragma once

#include <cstdint>

#include "core/simd.h"

namespace daliesque::audio {

/// Bits that are read from bytes, the lowest of each byte first.
struct VorbisBits {
  const uint8_t* at;   ///< the next byte to take into the cache
  const uint8_t* end;  ///< behind the last byte
  uint64_t cache;      ///< the next bits, the first of them at the bottom
  int left;            ///< how many of them count; below 0 once more were read than there are
};

/// A codeword that is longer than the index of the table, its first bit on top.
struct VorbisLongCode {
  uint32_t bits, number, length;
};

/// Codewords [begin, end) of the long ones, which begin alike.
struct VorbisLongSpan {
  uint32_t begin, end;
};

/// A code whose words stand for entry numbers, and what vector belongs to each entry.
struct VorbisBook {
  /// For each value of the next `index_bits` bits: the number of the entry, shifted by 8, and the
  /// length of its word; length 0 means that the number is one of `spans`.
  const uint32_t* table;
  const VorbisLongSpan* spans;
  const VorbisLongCode* long_codes;
  const float* vectors;
  uint32_t index_bits;
  int dimensions;
};

/// The smallest and the largest block that a stream may have.
constexpr int kLeastVorbisBlock = 64, kMostVorbisBlock = 8192;
/// The highest level of a curve, and its longest line.
constexpr int kMostVorbisLevel = 255;
constexpr int64_t kMostVorbisLine = kMostVorbisBlock;
/// The columns that the transform of a block is split into.
constexpr int64_t kMdctColumns = 8;
/// Counts that are multiples of this have no rest after vectors of any build.
constexpr int64_t kVorbisStep = 8;

/// Tables for the inverse MDCT of `half` numbers, by a complex transform of half as many, which
/// stand in kMdctColumns columns and `rows` rows.
struct MdctTables {
  int64_t half, rows;
  const float *twist_re, *twist_im;  ///< what numbers are rotated by before and after
  const float* column_roots;         ///< of all stages for the columns: three for each group
  const float *row_re, *row_im;      ///< what rows are rotated by in between
};

struct VorbisLoops {
  /// Reads vectors and adds them to the numbers; false if there are no more bits.
  bool (*add_vectors)(VorbisBits& bits, const VorbisBook& book, float* out, int64_t count);
  /// The same, where elements of a vector are count / dimensions apart.
  bool (*add_spread_vectors)(VorbisBits& bits, const VorbisBook& book, float* out, int64_t count);
  /// Restores two channels of a magnitude and an angle; `count` is a multiple of kVorbisStep.
  void (*uncouple)(float* magnitude, float* angle, int64_t count);
  /// Splits pairs; `count` is a multiple of kVorbisStep.
  void (*split_pairs)(float* left, float* right, const float* in, int64_t count);
  /// Makes pairs.
  void (*make_pairs)(float* out, const float* left, const float* right, int64_t count);
  /// Writes those of `levels` along a line of integers that begins with `from` and would reach `to`
  /// after `length`, which is up to kMostVorbisLine. `count` of them, no more than `length`; what
  /// follows these, up to a multiple of kVorbisStep, is overwritten.
  void (*draw_line)(float* out, int64_t count, int64_t length, int from, int to,
                    const float* levels);
  /// Transforms the products of two series. The first half of the result is what the end of the
  /// block consists of, mirrored; the second half is what its beginning consists of. `work` has
  /// space for 2 * half numbers.
  void (*inverse_mdct)(float* out, const float* in, const float* curve, const MdctTables& tables,
                       float* work);
  /// Fades from one block to the next over `length` numbers: `before` and `after` are halves of
  /// what these blocks consist of, `slope` goes up.
  void (*overlap)(float* out, const float* before, const float* after, const float* slope,
                  int64_t length);
  /// What is beside an overlap: the numbers before `end`, backwards and negated.
  void (*mirror)(float* out, const float* end, int64_t count);
};

namespace portable {
extern const VorbisLoops vorbis_loops;
}
namespace avx2 {
extern const VorbisLoops vorbis_loops;
}

}  // namespace daliesque::audio
