// SPDX-License-Identifier: Apache-2.0
#include "codecs/format.h"

#include <cstring>

#include "codecs/pixel_loops.h"
#include "core/simd.h"

namespace daliesque::codecs {

namespace {

bool begins_with(Bytes file, const char* text, size_t size) {
  return file.size() >= size && std::memcmp(file.data(), text, size) == 0;
}

}  // namespace

Format find_format(Bytes file) {
  if (begins_with(file, "\x89PNG\r\n\x1a\n", 8)) return Format::kPng;
  if (begins_with(file, "BM", 2)) return Format::kBmp;
  if (begins_with(file, "GIF87a", 6) || begins_with(file, "GIF89a", 6)) return Format::kGif;
  const bool is_pnm = file.size() >= 3 && file[0] == 'P' && file[1] >= '1' && file[1] <= '6';
  return is_pnm && is_space(file[2]) ? Format::kPnm : Format::kNone;
}

const PixelLoops& pixel_loops() { return DALIESQUE_CHOOSE(pixel_loops); }

const char* format_name(Format format) {
  switch (format) {
    case Format::kPng:
      return "PNG";
    case Format::kBmp:
      return "BMP";
    case Format::kPnm:
      return "PNM";
    case Format::kGif:
      return "GIF";
    default:
      return "";
  }
}

Damage cut_short(const std::string& kind, Bytes file, const std::string& where) {
  return Damage("is cut short: the " + kind + " ends after " + std::to_string(file.size()) +
                " bytes, " + where);
}

}  // namespace daliesque::codecs
