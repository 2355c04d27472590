// SPDX-License-Identifier: Apache-2.0
// Frames of FLAC files (RFC 9639): each holds some samples of all channels, and can be decoded
// without the others.
#pragma once

#include <cstdint>
#include <vector>

namespace daliesque::audio {

/// What a FLAC file says about all of its frames.
struct FlacFormat {
  int channels = 0, bits = 0;
  int64_t rate = 0, frames = 0;
  /// Of all blocks but the last, if it is the same for all.
  int64_t block_size = 0;
};

/// The most bits of a sample that are decoded here.
constexpr int kMostFlacBits = 24;

enum class FlacOutcome {
  decoded,
  damaged,
  cut,  ///< the frame goes on after the last of the bytes
};

/// The samples of a frame, channel after channel, and what its header says.
class FlacFrame {
 public:
  /// Decodes the frame that begins at `data`.
  FlacOutcome decode(const FlacFormat& format, const uint8_t* data, int64_t size);

  int64_t samples() const { return samples_; }
  /// The number of the first sample in the file.
  int64_t first() const { return first_; }
  /// How many bytes the frame has.
  int64_t bytes() const { return bytes_; }
  const int32_t* channel(int number) const { return values_.data() + number * samples_; }

 private:
  class Bits;
  enum class Stereo { separate, left_side, side_right, mid_side };

  bool read_header(const FlacFormat& format, Bits& bits, const uint8_t* data);
  bool read_channel(Bits& bits, int32_t* out, int width) const;
  bool read_residual(Bits& bits, int32_t* out, int order) const;
  bool read_predicted(Bits& bits, int32_t* out, int order, int width) const;
  void restore_stereo();

  int channels_ = 0;
  int64_t samples_ = 0, first_ = 0, bytes_ = 0;
  Stereo stereo_ = Stereo::separate;
  std::vector<int32_t> values_;
};

}  // namespace daliesque::audio
