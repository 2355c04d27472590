// SPDX-License-Identifier: Apache-2.0
#include "jpeg/image.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "jpeg/progressive.h"

namespace daliesque::jpeg {
namespace {

/// Scratch memory beyond this is given back after the image.
constexpr size_t kKeptBytes = size_t{64} << 20;

/// The row of blocks that smoothing takes for the one `distance` below `row`. Rows repeat at the
/// edges of the image. libjpeg finds these by counting rows in MCUs of `height` blocks; in the last
/// MCUs, if they hold fewer rows of pixels, it counts as if all others were as low.
int row_beside(int row, int distance, int height, int rows) {
  const int band = row / height;
  const int bands = divide_up(rows, height);
  const int counted_height = band + 1 == bands ? rows - band * height : height;
  const int above = band * counted_height + row % height;
  const int below = bands * counted_height - 1 - above;
  return row + std::clamp(distance, -above, below);
}

}  // namespace

Result Image::corrupt(const char* what, const uint8_t* where) const {
  return {Status::kCorrupt, what, static_cast<size_t>(where - data_)};
}

Result Image::decode(uint8_t* out, ptrdiff_t row_stride) {
  Result result = headers_.read_to_first_scan();
  if (!result.ok()) return result;
  if (const char* const reason = headers_.declined_reason()) {
    return {Status::kDeclined, reason, 0};
  }
  const Header& header = headers_.header();
  if ((header.info.components == 4) != (options_.format == Format::kCmyk)) {
    return {Status::kDeclined, "other colors than those asked for", 0};
  }
  result = check_size();
  if (!result.ok()) return result;
  geometry_ = plan_geometry(header, options_);
  const bool progressive = header.info.coding == Coding::kProgressive;
  const bool apart = !progressive && header.scan_components < header.info.components;
  result = allocate(apart, out, row_stride);
  if (!result.ok()) return result;
  if (progressive) {
    result = decode_progressive();
  } else {
    result = apart ? decode_scans_apart() : decode_scan(true);
  }
  state_.planes.release_beyond(kKeptBytes);
  state_.blocks.release_beyond(kKeptBytes);
  return result;
}

Result Image::check_size() const {
  const ImageInfo& info = headers_.header().info;
  if (int64_t{info.width} * info.height > options_.max_pixels) {
    return {Status::kTooLarge, "more pixels than allowed", 0};
  }
  const Region& region = options_.region;
  const bool whole = region.width == 0 && region.height == 0 && region.x == 0 && region.y == 0;
  const auto inside = [](int start, int length, int size) {
    return start >= 0 && length > 0 && length <= size && start <= size - length;
  };
  if (!whole && (!inside(region.x, region.width, divide_up(info.width, options_.reduction)) ||
                 !inside(region.y, region.height, divide_up(info.height, options_.reduction)))) {
    return {Status::kBadRegion, "the region is empty or not inside the image", 0};
  }
  return {};
}

Result Image::allocate(bool whole_planes, uint8_t* out, ptrdiff_t row_stride) {
  const ScanGrid& grid = geometry_.grid;
  size_t offsets[kMaxComponents] = {};
  size_t bytes = 0;
  RowWriter& writer = state_.writer;
  for (int i = 0; i < geometry_.components; ++i) {
    const ComponentGeometry& component = geometry_.component[i];
    if (!component.wanted) continue;
    Plane& plane = writer.plane[i];
    // One more row keeps the last one of the band before, and padding around a row is for filters
    // and vector stores that reach beyond it.
    const int rows = (whole_planes ? grid.row1 - grid.row0 : 1) * component.v * component.side + 1;
    plane.stride =
        (grid.column1 - grid.column0) * ptrdiff_t{component.h} * component.side + kRowPadding;
    plane.first_column = grid.column0 * component.h * component.side;
    plane.first_row = grid.row0 * component.v * component.side - 1;
    plane.has_last_column = grid.column1 == grid.columns;
    offsets[i] = bytes + kRowPadding;
    bytes += static_cast<size_t>(rows * plane.stride) + 2 * kRowPadding;
    bytes = (bytes + 63) / 64 * 64;
  }
  uint8_t* const planes = state_.planes.reserve(bytes);
  uint8_t* const rows = state_.rows.reserve(RowWriter::scratch_bytes(geometry_.region.width));
  if (planes == nullptr || rows == nullptr) {
    return {Status::kOutOfMemory, "no memory for decoding", 0};
  }
  for (int i = 0; i < kMaxComponents; ++i) writer.plane[i].data = planes + offsets[i];
  writer.start(kernels_, geometry_, headers_.header().info.color, options_.format, rows, out,
               row_stride);
  return {};
}

/// Components in separate scans: their planes are completed one by one, then written.
Result Image::decode_scans_apart() {
  unsigned missing = 0;
  for (int i = 0; i < geometry_.components; ++i) {
    if (geometry_.component[i].wanted) missing |= 1u << i;
  }
  for (;;) {
    Result result = decode_scan(false);
    if (!result.ok()) return result;
    for (int i = 0; i < part_count_; ++i) missing &= ~(1u << parts_[i].component);
    if (missing == 0) break;
    size_t offset = 0;
    result = scan_.find_end(&offset);
    if (!result.ok()) return result;
    bool found = false;
    result = headers_.read_to_next_scan(offset, &found);
    if (!result.ok()) return result;
    if (!found) {
      return corrupt(kMissingComponents, data_ + headers_.position() - 2);
    }
  }
  state_.writer.write_until(geometry_.image_height);
  return {};
}

Result Image::decode_progressive() {
  const int mcu_rows = std::min(geometry_.grid.row1 + rows_below_, geometry_.grid.rows);
  ProgressiveScans scans(&state_, &headers_, &scan_, geometry_, mcu_rows);
  const Result result = scans.read_all(size_);
  if (!result.ok()) return result;
  const bool smooth = scans.needs_smoothing();
  lacks_rows_below_ = smooth && rows_below_ == 0 && mcu_rows < geometry_.grid.rows;
  if (lacks_rows_below_) return {};
  for (int band = geometry_.grid.row0; band < geometry_.grid.row1; ++band) {
    for (int i = 0; i < geometry_.components; ++i) {
      const ComponentGeometry& component = geometry_.component[i];
      if (!component.wanted) continue;
      const ScanGrid grid = geometry_.block_grid(i);
      const int end = std::min((band + 1) * component.v, grid.row1);
      for (int row = band * component.v; row < end; ++row) {
        if (smooth) {
          smooth_row(scans, i, row, grid);
        } else {
          transform_row(scans.row(i, row, grid.column0), i, row, grid);
        }
      }
    }
    finish_band(band);
  }
  return {};
}

/// Finds tables for part `index` of the scan and appends its blocks to the plan.
Result Image::plan_tables(int index) {
  const Header& header = headers_.header();
  const uint8_t* const where = data_ + headers_.position();
  const ScanComponent& scan = header.scan[index];
  const ScanPart& part = parts_[index];
  if (!state_.set_quant(header, scan.component, geometry_.component[scan.component].fast_idct)) {
    return corrupt("a scan without its quantization table", where);
  }
  const HuffmanSpec& dc_spec = header.dc_huffman[scan.dc_table];
  const HuffmanSpec& ac_spec = header.ac_huffman[scan.ac_table];
  if (dc_spec.bytes == nullptr || ac_spec.bytes == nullptr) {
    return {Status::kDeclined, kNoHuffmanTables, 0};
  }
  const DcTable* const dc = state_.dc_tables[scan.dc_table].get(dc_spec);
  AcTable* const ac = state_.ac_tables[scan.ac_table].get(ac_spec);
  if (dc == nullptr) return corrupt("an invalid Huffman table", dc_spec.bytes);
  if (ac == nullptr) return corrupt("an invalid Huffman table", ac_spec.bytes);
  const bool wanted = geometry_.component[scan.component].wanted;
  const bool only_dc = geometry_.component[scan.component].side == 1;
  const bool skips =
      !wanted || only_dc || grid_.row0 > 0 || grid_.column0 > 0 || grid_.column1 < grid_.columns;
  if (skips && !ac->has_skips) build_skips(ac_spec, ac);
  for (int y = 0; y < part.v; ++y) {
    for (int x = 0; x < part.h; ++x) {
      plan_.block[plan_.blocks++] = {
          dc, ac, scan.component, part.first + y * kRunMcus * part.h + x, part.h, wanted, only_dc};
    }
  }
  return {};
}

Result Image::plan_scan() {
  const Header& header = headers_.header();
  part_count_ = header.scan_components;
  plan_.blocks = 0;
  const bool interleaved = part_count_ > 1;
  grid_ = interleaved ? geometry_.grid : geometry_.block_grid(header.scan[0].component);
  int blocks = 0;
  for (int i = 0; i < part_count_; ++i) {
    ScanPart& part = parts_[i];
    part = ScanPart{};
    part.component = header.scan[i].component;
    if (interleaved) {
      part.h = geometry_.component[part.component].h;
      part.v = geometry_.component[part.component].v;
    }
    part.first = blocks * kRunMcus;
    blocks += part.h * part.v;
  }
  if (blocks > kMaxBlocksPerMcu) {
    return corrupt("a scan with more than ten blocks in a unit", data_ + headers_.position());
  }
  for (int i = 0; i < part_count_; ++i) {
    const Result result = plan_tables(i);
    if (!result.ok()) return result;
  }
  return {};
}

Result Image::decode_scan(bool streaming) {
  Result result = plan_scan();
  if (!result.ok()) return result;
  scan_.start(headers_.position(), headers_.header().info.restart_interval);
  for (int row = 0; row < grid_.row0 && result.ok(); ++row) {
    result = decode_units(grid_.columns, false);
  }
  for (int row = grid_.row0; row < grid_.row1 && result.ok(); ++row) {
    result = decode_row(row);
    if (result.ok() && streaming) finish_band(row);
  }
  if (!result.ok() || !grid_.needs_last()) return result;
  size_t offset = 0;
  return scan_.find_end(&offset);
}

/// Decodes one row of units into the planes.
Result Image::decode_row(int row) {
  Result result = decode_units(grid_.column0, false);
  for (int column = grid_.column0; column < grid_.column1 && result.ok(); column += kRunMcus) {
    const int count = std::min(kRunMcus, grid_.column1 - column);
    result = decode_units(count, true);
    if (result.ok()) transform_run(row, column, count);
  }
  const bool is_last = row + 1 == grid_.row1;
  if (result.ok() && !is_last) result = decode_units(grid_.columns - grid_.column1, false);
  return result;
}

/// Entropy-decodes the next units: reads over them, or keeps the coefficients of up to kRunMcus.
Result Image::decode_units(int count, bool wanted) {
  return scan_.read(count, [&](ScanReader* reader, ScanData::Carry* carry, int begin, int end) {
    return kernels_.decode_mcus(reader, plan_, carry->predictions, begin, end,
                                wanted ? state_.coefficients : nullptr, state_.last);
  });
}

/// Transforms the coefficients of a run to samples.
void Image::transform_run(int row, int column, int count) {
  for (int i = 0; i < part_count_; ++i) {
    const ScanPart& part = parts_[i];
    if (!geometry_.component[part.component].wanted) continue;
    for (int y = 0; y < part.v; ++y) {
      const int first = part.first + y * kRunMcus * part.h;
      transform(part.component, row * part.v + y, column * part.h, count * part.h,
                state_.coefficients + first * kBlockSize, state_.last + first);
    }
  }
}

/// Transforms the blocks that a row of a progressive image has inside the grid to samples.
void Image::transform_row(const Blocks& blocks, int component, int row, const ScanGrid& grid) {
  const int columns = grid.column1 - grid.column0;
  for (int begin = 0; begin < columns; begin += kRunBlocks) {
    const int count = std::min(kRunBlocks, columns - begin);
    for (int i = 0; i < count; ++i) {
      state_.last[i] = static_cast<uint8_t>(std::bit_width(blocks.nonzero[begin + i] | 1) - 1);
    }
    transform(component, row, grid.column0 + begin, count, blocks.coefficients + begin * kBlockSize,
              state_.last);
  }
}

/// The same, after the coefficients that scans left imprecise have been guessed.
void Image::smooth_row(const ProgressiveScans& scans, int component, int row,
                       const ScanGrid& grid) {
  const ComponentGeometry& shape = geometry_.component[component];
  const Smoother smoother = scans.smoother(component);
  const int16_t* rows[kWindow];
  for (int y = -kReach; y <= kReach; ++y) {
    const int beside = row_beside(row, y, shape.v_stored, grid.rows);
    // libjpeg has rows without pixels also for a lone component; they are 0.
    const bool is_stored = beside < grid.rows || geometry_.components > 1;
    rows[y + kReach] = is_stored ? scans.row(component, beside, 0).coefficients : nullptr;
  }
  const int left_mcu =
      options_.smooth_inside_region ? std::max(geometry_.region.x - 1, 0) / geometry_.mcu_width : 0;
  const int leftmost = left_mcu * shape.h;
  const Blocks blocks = scans.row(component, row, 0);
  for (int begin = grid.column0; begin < grid.column1; begin += kRunBlocks) {
    const int count = std::min(kRunBlocks, grid.column1 - begin);
    std::memcpy(state_.coefficients, blocks.coefficients + begin * kBlockSize,
                static_cast<size_t>(count) * kBlockSize * sizeof(int16_t));
    for (int i = 0; i < count; ++i) {
      DcWindow around;
      for (int y = 0; y < kWindow; ++y) {
        for (int x = 0; x < kWindow; ++x) {
          const int column = std::clamp(begin + i + x - kReach, leftmost, grid.columns - 1);
          around.values[y][x] = rows[y] != nullptr ? rows[y][column * kBlockSize] : 0;
        }
      }
      smoother.smooth(state_.coefficients + i * kBlockSize, around);
      state_.last[i] = static_cast<uint8_t>(
          std::max(kGuessed, static_cast<int>(std::bit_width(blocks.nonzero[begin + i]))) - 1);
    }
    transform(component, row, begin, count, state_.coefficients, state_.last);
  }
}

/// Transforms blocks of a component, from the given row and column of blocks on, to samples.
void Image::transform(int component, int row, int column, int count, const int16_t* coefficients,
                      const uint8_t* last) {
  const Plane& plane = state_.writer.plane[component];
  const ComponentGeometry& shape = geometry_.component[component];
  const int side = shape.side;
  uint8_t* const out = plane.row(row * side) + (column * side - plane.first_column);
  const auto inverse_dct =
      side < kBlockSide
          ? kernels_.reduced_inverse_dct[std::countr_zero(static_cast<unsigned>(side))]
      : shape.fast_idct ? kernels_.fast_inverse_dct
                        : kernels_.inverse_dct;
  inverse_dct(out, plane.stride, coefficients, last, count, state_.quant[component]);
}

/// Writes the rows that a band of MCUs completes and prepares for the next band.
void Image::finish_band(int row) {
  const int end = (row + 1) * geometry_.mcu_height;
  const bool is_last = row + 1 == geometry_.grid.rows;
  state_.writer.write_until(is_last ? geometry_.image_height : end - geometry_.row_context);
  for (int i = 0; i < geometry_.components; ++i) {
    const ComponentGeometry& component = geometry_.component[i];
    if (!component.wanted) continue;
    Plane& plane = state_.writer.plane[i];
    const int rows = component.v * component.side;
    std::memcpy(plane.data, plane.data + rows * plane.stride, plane.stride);
    plane.first_row += rows;
  }
}

}  // namespace daliesque::jpeg
