// SPDX-License-Identifier: Apache-2.0
#include "jpeg/progressive.h"

#include <algorithm>

namespace daliesque::jpeg {
namespace {

/// Each scan costs time even if it takes few bytes. Encoders write about ten; beyond this number
/// the reference takes another decoder, which always has the accurate transform.
constexpr int kMaxScans = 256;

/// What the format allows.
constexpr int kMaxLow = 13;

}  // namespace

Progression::Progression() { std::fill_n(low_[0], kMaxComponents * kBlockSize, kUnknown); }

const char* Progression::add(const Header& header) {
  const Band& band = header.band;
  const bool is_dc = band.first == 0;
  const bool is_first = band.high == 0;
  const bool is_band =
      is_dc ? band.last == 0
            : band.first <= band.last && band.last < kBlockSize && header.scan_components == 1;
  if (!is_band) return "a scan of an impossible band";
  if (band.low > kMaxLow || (!is_first && band.low != band.high - 1)) {
    return "a scan of impossible precision";
  }
  for (int i = 0; i < header.scan_components; ++i) {
    int8_t* const low = low_[header.scan[i].component];
    if (!is_dc && low[0] == kUnknown) return "a scan that comes before that of its DC coefficients";
    for (int k = band.first; k <= band.last; ++k) {
      if (low[k] != (is_first ? kUnknown : band.high)) return "a scan out of order";
      low[k] = static_cast<int8_t>(band.low);
    }
  }
  return nullptr;
}

bool Progression::leaves_guesses(int component) const {
  return std::any_of(low_[component] + 1, low_[component] + kGuessed,
                     [](int8_t low) { return low != 0; });
}

Blocks ProgressiveScans::row(int component, int row, int column) const {
  const BlockArray& array = arrays_[component];
  const ptrdiff_t block = array.first + row * array.columns + column;
  return {blocks_.coefficients + block * kBlockSize, blocks_.nonzero + block};
}

Result ProgressiveScans::allocate(size_t size) {
  ptrdiff_t count = 0;
  for (int i = 0; i < geometry_.components; ++i) {
    const ComponentGeometry& component = geometry_.component[i];
    if (!component.wanted) continue;
    const ptrdiff_t columns = ptrdiff_t{geometry_.grid.columns} * component.h;
    arrays_[i] = {count, columns};
    count += columns * mcu_rows_ * component.v;
  }
  // The first scan has at least a bit for each block.
  const auto blocks = static_cast<size_t>(count);
  if (blocks / 8 > size) return corrupt("more blocks than there are bits");
  uint8_t* const memory =
      state_.blocks.reserve(blocks * (kBlockSize * sizeof(int16_t) + sizeof(uint64_t)));
  if (memory == nullptr) return {Status::kOutOfMemory, "no memory for decoding", 0};
  blocks_.coefficients = reinterpret_cast<int16_t*>(memory);
  blocks_.nonzero = reinterpret_cast<uint64_t*>(memory + blocks * kBlockSize * sizeof(int16_t));
  for (int i = 0; i < geometry_.components; ++i) clear_padding(i);
  return {};
}

/// Rows of blocks that hold no pixels stay 0 unless an interleaved scan has data for them.
void ProgressiveScans::clear_padding(int component) {
  if (!geometry_.component[component].wanted) return;
  const int begin = block_grid(component).row1;
  const int end = mcu_rows_ * geometry_.component[component].v;
  const auto size = static_cast<size_t>((end - begin) * arrays_[component].columns);
  const Blocks blocks = row(component, begin, 0);
  std::fill_n(blocks.coefficients, size * kBlockSize, int16_t{0});
  std::fill_n(blocks.nonzero, size, uint64_t{0});
}

ScanGrid ProgressiveScans::block_grid(int component) const {
  ScanGrid grid = geometry_.block_grid(component);
  grid.row1 = std::min(mcu_rows_ * geometry_.component[component].v, grid.rows);
  return grid;
}

void ProgressiveScans::take_quantizers() {
  const Header& header = headers_.header();
  for (int i = 0; i < header.scan_components; ++i) {
    const int component = header.scan[i].component;
    const uint8_t number = header.components[component].quant_table;
    if (number > 3) continue;
    for (int k = 0; k < kGuessed; ++k) {
      quant_[component][k] = header.quant[number].values[kNaturalOrder[k]];
    }
  }
}

bool ProgressiveScans::needs_smoothing() const {
  bool useful = false;
  for (int i = 0; i < geometry_.components; ++i) {
    if (std::find(quant_[i], quant_[i] + kGuessed, 0) != quant_[i] + kGuessed) return false;
    useful = useful || progression_.leaves_guesses(i);
  }
  return useful;
}

Result ProgressiveScans::read_all(size_t size) {
  Result result = allocate(size);
  bool found = true;
  for (int scans = 1; result.ok() && found; ++scans) {
    if (scans > kMaxScans) return {Status::kDeclined, "more than 256 scans", 0};
    result = read_scan();
    size_t offset = 0;
    if (result.ok()) result = scan_.find_end(&offset);
    if (result.ok()) result = headers_.read_to_next_scan(offset, &found);
  }
  return result.ok() ? check_complete() : result;
}

Result ProgressiveScans::read_scan() {
  const Header& header = headers_.header();
  if (const char* const reason = progression_.add(header)) return corrupt(reason);
  if (header.band.first == 0 && header.band.high == 0) take_quantizers();
  scan_.start(headers_.position(), header.info.restart_interval);
  if (!is_wanted()) return {};
  return header.band.first == 0 ? read_dc_scan() : read_ac_scan();
}

bool ProgressiveScans::is_wanted() const {
  const Header& header = headers_.header();
  return std::any_of(header.scan, header.scan + header.scan_components,
                     [&](const ScanComponent& scan) {
                       const ComponentGeometry& component = geometry_.component[scan.component];
                       return component.wanted && (header.band.first == 0 || component.side > 1);
                     });
}

/// Appends the blocks that a unit has of a component.
Result ProgressiveScans::plan_component(const ScanComponent& scan, McuPlan* plan) {
  const Header& header = headers_.header();
  const DcTable* dc = nullptr;
  if (header.band.high == 0) {
    if (!state_.set_quant(header, scan.component, geometry_.component[scan.component].fast_idct)) {
      return corrupt("a scan without its quantization table");
    }
    const HuffmanSpec& spec = header.dc_huffman[scan.dc_table];
    if (spec.bytes == nullptr) return {Status::kDeclined, kNoHuffmanTables, 0};
    dc = state_.dc_tables[scan.dc_table].get(spec);
    if (dc == nullptr) return corrupt("an invalid Huffman table");
  }
  const ComponentGeometry& component = geometry_.component[scan.component];
  const BlockArray& array = arrays_[scan.component];
  const bool interleaved = header.scan_components > 1;
  const int h = interleaved ? component.h : 1;
  const int v = interleaved ? component.v : 1;
  if (plan->blocks + h * v > kMaxBlocksPerMcu) {
    return corrupt("a scan with more than ten blocks in a unit");
  }
  for (int y = 0; y < v; ++y) {
    for (int x = 0; x < h; ++x) {
      const auto first = static_cast<int>(array.first + y * array.columns + x);
      plan->block[plan->blocks++] = {dc, nullptr,          scan.component, first,
                                     h,  component.wanted, false};
    }
  }
  return {};
}

Result ProgressiveScans::read_dc_scan() {
  const Header& header = headers_.header();
  McuPlan plan;
  for (int i = 0; i < header.scan_components; ++i) {
    const Result result = plan_component(header.scan[i], &plan);
    if (!result.ok()) return result;
  }
  const bool interleaved = header.scan_components > 1;
  const ScanGrid grid = interleaved ? geometry_.grid : block_grid(header.scan[0].component);
  const int rows = interleaved ? mcu_rows_ : grid.row1;
  const int low = header.band.low;
  const auto first = [&](ScanReader* reader, ScanData::Carry* carry, int begin, int end) {
    return kernels_.decode_dc_first(reader, plan, carry->predictions, begin, end, blocks_, low);
  };
  const auto refinement = [&](ScanReader* reader, ScanData::Carry*, int begin, int end) {
    return kernels_.decode_dc_refinement(reader, plan, begin, end, blocks_, low);
  };
  for (int row = 0; row < rows; ++row) {
    const Result result = header.band.high == 0 ? scan_.read(grid.columns, first)
                                                : scan_.read(grid.columns, refinement);
    if (!result.ok()) return result;
    for (int i = 0; i < plan.blocks; ++i) {
      BlockPlan& block = plan.block[i];
      const int height = interleaved ? geometry_.component[block.component].v : 1;
      block.first += static_cast<int>(height * arrays_[block.component].columns);
    }
  }
  return {};
}

Result ProgressiveScans::read_ac_scan() {
  const Header& header = headers_.header();
  const ScanComponent& part = header.scan[0];
  const HuffmanSpec& spec = header.ac_huffman[part.ac_table];
  if (spec.bytes == nullptr) return {Status::kDeclined, kNoHuffmanTables, 0};
  const BandScan scan{state_.band_tables[part.ac_table].get(spec), header.band};
  if (scan.table == nullptr) return corrupt("an invalid Huffman table");
  const auto decode =
      header.band.high == 0 ? kernels_.decode_ac_first : kernels_.decode_ac_refinement;
  const ScanGrid grid = block_grid(part.component);
  for (int row = 0; row < grid.row1; ++row) {
    const Blocks blocks = this->row(part.component, row, 0);
    const Result result = scan_.read(
        grid.columns, [&](ScanReader* reader, ScanData::Carry* carry, int begin, int end) {
          return decode(reader, scan, &carry->run, begin, end, blocks);
        });
    if (!result.ok()) return result;
  }
  return {};
}

Result ProgressiveScans::check_complete() const {
  for (int i = 0; i < geometry_.components; ++i) {
    if (!progression_.has_begun(i)) {
      return {Status::kCorrupt, kMissingComponents, headers_.position() - 2};
    }
  }
  return {};
}

}  // namespace daliesque::jpeg
