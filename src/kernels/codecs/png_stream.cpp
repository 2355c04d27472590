// SPDX-License-Identifier: Apache-2.0
#include "codecs/png_stream.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "codecs/scratch.h"

namespace daliesque::codecs {

namespace {

/// How much is expanded at once: little enough to stay in the cache until it is used.
constexpr size_t kPiece = 128 << 10;

/// Kept from image to image.
struct StreamState {
  Inflater inflater;
  KeptScratch buffer, joined;
};

StreamState& stream_state() {
  static thread_local const auto state = std::make_unique<StreamState>();
  return *state;
}

Bytes join_chunks(const std::vector<PngChunk>& chunks, Buffer& large) {
  size_t size = 0;
  for (const PngChunk& chunk : chunks) size += chunk.contents().size();
  uint8_t* const joined = stream_state().joined.require(size, large);
  uint8_t* out = joined;
  for (const PngChunk& chunk : chunks) {
    const Bytes contents = chunk.contents();
    if (!contents.empty()) std::memcpy(out, contents.data(), contents.size());
    out += contents.size();
  }
  return {joined, size};
}

}  // namespace

PngStream::PngStream(const std::vector<PngChunk>& chunks, int64_t total, int64_t largest)
    : chunks_(chunks), inflater_(stream_state().inflater), left_(total) {
  Bytes stream;
  if (chunks.size() == 1) {
    stream = chunks[0].contents();
  } else if (!chunks.empty()) {
    stream = join_chunks(chunks, joined_);
  }
  const auto wanted = static_cast<size_t>(total);
  capacity_ = std::min(wanted, kInflateWindow + std::max(static_cast<size_t>(largest), kPiece));
  // At the end one byte more is asked for.
  buffer_ = stream_state().buffer.require(capacity_ + 1 + Inflater::kOvershoot, large_);
  check(inflater_.start(stream));
}

const uint8_t* PngStream::next(int64_t bytes) {
  const auto count = static_cast<size_t>(bytes);
  if (filled_ - used_ < count) expand();
  if (filled_ - used_ < count) refuse("the PNG has less image data than pixels");
  const uint8_t* const piece = buffer_ + used_;
  used_ += count;
  return piece;
}

void PngStream::expand() {
  const size_t kept = std::min(used_, filled_ - std::min(filled_, kInflateWindow));
  std::memmove(buffer_, buffer_ + kept, filled_ - kept);
  used_ -= kept;
  filled_ -= kept;
  const size_t wanted = std::min(capacity_ - filled_, static_cast<size_t>(left_));
  uint8_t* out = buffer_ + filled_;
  check(inflater_.run(buffer_, &out, out + wanted));
  const size_t made = static_cast<size_t>(out - buffer_) - filled_;
  const size_t counted = std::min(made, static_cast<size_t>(left_));
  sum_ = adler32(sum_, buffer_ + filled_, counted);
  filled_ += made;
  left_ -= static_cast<int64_t>(made);
}

void PngStream::finish(bool whole) {
  if (whole && left_ == 0) check_end();
  check_sums(inflater_.consumed());
}

void PngStream::check_end() {
  uint8_t* out = buffer_ + filled_;
  check(inflater_.run(buffer_, &out, out + 1));
  if (!inflater_.ended() || out != buffer_ + filled_) return;
  uint32_t stored;
  check(inflater_.read_checksum(&stored));
  if (stored != sum_) check(InflateFault::kChecksum);
}

void PngStream::refuse(const std::string& reason) const {
  // What a wrong checksum shows is the cause, and the rest its consequence.
  check_sums(SIZE_MAX);
  throw Damage("is damaged: " + reason);
}

void PngStream::check(InflateFault fault) const {
  if (fault == InflateFault::kNone) return;
  if (fault == InflateFault::kTruncated) refuse("the PNG has less image data than pixels");
  refuse(std::string("in the PNG, ") + describe(fault));
}

void PngStream::check_sums(size_t used) const {
  size_t begin = 0;
  for (const PngChunk& chunk : chunks_) {
    if (begin >= used) break;
    begin += chunk.contents().size();
    if (!chunk.sum_is_right()) {
      throw Damage("is damaged: the checksum of image data in the PNG is wrong");
    }
  }
}

}  // namespace daliesque::codecs
