// SPDX-License-Identifier: Apache-2.0
// What a decoder keeps from image to image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "jpeg/entropy.h"
#include "jpeg/geometry.h"
#include "jpeg/header.h"
#include "jpeg/huffman.h"
#include "jpeg/rows.h"

namespace daliesque::jpeg {

/// MCUs whose coefficients are kept at a time; few enough for the first-level cache.
constexpr int kRunMcus = 8;
constexpr int kRunBlocks = kRunMcus * kMaxBlocksPerMcu;

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

  /// Gives back what few images need.
  void release_beyond(size_t bytes) {
    if (size_ > bytes) release();
  }

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
  CachedTable<BandTable, build_band_table> band_tables[4];
  alignas(32) int16_t coefficients[kRunBlocks * kBlockSize];
  alignas(32) uint16_t quant[kMaxComponents][kBlockSize];
  uint8_t last[kRunBlocks];
  Scratch planes;
  Scratch rows;
  Scratch blocks;  ///< of a progressive image
  RowWriter writer;

  /// Takes the quantization table of a component that is in force. False if there is none.
  bool set_quant(const Header& header, int component, bool fast_idct);
};

}  // namespace daliesque::jpeg
