// SPDX-License-Identifier: Apache-2.0
// Samples: the form in which every kernel sees a batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/memory.h"

namespace daliesque {

using Shape = std::span<const int64_t>;

/// The number of elements of a shape; throws UsageError if it is negative somewhere or
/// the bytes would not fit into 64 bits.
int64_t volume(Shape shape);

/// N arrays of one element type and number of dimensions; shapes may differ. Copying a Samples
/// shares the data. The buffers stay alive as long as any Samples or exported view refers to them.
class Samples {
 public:
  Samples() = default;

  /// Uninitialized memory for samples of the given shapes, packed back to back in one buffer.
  /// `shapes` holds count * ndim extents.
  static Samples empty(DType dtype, int ndim, std::vector<int64_t> shapes, std::string layout,
                       int64_t count);
  /// The same without memory: what samples are going to be like. All data() are null.
  static Samples outline(DType dtype, int ndim, std::vector<int64_t> shapes, std::string layout,
                         int64_t count);
  static Samples outline_like(const Samples& other);
  static Samples outline_like(const Samples& other, DType dtype);
  /// Gives an outline uninitialized memory, one buffer for all samples.
  void materialize();
  static Samples empty_like(const Samples& other);
  static Samples empty_like(const Samples& other, DType dtype);

  /// A single sample over existing memory; `strides` in bytes, empty if C-contiguous.
  static Samples wrap(DType dtype, std::vector<int64_t> shape, std::vector<int64_t> strides,
                      void* data, Buffer owner, bool readonly, bool external);

  /// Contiguous samples in memory that `owner` keeps alive and nobody else changes; if somebody
  /// else reads it, `readonly`.
  static Samples view(DType dtype, int ndim, std::vector<int64_t> shapes, std::vector<void*> data,
                      Buffer owner, bool readonly);

  /// The samples of several Samples, without copying. All must agree in dtype and ndim.
  static Samples join(const std::vector<const Samples*>& parts);
  /// Sample at[i] of parts[which[i]] for each i, likewise. Throws std::out_of_range for samples
  /// that do not exist.
  static Samples pick(const std::vector<const Samples*>& parts, std::span<const int64_t> which,
                      std::span<const int64_t> at);

  int64_t size() const { return static_cast<int64_t>(data_.size()); }
  DType dtype() const { return dtype_; }
  int ndim() const { return ndim_; }
  const std::string& layout() const { return layout_; }
  void set_layout(std::string layout) { layout_ = std::move(layout); }

  Shape shape(int64_t i) const { return {shapes_.data() + i * ndim_, static_cast<size_t>(ndim_)}; }
  int64_t volume(int64_t i) const;
  int64_t total_volume() const;
  size_t itemsize() const { return dtype_size(dtype_); }

  void* data(int64_t i) const { return data_[static_cast<size_t>(i)]; }
  template <class T>
  T* data(int64_t i) const {
    return static_cast<T*>(data_[static_cast<size_t>(i)]);
  }
  /// Byte strides of sample i (C order if the sample is contiguous).
  std::vector<int64_t> strides(int64_t i) const;

  bool contiguous() const { return strides_.empty(); }
  /// All samples have the same shape.
  bool uniform() const;
  /// The samples follow each other without gaps in one buffer, so that together they are one array.
  bool packed() const { return packed_; }
  bool readonly() const { return readonly_; }
  /// The memory is external: its owner may change it at any time.
  bool external() const { return external_; }
  void set_external(bool external) { external_ = external; }
  const Buffer& owner(int64_t i) const {
    return owners_[owners_.size() == 1 ? 0 : static_cast<size_t>(i)];
  }

  /// The chosen samples, sharing memory.
  Samples select(std::span<const int64_t> indices) const;
  /// The same data as N' samples: each sample's outermost axis becomes the sample axis.
  Samples unfold() const;
  /// Inverse of unfold: joins counts[j] consecutive samples, which must be packed, into sample j.
  Samples fold(std::span<const int64_t> counts, const std::string& layout) const;
  /// The same packed data with other shapes of equal volume.
  Samples reshape(int ndim, std::vector<int64_t> shapes, std::string layout) const;
  /// The same under another type; the number of bytes of each sample must stay.
  Samples reshape(DType dtype, int ndim, std::vector<int64_t> shapes, std::string layout) const;
  /// One sample holding all N (which must be uniform and packed) as its outermost axis.
  Samples stack_view() const;
  /// The same bits under another type of the same size (e.g. int32 as an enum type).
  Samples reinterpret(DType dtype) const;
  /// Part of an axis: `extent` elements from `start` on, `step` apart.
  struct Range {
    int64_t start, extent, step;
  };
  /// A strided view. `ranges` holds size() * ndim() entries; the axes marked in `dropped` (which
  /// need an extent of 1) vanish.
  Samples slice(const std::vector<Range>& ranges, const std::vector<bool>& dropped,
                std::string layout) const;

 private:
  DType dtype_ = DType::uint8;
  int ndim_ = 0;
  bool packed_ = false, readonly_ = false, external_ = false;
  std::string layout_;
  std::vector<int64_t> shapes_;
  std::vector<int64_t> strides_;  // bytes; empty if every sample is C-contiguous
  std::vector<void*> data_;
  std::vector<Buffer> owners_;  // one for all, or one each
};

/// Copies `in` into `out`, which has the same shapes and is contiguous.
void copy(Samples& out, const Samples& in);

/// A C-contiguous copy in one buffer.
Samples clone(const Samples& in);

/// Copies each sample into the top-left corner of a sample of `out`, filling the rest with zeros.
void copy_padded(Samples& out, const Samples& in);

}  // namespace daliesque
