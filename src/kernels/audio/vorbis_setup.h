// SPDX-License-Identifier: Apache-2.0
// What the headers of a Vorbis stream say about its packets
// (https://xiph.org/vorbis/doc/Vorbis_I_spec.html).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "audio/vorbis_loops.h"

namespace daliesque::audio {

using VorbisBytes = std::span<const uint8_t>;

/// The first header.
struct VorbisFormat {
  int channels = 0;
  int64_t rate = 0;
  int block_sizes[2] = {};

  /// False if this is not such a header, or one of a stream that is not decoded here.
  bool parse(VorbisBytes packet);
};

/// Whether this is the second header, which holds texts, and whole. Other decoders refuse streams
/// without it.
bool is_vorbis_comment(VorbisBytes packet);

/// A codebook with the memory that it needs.
class VorbisCodebook {
 public:
  VorbisCodebook() = default;
  VorbisCodebook(VorbisCodebook&&) = default;
  VorbisCodebook(const VorbisCodebook&) = delete;

  bool parse(VorbisBits& bits);

  const VorbisBook& book() const { return book_; }
  int64_t entries() const { return static_cast<int64_t>(lengths_.size()); }
  /// The floats that vectors take.
  int64_t volume() const { return static_cast<int64_t>(vectors_.size()); }

 private:
  bool read_lengths(VorbisBits& bits, size_t entries);
  bool read_vectors(VorbisBits& bits, int type);
  bool make_table();
  void add_long_codes(std::vector<VorbisLongCode>& codes);

  std::vector<uint8_t> lengths_;  ///< of codewords; 0 for entries without one
  std::vector<uint32_t> table_;
  std::vector<VorbisLongSpan> spans_;
  std::vector<VorbisLongCode> long_codes_;
  std::vector<float> vectors_;
  VorbisBook book_{};
};

/// The most points of a curve.
constexpr int kMostVorbisPoints = 65;

/// A curve of the second kind: lines between points, which are encoded as differences from lines
/// between earlier points.
struct VorbisFloor {
  struct Group {
    int size, subclass_bits, main_book;
    int books[8];  ///< -1: all differences are zero
  };
  struct Point {
    int x, low, high;  ///< the numbers of the nearest points before it in the list
  };

  std::vector<Group> groups;  ///< in the order in which they are read
  std::vector<Point> points;
  std::vector<int> order;  ///< the numbers of points from left to right
  int multiplier = 0;

  bool parse(VorbisBits& bits, size_t books);
};

/// How what remains beside the curves is encoded.
struct VorbisResidue {
  int type = 0, classes = 0, class_book = 0;
  int64_t begin = 0, end = 0, size = 0;  ///< of all partitions, of a partition
  int books[64][8];                      ///< for each class and pass; -1 for none
  int passes = 0;
  /// The classes that each entry of the class book stands for.
  std::vector<uint8_t> class_words;

  bool parse(VorbisBits& bits, const std::vector<VorbisCodebook>& codebooks);
};

struct VorbisMapping {
  struct Coupling {
    int magnitude, angle;
  };
  struct Submap {
    int floor, residue;
    std::vector<int> channels;
  };

  std::vector<Coupling> couplings;
  std::vector<Submap> submaps;
  std::vector<int> submap_of;  ///< for each channel

  bool parse(VorbisBits& bits, int channels, size_t floors,
             const std::vector<VorbisResidue>& residues);
};

struct VorbisMode {
  bool is_long;
  int mapping;
};

/// The last header.
class VorbisSetup {
 public:
  /// False if it is damaged, or uses something that is not decoded here.
  bool parse(VorbisBytes packet, int channels);

  std::vector<VorbisCodebook> codebooks;
  std::vector<VorbisFloor> floors;
  std::vector<VorbisResidue> residues;
  std::vector<VorbisMapping> mappings;
  std::vector<VorbisMode> modes;
  uint32_t mode_bits = 0;

 private:
  bool parse_codebooks(VorbisBits& bits);
  bool parse_modes(VorbisBits& bits);
};

/// The parsed last header, or null. Files of a dataset mostly have the same, so those used last
/// are kept.
std::shared_ptr<const VorbisSetup> vorbis_setup(VorbisBytes packet, int channels);

}  // namespace daliesque::audio
