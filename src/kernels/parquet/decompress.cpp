// SPDX-License-Identifier: Apache-2.0
#include "parquet/decompress.h"

#include "codecs/checksum.h"
#include "codecs/inflate.h"
#include "parquet/snappy.h"

namespace daliesque::parquet {

namespace {

static_assert(kDecompressSlack >= kSnappySlack);
static_assert(kDecompressSlack >= codecs::Inflater::kOvershoot);

void check_inflated(codecs::InflateFault fault) {
  if (fault != codecs::InflateFault::kNone) throw Undecoded(codecs::describe(fault));
}

/// Takes the header of a gzip member: only such as libraries write, without names and comments.
void read_gzip_header(Cursor& cursor) {
  const Bytes header = cursor.take(10);
  if (header[0] != 0x1f || header[1] != 0x8b || header[2] != 8 || header[3] != 0) {
    throw Undecoded("no plain gzip header");
  }
}

void decompress_gzip(Bytes packed, uint8_t* out, size_t size) {
  Cursor cursor(packed);
  read_gzip_header(cursor);
  codecs::Inflater inflater;
  inflater.start_raw(cursor.rest());
  uint8_t* end = out;
  check_inflated(inflater.run(out, &end, out + size));
  // The last byte may be followed by marks that blocks end.
  if (end == out + size) check_inflated(inflater.run(out, &end, end + 1));
  if (!inflater.ended() || end != out + size) throw Undecoded("a page has another size");
  cursor.take(inflater.consumed());
  const uint32_t checksum = cursor.number32(), length = cursor.number32();
  if (checksum != codecs::crc32({out, size}) || length != static_cast<uint32_t>(size) ||
      cursor.left() != 0) {
    throw Undecoded("the end of a gzip member does not fit its data");
  }
}

}  // namespace

void decompress(Codec codec, Bytes packed, uint8_t* out, size_t size) {
  switch (codec) {
    case Codec::none:
      if (packed.size() != size) throw Undecoded("a page has another size");
      if (size > 0) std::memcpy(out, packed.data(), size);
      return;
    case Codec::snappy:
      return decompress_snappy({packed}, out, size);
    case Codec::gzip:
      return decompress_gzip(packed, out, size);
  }
}

}  // namespace daliesque::parquet
