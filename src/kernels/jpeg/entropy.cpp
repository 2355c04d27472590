// SPDX-License-Identifier: Apache-2.0
#include "jpeg/entropy.h"

#include <cstring>

namespace daliesque::jpeg {

void ScanReader::start(const uint8_t* segment_begin, const uint8_t* end) {
  segment = segment_begin;
  raw = segment_begin;
  raw_end = end;
  ended = false;
  bits = 0;
  count = 0;
  next = buffer + kKept;
  filled = buffer + kKept;
  discarded = 0;
}

const uint8_t* ScanReader::raw_position() const {
  const uint8_t* p = segment;
  for (int64_t left = used_bytes(); left > 0 && p < raw; --left) {
    p += *p == 0xFF ? 2 : 1;
  }
  return p;
}

}  // namespace daliesque::jpeg
