// SPDX-License-Identifier: Apache-2.0
#include "jpeg/scan.h"

#include <cstring>

namespace daliesque::jpeg {
namespace {

constexpr int kRestartMarkers = 8;

/// The first marker at or after `p`, a restart marker only if `restarts`; null if there is none.
const uint8_t* find_marker(const uint8_t* p, const uint8_t* end, bool restarts) {
  while (p < end) {
    p = static_cast<const uint8_t*>(std::memchr(p, 0xFF, end - p));
    if (p == nullptr || p + 1 == end) return nullptr;
    const uint8_t code = p[1];
    const bool restart = code >= 0xD0 && code < 0xD0 + kRestartMarkers;
    if (code != 0 && code != 0xFF && (restarts || !restart)) return p;
    ++p;
  }
  return nullptr;
}

}  // namespace

Result ScanData::corrupt(const char* what, const uint8_t* where) const {
  return {Status::kCorrupt, what, static_cast<size_t>(where - data_)};
}

void ScanData::start(size_t offset, int restart_interval) {
  carry_ = {};
  restart_interval_ = restart_interval;
  until_restart_ = restart_interval;
  next_restart_ = 0;
  reader_.start(data_ + offset, data_ + size_);
}

Result ScanData::restart() {
  const uint8_t* const end = data_ + size_;
  const uint8_t* const marker = find_marker(reader_.raw, end, true);
  if (marker == nullptr) return {Status::kTruncated, "inside the scan", size_};
  if (marker[1] != 0xD0 + next_restart_) return corrupt("a restart marker is missing", marker);
  next_restart_ = (next_restart_ + 1) % kRestartMarkers;
  until_restart_ = restart_interval_;
  carry_ = {};
  reader_.start(marker + 2, end);
  return {};
}

Result ScanData::find_end(size_t* offset) const {
  const uint8_t* const marker = find_marker(reader_.raw, data_ + size_, false);
  if (marker == nullptr) return {Status::kTruncated, "before the end of the image", size_};
  *offset = static_cast<size_t>(marker - data_);
  return {};
}

Result ScanData::entropy_failure(EntropyError error) const {
  switch (error) {
    case EntropyError::kBadCode:
      return corrupt("bits that are no Huffman code", reader_.raw_position());
    case EntropyError::kOverrun:
      return corrupt("a block of more than 64 coefficients", reader_.raw_position());
    default:
      break;
  }
  if (find_marker(reader_.raw, data_ + size_, true) == nullptr) {
    return {Status::kTruncated, "inside the scan", size_};
  }
  return corrupt("a marker or fill byte inside the scan", reader_.raw);
}

}  // namespace daliesque::jpeg
