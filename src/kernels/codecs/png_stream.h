// SPDX-License-Identifier: Apache-2.0
// The compressed pixels of a PNG, expanded a few rows at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codecs/inflate.h"
#include "codecs/png_header.h"
#include "core/memory.h"

namespace daliesque::codecs {

class PngStream {
 public:
  /// Of the data in `chunks`, `total` bytes are wanted, in pieces of up to `largest`. There may be
  /// one of these on a thread at a time.
  PngStream(const std::vector<PngChunk>& chunks, int64_t total, int64_t largest);
  PngStream(const PngStream&) = delete;
  PngStream& operator=(const PngStream&) = delete;

  /// The next piece; it stays until the next call. Throws `Damage`.
  const uint8_t* next(int64_t bytes);

  /// Checks the chunks that were used. If the data should end here, `whole`, also checks that they
  /// do, unless there are more than were wanted.
  void finish(bool whole);

  /// Throws `Damage` for what was found in the data, or for a wrong checksum of them.
  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  void expand();
  void check_end();
  void check(InflateFault fault) const;
  void check_sums(size_t used) const;

  const std::vector<PngChunk>& chunks_;
  Buffer joined_;  ///< the contents of several chunks
  Inflater& inflater_;
  Buffer large_;
  uint8_t* buffer_;  ///< the last bytes that were used, for matches, and those not used yet
  size_t capacity_;
  size_t used_ = 0, filled_ = 0;
  int64_t left_;  ///< wanted bytes that are not expanded yet; negative: there are more
  uint32_t sum_ = 1;
};

}  // namespace daliesque::codecs
