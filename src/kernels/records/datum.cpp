// SPDX-License-Identifier: Apache-2.0
#include "records/datum.h"

#include <cmath>
#include <limits>

#include "records/record_values.h"

namespace daliesque::records {

namespace {

using protobuf::Cursor;
using protobuf::Fields;
using protobuf::Wire;

constexpr RecordError kFine{0, RecordFault::none, 0, 0};

RecordError fail(RecordFault fault, size_t part, int64_t value = 0) {
  return {0, fault, static_cast<int64_t>(part), value};
}

/// Makes an image of bytes; false if their number is wrong.
bool set_image(RecordValue& image, Cursor data, int64_t height, int64_t width, int64_t channels) {
  constexpr int64_t kMost = int64_t{1} << 20;
  for (const int64_t extent : {height, width, channels}) {
    if (extent < 0 || extent > kMost) return false;
  }
  if (height * width * channels != static_cast<int64_t>(data.size())) return false;
  image.part = data;
  image.ndim = 3;
  image.shape = {height, width, channels};
  return true;
}

RecordError parse_datum(Cursor record, bool wants_image, bool wants_label, RecordValue* values) {
  int64_t channels = 0, height = 0, width = 0;
  Cursor data;
  int32_t label = 0;
  bool has_label = false, raw = false;
  for (Fields field(record); field.next();) {
    if (field.is(1, Wire::varint)) {
      channels = static_cast<int32_t>(field.varint());
    } else if (field.is(2, Wire::varint)) {
      height = static_cast<int32_t>(field.varint());
    } else if (field.is(3, Wire::varint)) {
      width = static_cast<int32_t>(field.varint());
    } else if (field.is(4, Wire::bytes)) {
      data = field.bytes();
    } else if (field.is(5, Wire::varint)) {
      label = static_cast<int32_t>(field.varint());
      has_label = true;
    } else if (field.is(7, Wire::varint)) {
      raw = field.varint() == 0;
    }
  }
  if (wants_image) {
    RecordValue& image = *values++;
    if (!raw) {
      image.set_part(DType::uint8, data);
    } else if (!set_image(image, data, height, width, channels)) {
      return fail(RecordFault::wrong_size, 0, static_cast<int64_t>(data.size()));
    }
  }
  if (wants_label) {
    values->set_values(DType::int32, std::vector<int32_t>(has_label ? 1 : 0, label));
  }
  return kFine;
}

// The numbers of TensorProto.DataType.
constexpr uint64_t kFloat = 1, kInt32 = 2, kByte = 3, kString = 4, kInt64 = 10;

/// A TensorProto message.
struct Tensor {
  uint64_t type = kFloat;
  std::vector<int64_t> dims;
  std::vector<float> floats;
  std::vector<int32_t> integers;
  std::vector<int64_t> long_integers;
  Cursor bytes, text;
  bool has_text = false;

  explicit Tensor(Cursor message) {
    for (Fields field(message); field.next();) {
      switch (field.number()) {
        case 1:
          read_integers(field, dims);
          break;
        case 2:
          if (field.is(2, Wire::varint)) type = field.varint();
          break;
        case 3:
          read_floats(field);
          break;
        case 4:
          read_integers(field, integers);
          break;
        case 5:
          if (field.is(5, Wire::bytes)) bytes = field.bytes();
          break;
        case 6:
          if (field.is(6, Wire::bytes) && !has_text) {
            text = field.bytes();
            has_text = true;
          }
          break;
        case 10:
          read_integers(field, long_integers);
          break;
        default:
          break;
      }
    }
  }

 private:
  template <class T>
  static void read_integers(Fields& field, std::vector<T>& out) {
    if (field.is(field.number(), Wire::varint)) {
      out.push_back(static_cast<T>(field.varint()));
    } else if (field.is(field.number(), Wire::bytes)) {
      for (Cursor packed = field.bytes(); !packed.done();) {
        out.push_back(static_cast<T>(packed.varint()));
      }
    }
  }

  void read_floats(Fields& field) {
    if (field.is(3, Wire::fixed32)) {
      floats.push_back(field.fixed_float());
    } else if (field.is(3, Wire::bytes)) {
      for (Cursor packed = field.bytes(); !packed.done();) floats.push_back(packed.fixed_float());
    }
  }
};

/// Copies the numbers of a tensor; false if it has none.
bool set_numbers(RecordValue& value, const Tensor& tensor) {
  if (tensor.type == kFloat) {
    value.set_values(DType::float32, tensor.floats);
  } else if (tensor.type == kInt32) {
    value.set_values(DType::int32, tensor.integers);
  } else if (tensor.type == kInt64) {
    value.set_values(DType::int64, tensor.long_integers);
  } else {
    return false;
  }
  return true;
}

/// Takes the tensors of a record one after the other.
class Tensors {
 public:
  Tensors(Cursor record, const TensorLayout& layout, RecordValue* values)
      : layout_(layout), values_(values) {
    for (Fields field(record); field.next();) {
      if (field.is(1, Wire::bytes)) messages_.push_back(field.bytes());
    }
  }

