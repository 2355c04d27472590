// SPDX-License-Identifier: Apache-2.0
#include "core/arrow_import.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/errors.h"

namespace daliesque::arrow {

namespace {

/// Values of up to that many bytes lie in the views that refer to all others.
constexpr int32_t kInlineBytes = 12;

/// Consecutive elements of an array, counted from the beginning of its buffers.
struct Range {
  int64_t begin, count;
};

UsageError damaged(const std::string& reason) {
  return UsageError("the Arrow array contradicts itself: " + reason);
}

bool bit_at(const void* bits, int64_t index) {
  return (static_cast<const uint8_t*>(bits)[index / 8] >> index % 8 & 1) != 0;
}

/// Whether values are missing among some elements of an array.
bool any_missing(const Array& array, Range range) {
  if (array.null_count == 0 || array.n_buffers == 0 || array.buffers[0] == nullptr) return false;
  for (int64_t i = range.begin; i < range.begin + range.count; i++) {
    if (!bit_at(array.buffers[0], i)) return true;
  }
  return false;
}

/// The number at the end of a format such as "+w:3".
int64_t number_in(const std::string& format) {
  const size_t begin = format.find(':') + 1;
  int64_t number = -1;
  const char* end = format.data() + format.size();
  const auto [stop, fault] = std::from_chars(format.data() + begin, end, number);
  if (fault != std::errc() || stop != end || number < 0) {
    throw UsageError("the Arrow type '" + format + "' is not known");
  }
  return number;
}

/// A list or binary type: how long its elements are, and what they consist of.
class Level {
 public:
  Level(const Array& array, const std::string& format) : array_(&array) {
    if (format.starts_with("+w:") || format.starts_with("w:")) {
      kind_ = Kind::fixed;
      extent_ = number_in(format);
    } else if (format == "+l" || format == "z" || format == "u") {
      kind_ = Kind::offsets32;
    } else if (format == "+L" || format == "Z" || format == "U") {
      kind_ = Kind::offsets64;
    } else if (format == "+vl") {
      kind_ = Kind::views32;
    } else if (format == "+vL") {
      kind_ = Kind::views64;
    } else {
      throw std::invalid_argument("no list: " + format);
    }
  }

  /// The elements that some lists consist of together, and the length of each of these lists.
  std::pair<Range, int64_t> inside(Range lists) const {
    if (lists.count == 0) return {{0, 0}, kind_ == Kind::fixed ? extent_ : 0};
    if (kind_ == Kind::fixed) {
      const Range found{lists.begin * extent_, lists.count * extent_};
      if (array_->n_children == 1) require(found);
      return {found, extent_};
    }
    const Range first = list(lists.begin);
    for (int64_t i = 1; i < lists.count; i++) {
      const Range other = list(lists.begin + i);
      if (other.count != first.count) throw UsageError("lists inside of a row differ in length");
      if (other.count > 0 && other.begin != first.begin + i * first.count) {
        throw UsageError("lists inside of a row do not lie one after the other");
      }
    }
    return {{first.begin, lists.count * first.count}, first.count};
  }

 private:
  enum class Kind { fixed, offsets32, offsets64, views32, views64 };

  template <class Offset>
  Range between(int64_t index) const {
    const auto* offsets = static_cast<const Offset*>(array_->buffers[1]);
    // A list of no elements needs no offsets.
    if (offsets == nullptr) return {0, 0};
    return {offsets[index], offsets[index + 1] - offsets[index]};
  }

  template <class Offset>
  Range view(int64_t index) const {
    return {static_cast<const Offset*>(array_->buffers[1])[index],
            static_cast<const Offset*>(array_->buffers[2])[index]};
  }

  Range list(int64_t index) const {
    const Range found = kind_ == Kind::offsets32   ? between<int32_t>(index)
                        : kind_ == Kind::offsets64 ? between<int64_t>(index)
                        : kind_ == Kind::views32   ? view<int32_t>(index)
                                                   : view<int64_t>(index);
    if (found.begin < 0 || found.count < 0) throw damaged("a list has a negative length or offset");
    if (array_->n_children == 1) require(found);
    return found;
  }

  void require(Range elements) const {
    if (elements.count > array_->children[0]->length - elements.begin) {
      throw damaged("a list ends after its elements");
    }
  }

