// SPDX-License-Identifier: Apache-2.0
// Packets of Vorbis streams become blocks, and where blocks overlap, samples.
#pragma once

#include <memory>
#include <vector>

#include "audio/vorbis_mdct.h"
#include "audio/vorbis_setup.h"
#include "core/scratch.h"

namespace daliesque::audio {

class VorbisDecoder {
 public:
  VorbisDecoder(const VorbisFormat& format, std::shared_ptr<const VorbisSetup> setup);

  /// The size of the block in a packet; 0 if it holds none.
  int block_size(VorbisBytes packet) const;
  /// Decodes a packet whose block_size() is not 0. Returns how many samples of each channel there
  /// are now: none for the first block.
  int64_t decode(VorbisBytes packet);
  /// Makes the next block the first one.
  void restart() { before_ = nullptr; }

  const float* channel(int number) const { return samples_.data() + number * longest_ / 2; }

 private:
  float* spectrum(int channel) const { return spectra_.data() + channel * longest_ / 2; }
  float* ending(int channel) const { return endings_.data() + channel * longest_ / 4; }

  const VorbisMode* read_mode(VorbisBits& bits) const;
  bool read_curve(VorbisBits& bits, const VorbisFloor& floor, int* levels) const;
  void read_residue(VorbisBits& bits, const VorbisMapping::Submap& submap, int64_t half);
  void read_partitions(VorbisBits& bits, const VorbisResidue& residue,
                       const std::vector<float*>& vectors, int64_t length);
  bool read_classes(VorbisBits& bits, const VorbisResidue& residue, uint8_t* classes,
                    int64_t count) const;
  void read_spectra(VorbisBits& bits, const VorbisMapping& mapping, int64_t half);
  void draw_curve(const VorbisFloor& floor, const int* levels, int64_t count);
  int64_t join(int channel, const VorbisBlock& block);

  const VorbisFormat format_;
  const std::shared_ptr<const VorbisSetup> setup_;
  const VorbisLoops& loops_;
  const VorbisBlock* const blocks_[2];
  const int64_t longest_;
  const VorbisBlock* before_ = nullptr;
  /// Of each channel: its spectrum, the half of the last block that the next one overlaps, samples.
  Scratch<float> spectra_, endings_, samples_;
  Scratch<float> mixed_, curve_, block_, work_;
  std::vector<uint8_t> classes_;
  struct Channel {
    const VorbisFloor* floor;
    bool has_curve, has_residue;
    int levels[kMostVorbisPoints];  ///< of the points; -1 for those that the curve passes over
  };
  std::vector<Channel> channels_;
};

}  // namespace daliesque::audio
