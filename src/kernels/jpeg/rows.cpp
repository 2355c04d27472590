// SPDX-License-Identifier: Apache-2.0
#include "jpeg/rows.h"

#include <algorithm>
#include <cstring>

namespace daliesque::jpeg {
namespace {

/// A row upsampled by up to 4 starts and ends at most 3 samples beyond the region.
size_t scratch_row_bytes(int width) {
  return (static_cast<size_t>(width) + 8 + 2 * kRowPadding) / 64 * 64 + 64;
}

}  // namespace

size_t RowWriter::scratch_bytes(int width) { return kMaxComponents * scratch_row_bytes(width); }

void RowWriter::start(const DecoderLoops& kernels, const Geometry& geometry, Color color,
                      Format format, uint8_t* scratch, uint8_t* out, ptrdiff_t row_stride) {
  kernels_ = &kernels;
  geometry_ = &geometry;
  color_ = color;
  format_ = format;
  out_ = out;
  row_stride_ = row_stride;
  next_ = geometry.region.y;
  const size_t bytes = scratch_row_bytes(geometry.region.width);
  for (int i = 0; i < kMaxComponents; ++i) {
    upsampled_[i] = scratch + i * bytes;
    upsampled_row_[i] = -1;
  }
}

void RowWriter::write_until(int end) {
  const Region& region = geometry_->region;
  end = std::min(end, region.y + region.height);
  for (; next_ < end; ++next_) write_row(out_ + (next_ - region.y) * row_stride_, next_);
}

/// The samples of image row y, beginning at the region's first column.
const uint8_t* RowWriter::component_row(int index, int y) {
  const ComponentGeometry& component = geometry_->component[index];
  const int x = geometry_->region.x;
  if (component.h_ratio == 1 && !component.fancy_v) {
    return plane[index].row(y / component.v_ratio) + (x - plane[index].first_column);
  }
  return upsample(index, y) + x % component.h_ratio;
}

const uint8_t* RowWriter::upsample(int index, int y) {
  const ComponentGeometry& component = geometry_->component[index];
  const Region& region = geometry_->region;
  const Plane& source = plane[index];
  uint8_t* const out = upsampled_[index];
  const int row = y / component.v_ratio;
  if (!component.fancy_v && upsampled_row_[index] == row) return out;
  upsampled_row_[index] = row;

  const int column = region.x / component.h_ratio;
  const int count = (region.x + region.width - 1) / component.h_ratio + 1 - column;
  const auto samples = [&](int r) {
    uint8_t* const first = source.row(r);
    if (component.fancy_h) {
      // At the edges of the image the filter sees the outermost sample repeated.
      if (source.first_column == 0) first[-1] = first[0];
      uint8_t* const end = first + (component.width - source.first_column);
      if (source.has_last_column) end[0] = end[-1];
    }
    return first + (column - source.first_column);
  };
  const uint8_t* const near = samples(row);
  if (!component.fancy_v) {
    if (component.fancy_h) {
      kernels_->upsample_h2v1(out, near, count);
    } else {
      kernels_->replicate(out, near, count, component.h_ratio);
    }
    return out;
  }
  const bool lower = y % 2 != 0;
  const uint8_t* const far =
      samples(std::clamp(lower ? row + 1 : row - 1, 0, component.height - 1));
  if (component.fancy_h) {
    kernels_->upsample_h2v2(out, near, far, count);
  } else {
    kernels_->upsample_h1v2(out, near, far, count, lower);
  }
  return out;
}

void RowWriter::write_row(uint8_t* out, int y) {
  const int width = geometry_->region.width;
  PlaneRow in = {};
  for (int i = 0; i < geometry_->components; ++i) {
    if (geometry_->component[i].wanted) in.plane[i] = component_row(i, y);
  }
  if (color_ == Color::kGray) in.plane[1] = in.plane[2] = in.plane[0];
  const bool coded = color_ == Color::kYCbCr;
  switch (format_) {
    case Format::kGray:
      if (color_ == Color::kRgb) {
        kernels_->planes_to_gray(out, in, width);
      } else {
        std::memcpy(out, in.plane[0], width);
      }
      return;
    case Format::kRgb:
    case Format::kBgr:
      if (coded) {
        kernels_->ycbcr_to_pixels(out, in, width, format_ == Format::kBgr);
        return;
      }
      if (format_ == Format::kBgr) std::swap(in.plane[0], in.plane[2]);
      kernels_->planes_to_pixels(out, in, width);
      return;
    case Format::kYCbCr:
      kernels_->limited_ycbcr_to_pixels(out, in, width, coded);
      return;
    case Format::kCmyk:
      kernels_->cmyk_to_pixels(out, in, width, color_ == Color::kYcck);
      return;
  }
}

}  // namespace daliesque::jpeg