  RecordError parse() {
    const int64_t extra = layout_.label_type == LabelType::weighted_sparse ? 1 : 0;
    const int64_t wanted = layout_.image + (layout_.label_type != LabelType::none) + extra +
                           layout_.additional + layout_.box;
    if (static_cast<int64_t>(messages_.size()) < wanted) {
      return fail(RecordFault::missing_tensor, messages_.size(), wanted);
    }
    RecordError error = kFine;
    if (layout_.image) error = parse_image();
    if (error.fault == RecordFault::none && layout_.label_type != LabelType::none) {
      error = parse_label();
    }
    for (int64_t k = 0; k < layout_.additional && error.fault == RecordFault::none; k++) {
      const Tensor tensor = take();
      if (!set_numbers(*values_++, tensor)) error = fail(RecordFault::wrong_type, taken_ - 1);
    }
    if (error.fault == RecordFault::none && layout_.box) error = parse_box();
    return error;
  }

 private:
  Tensor take() { return Tensor(messages_[taken_++]); }

  RecordError parse_image() {
    const Tensor tensor = take();
    RecordValue& image = *values_++;
    if (tensor.type == kString && tensor.has_text) {
      image.set_part(DType::uint8, tensor.text);
      return kFine;
    }
    if (tensor.type != kByte) return fail(RecordFault::wrong_type, 0);
    const auto& dims = tensor.dims;
    const bool flat = dims.size() == 2;
    if ((flat || dims.size() == 3) &&
        set_image(image, tensor.bytes, dims[0], dims[1], flat ? 1 : dims[2])) {
      return kFine;
    }
    return fail(RecordFault::wrong_size, 0, static_cast<int64_t>(tensor.bytes.size()));
  }

  RecordError parse_label() {
    const size_t part = taken_;
    const Tensor tensor = take();
    RecordValue& label = *values_++;
    if (tensor.type != kFloat && tensor.type != kInt32) return fail(RecordFault::wrong_type, part);
    const size_t count = tensor.type == kFloat ? tensor.floats.size() : tensor.integers.size();
    if (layout_.label_type == LabelType::dense || layout_.label_type == LabelType::single) {
      set_numbers(label, tensor);
      const bool fits = layout_.label_type == LabelType::dense || count == 1;
      return fits ? kFine : fail(RecordFault::wrong_size, part, static_cast<int64_t>(count));
    }
    std::vector<float> weights(count, 1.0f);
    const bool weighted = layout_.label_type == LabelType::weighted_sparse;
    if (weighted) {
      const Tensor given = take();
      if (given.type != kFloat) return fail(RecordFault::wrong_type, part + 1);
      if (given.floats.size() < count) {
        return fail(RecordFault::wrong_size, part + 1, static_cast<int64_t>(given.floats.size()));
      }
      weights = given.floats;
    }
    std::vector<float> spread(static_cast<size_t>(layout_.num_labels));
    for (size_t k = 0; k < count; k++) {
      const double index = tensor.type == kFloat ? tensor.floats[k] : tensor.integers[k];
      if (!(index > -1 && index < static_cast<double>(layout_.num_labels))) {
        const bool shown = std::abs(index) < 1e15;
        return fail(RecordFault::bad_label, part, shown ? static_cast<int64_t>(index) : -1);
      }
      spread[static_cast<size_t>(index)] = weights[k];
    }
    if (weighted || tensor.type == kFloat) {
      label.set_values(DType::float32, spread);
    } else {
      label.set_values(DType::int32, std::vector<int32_t>(spread.begin(), spread.end()));
    }
    return kFine;
  }

  RecordError parse_box() {
    const size_t part = taken_;
    const Tensor tensor = take();
    if (tensor.type != kInt32) return fail(RecordFault::wrong_type, part);
    set_numbers(*values_++, tensor);
    const size_t count = tensor.integers.size();
    if (count != 4) return fail(RecordFault::wrong_size, part, static_cast<int64_t>(count));
    return kFine;
  }

  const TensorLayout& layout_;
  RecordValue* values_;
  std::vector<Cursor> messages_;
  size_t taken_ = 0;
};

}  // namespace

std::vector<Samples> parse_datums(const Samples& records, bool image, bool label,
                                  std::vector<RecordError>& errors) {
  const size_t outputs = (image ? 1 : 0) + (label ? 1 : 0);
  return parse_records(
      records, outputs,
      [=](Cursor record, RecordValue* values) { return parse_datum(record, image, label, values); },
      errors);
}

std::vector<Samples> parse_tensors(const Samples& records, const TensorLayout& layout,
                                   std::vector<RecordError>& errors) {
  const bool label = layout.label_type != LabelType::none;
  const auto outputs = static_cast<size_t>(layout.additional) + layout.image + label + layout.box;
  return parse_records(
      records, outputs,
      [&](Cursor record, RecordValue* values) { return Tensors(record, layout, values).parse(); },
      errors);
}

}  // namespace daliesque::records
