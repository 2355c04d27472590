// SPDX-License-Identifier: Apache-2.0
// Decoding of one image, and what a decoder keeps from image to image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "jpeg_geometry.h"
#include "jpeg_header.h"
#include "jpeg_huffman.h"
#include "jpeg_rows.h"

namespace daliesque::jpeg {

/// MCUs whose coefficients are kept at a time; few enough for the first-level cache.
constexpr int kRunMcus = 8;

/// Memory that only grows, aligned for vector loads.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { release(); }

  /// At least `bytes`, contents unspecified; null if there is no memory.
  uint8_t* reserve(size_t bytes) {
    if (bytes > size_) {
      release();
      data_ = static_cast<uint8_t*>(::operator new(bytes, kAlignment, std::nothrow));
      size_ = data_ != nullptr ? bytes : 0;
    }
    return data_;
  }

  void release() {
    ::operator delete(data_, kAlignment);
    data_ = nullptr;
    size_ = 0;
  }

  size_t size() const { return size_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

/// A look-up table and the stored form it was built from.
template <class Table, bool (*build)(const HuffmanSpec&, Table*)>
class CachedTable {
 public:
  /// Null if the stored form is invalid.
  Table* get(const HuffmanSpec& spec) {
    const size_t size = 16 + static_cast<size_t>(spec.symbols);
    if (symbols_ != spec.symbols || std::memcmp(bytes_, spec.bytes, size) != 0) {
      valid_ = build(spec, &table_);
      symbols_ = spec.symbols;
      std::memcpy(bytes_, spec.bytes, size);
    }
    return valid_ ? &table_ : nullptr;
  }

 private:
  uint8_t bytes_[16 + 256];
  int symbols_ = -1;
  bool valid_ = false;
  Table table_;
};

struct DecoderState {
  ScanReader reader;
  CachedTable<DcTable, build_dc_table> dc_tables[4];
  CachedTable<AcTable, build_ac_table> ac_tables[4];
  alignas(32) int16_t coefficients[kRunMcus * kMaxBlocksPerMcu * kBlockSize];
  alignas(32) uint16_t quant[kMaxDecoded][kBlockSize];
  uint8_t last[kRunMcus * kMaxBlocksPerMcu];
  Scratch planes;
  Scratch rows;
  RowWriter writer;
};

class Image {
 public:
  Image(DecoderState* state, const uint8_t* data, size_t size, const DecodeOptions& options)
      : state_(*state), data_(data), size_(size), options_(options), headers_(data, size) {}

  Result decode(uint8_t* out, ptrdiff_t row_stride);

 private:
  /// What a scan holds of one component.
  struct ScanPart {
    int component = 0;
    int h = 1;  ///< blocks in a unit
    int v = 1;
    int first = 0;  ///< index of its first block in the coefficients of a run
  };

  Result check_size() const;
  Result allocate(bool whole_planes, uint8_t* out, ptrdiff_t row_stride);
  Result decode_scans_apart();
  Result plan_scan();
  Result plan_tables(int index);
  Result decode_scan(bool streaming);
  Result decode_units(int count, bool wanted);
  Result decode_row(int row);
  Result restart();
  void transform_run(int row, int column, int count);
  void finish_band(int row);
  Result find_scan_end(size_t* offset) const;
  Result entropy_failure(EntropyError error) const;
  Result corrupt(const char* what, const uint8_t* where) const;

  DecoderState& state_;
  const uint8_t* const data_;
  const size_t size_;
  const DecodeOptions& options_;
  const Kernels& kernels_ = kernels();
  HeaderReader headers_;
  Geometry geometry_;

  // The current scan, in units: MCUs, or blocks if it has a single component.
  ScanGrid grid_;
  ScanPart parts_[kMaxDecoded];
  int part_count_ = 0;
  McuPlan plan_;
  int32_t predictions_[kMaxDecoded] = {};
  int restart_interval_ = 0;
  int until_restart_ = 0;
  int next_restart_ = 0;
};

}  // namespace daliesque::jpeg
