// SPDX-License-Identifier: Apache-2.0
#include "core/arrow_export.h"

#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "core/errors.h"

namespace daliesque::arrow {

namespace {

/// An array that is released unless somebody takes it over.
class OwnedArray {
 public:
  explicit OwnedArray(Array array) : array_(array) {}
  ~OwnedArray() {
    if (array_.release != nullptr) array_.release(&array_);
  }
  OwnedArray(OwnedArray&& other) noexcept : array_(other.take()) {}

  Array* get() { return &array_; }
  Array take() { return std::exchange(array_, Array{}); }

 private:
  Array array_;
};

/// What the consumer of an array holds on to. A consumer may take children out, which marks them
/// as released.
struct ExportedArray {
  std::vector<Buffer> owners;
  std::vector<const void*> buffers;
  std::vector<OwnedArray> children;
  std::vector<Array*> pointers;
};

void release_array(Array* array) {
  delete static_cast<ExportedArray*>(array->private_data);
  array->release = nullptr;
}

/// An array without missing values; `buffers` are those after the validity bitmap.
template <class... Children>
OwnedArray make_array(int64_t length, std::vector<Buffer> buffers, Children... children) {
  auto held = std::make_unique<ExportedArray>();
  held->buffers.push_back(nullptr);
  for (const Buffer& buffer : buffers) held->buffers.push_back(buffer.get());
  held->owners = std::move(buffers);
  held->children.reserve(sizeof...(children));
  (held->children.push_back(std::move(children)), ...);
  for (OwnedArray& child : held->children) held->pointers.push_back(child.get());
  Array out{};
  out.length = length;
  out.n_buffers = static_cast<int64_t>(held->buffers.size());
  out.buffers = held->buffers.data();
  out.n_children = static_cast<int64_t>(held->pointers.size());
  out.children = held->pointers.empty() ? nullptr : held->pointers.data();
  out.release = release_array;
  out.private_data = held.release();
  return OwnedArray(out);
}

/// All elements of packed samples, one after the other.
Buffer elements(const Samples& samples) {
  if (samples.size() == 0 || samples.data(0) == nullptr) return allocate(0);
  return {samples.owner(0), samples.data(0)};
}

Buffer packed_bits(const Samples& samples) {
  const auto count = static_cast<size_t>(samples.total_volume());
  const size_t bytes = (count + 7) / 8;
  Buffer bits = allocate(bytes);
  auto* out = static_cast<uint8_t*>(bits.get());
  std::memset(out, 0, bytes);
  const Buffer values = elements(samples);
  const auto* in = static_cast<const uint8_t*>(values.get());
  for (size_t i = 0; i < count; i++) {
    out[i / 8] = static_cast<uint8_t>(out[i / 8] | (in[i] != 0) << i % 8);
  }
  return bits;
}

OwnedArray values_of(const Samples& samples) {
  Buffer values = samples.dtype() == DType::boolean ? packed_bits(samples) : elements(samples);
  return make_array(samples.total_volume(), {std::move(values)});
}

/// Where each sample begins among all elements, and where the last one ends.
template <class Offset>
Buffer offsets_of(const Samples& samples) {
  if (samples.total_volume() > std::numeric_limits<Offset>::max()) {
    throw UsageError("the batch has more elements than an Arrow list can count");
  }
  Buffer buffer = allocate(static_cast<size_t>(samples.size() + 1) * sizeof(Offset));
  auto* out = static_cast<Offset*>(buffer.get());
  Offset end = 0;
  *out++ = end;
  for (int64_t i = 0; i < samples.size(); i++) {
    end = static_cast<Offset>(end + samples.volume(i));
    *out++ = end;
  }
  return buffer;
}

OwnedArray lists_of(const Samples& samples, bool large) {
  Buffer offsets = large ? offsets_of<int64_t>(samples) : offsets_of<int32_t>(samples);
  return make_array(samples.size(), {std::move(offsets)}, values_of(samples));
}

OwnedArray shapes_of_rows(const Samples& samples) {
  const int64_t count = samples.size() * samples.ndim();
  Buffer extents = allocate(static_cast<size_t>(count) * sizeof(int32_t));
  auto* out = static_cast<int32_t*>(extents.get());
  for (int64_t i = 0; i < samples.size(); i++) {
    for (int64_t extent : samples.shape(i)) {
      if (extent > std::numeric_limits<int32_t>::max()) {
        throw UsageError("an extent of " + std::to_string(extent) +
                         " does not fit into an Arrow "
                         "tensor");
      }
      *out++ = static_cast<int32_t>(extent);
    }
  }
  return make_array(samples.size(), {}, make_array(count, {std::move(extents)}));
}

OwnedArray make_column(const Samples& samples, Form form) {
  switch (form) {
    case Form::numbers:
      return values_of(samples);
    case Form::fixed_lists:
      return make_array(samples.size(), {}, values_of(samples));
    case Form::lists:
    case Form::large_lists:
      return lists_of(samples, form == Form::large_lists);
    case Form::bytes:
      return make_array(samples.size(), {offsets_of<int32_t>(samples), elements(samples)});
    case Form::large_bytes:
      return make_array(samples.size(), {offsets_of<int64_t>(samples), elements(samples)});
    default:
      return make_array(samples.size(), {}, lists_of(samples, form == Form::large_tensors),
                        shapes_of_rows(samples));
  }
}

}  // namespace

void export_samples(const Samples& samples, Form form, Array* out) {
  if (samples.size() > 0 && !samples.packed()) {
    throw std::invalid_argument("only packed samples can be exported");
  }
  if (form == Form::fixed_lists && !samples.uniform()) {
    throw std::invalid_argument("the samples differ in shape");
  }
  if (form == Form::numbers && samples.ndim() > 0) {
    throw std::invalid_argument("samples with axes are no plain values");
  }
  if ((form == Form::bytes || form == Form::large_bytes) && samples.itemsize() != 1) {
    throw std::invalid_argument("only bytes are binary values");
  }
  *out = make_column(samples, form).take();
}

}  // namespace daliesque::arrow
