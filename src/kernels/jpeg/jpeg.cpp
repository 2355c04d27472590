// SPDX-License-Identifier: Apache-2.0
#include "jpeg/jpeg.h"

#include <new>

#include "core/simd.h"
#include "jpeg/header.h"
#include "jpeg/image.h"
#include "jpeg/smoothing.h"

namespace daliesque::jpeg {

const DecoderLoops& decoder_loops() { return DALIESQUE_CHOOSE(decoder_loops); }

std::string describe(const Result& result) {
  switch (result.status) {
    case Status::kOk:
      return "no error";
    case Status::kDeclined:
      return std::string("the JPEG uses ") + result.what;
    case Status::kTruncated:
      if (result.offset == 0) return "the data are empty";
      return "the JPEG ends after " + std::to_string(result.offset) + " bytes, " + result.what;
    case Status::kCorrupt:
      return std::string("the JPEG is damaged: ") + result.what + " at byte " +
             std::to_string(result.offset);
    default:
      return result.what;
  }
}

Result parse(const uint8_t* data, size_t size, ImageInfo* info) {
  HeaderReader reader(data, size);
  const Result result = reader.read_to_first_scan();
  *info = reader.header().info;
  if (!result.ok()) return result;
  if (const char* const reason = reader.declined_reason()) return {Status::kDeclined, reason, 0};
  return {};
}

Decoder::Decoder() noexcept = default;
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Result Decoder::decode(const uint8_t* data, size_t size, const DecodeOptions& options, uint8_t* out,
                       ptrdiff_t row_stride) {
  if (state_ == nullptr) state_.reset(new (std::nothrow) DecoderState);
  if (state_ == nullptr) return {Status::kOutOfMemory, "no memory for decoding", 0};
  Image image(state_.get(), data, size, options, 0);
  const Result result = image.decode(out, row_stride);
  if (!image.lacks_rows_below()) return result;
  return Image(state_.get(), data, size, options, kReach).decode(out, row_stride);
}

}  // namespace daliesque::jpeg