  const Array* array_;
  Kind kind_;
  int64_t extent_ = 0;
};

bool is_list(const std::string& format) { return format.starts_with('+'); }

bool is_bytes(const std::string& format) {
  return format == "z" || format == "Z" || format == "u" || format == "U" ||
         format.starts_with("w:");
}

bool is_view(const std::string& format) { return format == "vz" || format == "vu"; }

/// A nested type, from a column's rows down to the values.
class Levels {
 public:
  Levels(const Array* array, const std::vector<std::string>& formats) {
    for (const std::string& format : formats) {
      if (array == nullptr) throw damaged("an array of lists has no elements");
      arrays_.push_back(array);
      if (is_list(format) || is_bytes(format)) levels_.emplace_back(*array, format);
      if (!is_list(format)) break;
      array = array->n_children == 1 ? array->children[0] : nullptr;
    }
    const std::string& last = formats.back();
    // Binary values are lists of bytes, which lie in the last buffer of the same array.
    const auto& leaf = *arrays_.back();
    const bool separate = is_bytes(last) && !last.starts_with("w:");
    if (leaf.n_buffers < (separate ? 3 : 2)) throw damaged("an array has too few buffers");
    values_ = leaf.buffers[separate ? 2 : 1];
  }

  int ndim() const { return static_cast<int>(levels_.size()); }
  const void* values() const { return values_; }

  /// The values of a row; appends its extents to `shapes`.
  Range row(int64_t index, std::vector<int64_t>& shapes) const {
    Range range{index, 1};
    for (size_t k = 0; k < levels_.size(); k++) {
      const auto [inner, extent] = levels_[k].inside(range);
      shapes.push_back(extent);
      range = {inner.begin + (k + 1 < arrays_.size() ? arrays_[k + 1]->offset : 0), inner.count};
    }
    return range;
  }

  bool has_missing(int64_t index) const {
    Range range{index, 1};
    for (size_t k = 0; k < arrays_.size(); k++) {
      if (any_missing(*arrays_[k], range)) return true;
      if (k + 1 == arrays_.size()) break;
      // Lists that differ in length are an error elsewhere: here each is looked at by itself.
      int64_t begin = arrays_[k + 1]->length, end = 0;
      for (int64_t i = 0; i < range.count; i++) {
        const Range one = levels_[k].inside({range.begin + i, 1}).first;
        begin = std::min(begin, one.begin);
        end = std::max(end, one.begin + one.count);
      }
      range = {begin + arrays_[k + 1]->offset, std::max<int64_t>(0, end - begin)};
    }
    return false;
  }

  bool may_miss_values() const {
    for (const Array* array : arrays_) {
      if (array->null_count != 0 && array->n_buffers > 0 && array->buffers[0] != nullptr) {
        return true;
      }
    }
    return false;
  }

 private:
  std::vector<const Array*> arrays_;
  std::vector<Level> levels_;
  const void* values_ = nullptr;
};

/// Binary values that views refer to, in any of the buffers of an array.
class BinaryViews {
 public:
  explicit BinaryViews(const Array& array) : array_(&array) {
    // Validity, views, any number of buffers, and their lengths.
    if (array.n_buffers < 3) throw damaged("an array of views has too few buffers");
    count_ = array.n_buffers - 3;
    lengths_ = static_cast<const int64_t*>(array.buffers[array.n_buffers - 1]);
  }

  std::pair<const void*, int64_t> value(int64_t index) const {
    const auto* view = static_cast<const std::byte*>(array_->buffers[1]) + index * 16;
    int32_t length = 0, buffer = 0, offset = 0;
    std::memcpy(&length, view, 4);
    if (length < 0) throw damaged("a value has a negative length");
    if (length <= kInlineBytes) return {view + 4, length};
    std::memcpy(&buffer, view + 8, 4);
    std::memcpy(&offset, view + 12, 4);
    if (buffer < 0 || buffer >= count_ || offset < 0 ||
        int64_t{offset} + length > lengths_[buffer]) {
      throw damaged("a view leads out of its buffer");
    }
    return {static_cast<const std::byte*>(array_->buffers[2 + buffer]) + offset, length};
  }

 private:
  const Array* array_;
  int64_t count_;
  const int64_t* lengths_;
};

Samples unpacked_bits(int ndim, std::vector<int64_t> shapes, const void* bits,
                      const std::vector<int64_t>& begins) {
  const auto count = static_cast<int64_t>(begins.size());
  Samples out = Samples::empty(DType::boolean, ndim, std::move(shapes), "", count);
  for (int64_t i = 0; i < count; i++) {
    auto* values = out.data<uint8_t>(i);
    const int64_t volume = out.volume(i), begin = begins[static_cast<size_t>(i)];
    for (int64_t k = 0; k < volume; k++) values[k] = bit_at(bits, begin + k) ? 1 : 0;
  }
  return out;
}

}  // namespace

Column::Column(Buffer owner, const Array* array)
    : owner_(std::move(owner)), array_(array), offset_(array->offset), length_(array->length) {
  if (offset_ < 0 || length_ < 0) throw damaged("its length or offset is negative");
}

Column Column::field(size_t index) const {
  if (index >= static_cast<size_t>(array_->n_children)) throw damaged("a field is missing");
  Column out(owner_, array_->children[index]);
  if (offset_ + length_ > out.length_) throw damaged("a field has too few rows");
  out.offset_ += offset_;
  out.length_ = length_;
  return out;
}

Column Column::dictionary() const {
  if (array_->dictionary == nullptr) throw damaged("there is no dictionary");
  return {owner_, array_->dictionary};
}

int64_t Column::first_missing(const std::vector<std::string>& formats) const {
  if (is_view(formats.back()) || formats.front() == "+s") {
    for (int64_t i = 0; i < length_; i++) {
      if (any_missing(*array_, {offset_ + i, 1})) return i;
    }
    return -1;
  }
  const Levels levels(array_, formats);
  if (!levels.may_miss_values()) return -1;
  for (int64_t i = 0; i < length_; i++) {
    if (levels.has_missing(offset_ + i)) return i;
  }
  return -1;
}

Samples Column::samples(const std::vector<std::string>& formats, DType type) const {
  std::vector<int64_t> shapes;
  std::vector<void*> data;
  data.reserve(static_cast<size_t>(length_));
  auto add = [&](const void* value) { data.push_back(const_cast<void*>(value)); };
  if (is_view(formats.back())) {
    const BinaryViews views(*array_);
    for (int64_t i = 0; i < length_; i++) {
      const auto [value, length] = views.value(offset_ + i);
      shapes.push_back(length);
      add(value);
    }
    return Samples::view(DType::uint8, 1, std::move(shapes), std::move(data), owner_, true);
  }
  const Levels levels(array_, formats);
  const int ndim = levels.ndim();
  shapes.reserve(static_cast<size_t>(length_) * static_cast<size_t>(ndim));
  const auto itemsize = static_cast<int64_t>(dtype_size(type));
  const bool bits = formats.back() == "b";
  std::vector<int64_t> begins;
  for (int64_t i = 0; i < length_; i++) {
    const Range range = levels.row(offset_ + i, shapes);
    if (bits) {
      begins.push_back(range.begin);
    } else {
      add(static_cast<const std::byte*>(levels.values()) + range.begin * itemsize);
    }
  }
  if (bits) return unpacked_bits(ndim, std::move(shapes), levels.values(), begins);
  Samples out = Samples::view(type, ndim, std::move(shapes), std::move(data), owner_, true);
  const auto base = reinterpret_cast<intptr_t>(levels.values());
  return base % itemsize == 0 ? out : clone(out);
}

std::vector<int64_t> Column::integers(const std::string& format) const {
  if (array_->n_buffers < 2) throw damaged("an array has too few buffers");
  std::vector<int64_t> out(static_cast<size_t>(length_));
  auto read = [&]<class T>(T) {
    const auto* values = static_cast<const T*>(array_->buffers[1]) + offset_;
    for (size_t i = 0; i < out.size(); i++) out[i] = static_cast<int64_t>(values[i]);
  };
  switch (format.front()) {
    case 'c':
      read(int8_t{});
      break;
    case 'C':
      read(uint8_t{});
      break;
    case 's':
      read(int16_t{});
      break;
    case 'S':
      read(uint16_t{});
      break;
    case 'i':
      read(int32_t{});
      break;
    case 'I':
      read(uint32_t{});
      break;
    case 'l':
      read(int64_t{});
      break;
    case 'L':
      read(uint64_t{});
      break;
    default:
      throw std::invalid_argument("no integers: " + format);
  }
  return out;
}

}  // namespace daliesque::arrow
