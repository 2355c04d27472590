// SPDX-License-Identifier: Apache-2.0
#include "image/augment.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/stream.h"
#include "image/byte_statistics.h"
#include "image/color.h"
#include "image/curves.h"
#include "image/filters.h"
#include "image/histogram.h"
#include "tensor/lookup.h"

namespace daliesque::image {

namespace {

/// What a step takes, roughly.
double nanoseconds_per_byte(Augmentation kind) {
  switch (kind) {
    case Augmentation::none:
      return 0;
    case Augmentation::move:
      return 0.6;
    case Augmentation::sharpness:
    case Augmentation::equalize:
      return 0.4;
    default:
      return 0.1;
  }
}

/// An image over memory that somebody else keeps alive, as a batch of one.
Samples image_at(void* data, Shape shape) {
  return Samples::wrap(DType::uint8, {shape.begin(), shape.end()}, {}, data, Buffer(), false,
                       false);
}

/// A value for the only sample.
PerSample<float> only(const float& value) { return {&value, 1, 1}; }

/// The image less, or for a negative strength more, of what a smoothing window leaves.
void sharpen(Samples& out, const Samples& in, float strength) {
  float window[9];
  for (int k = 0; k < 9; k++) {
    const float blur = (k == 4 ? 5.0f : 1.0f) / 13.0f, middle = k == 4 ? 1.0f : 0.0f;
    window[k] = -strength * blur + (1 + strength) * middle;
  }
  const Samples windows = Samples::wrap(DType::float32, {3, 3}, {}, window, Buffer(), true, false);
  const int32_t anchor[] = {1, 1};
  filter(out, in, {0, 2, true}, windows, {anchor, 1, 2}, Border::reflect_101, only(0.0f));
}

void change_saturation(Samples& out, const Samples& in, float saturation) {
  if (in.shape(0)[2] != 3) return copy(out, in);
  const float zero = 0, one = 1;
  color_twist(out, in, {only(zero), only(saturation), only(one), only(one), only(one)});
}

/// An image on its way through its steps. Steps that replace bytes by others are collected: all of
/// them together take one walk over the image.
class ImageSteps {
 public:
  ImageSteps(uint8_t* out, const uint8_t* in, Shape shape, const WarpOptions& moves, bool streamed)
      : out_(out),
        shape_(shape),
        pixels_(shape[0] * shape[1]),
        channels_(shape[2]),
        moves_(moves),
        streamed_(streamed),
        image_(in) {}

  void run(Augmentation kind, const float* parameters, const float* matrix, bool last) {
    switch (kind) {
      case Augmentation::none:
        break;
      case Augmentation::move:
      case Augmentation::color:
      case Augmentation::sharpness:
        change_pixels(kind, parameters, matrix, last);
        break;
      default:
        change_bytes(kind, parameters);
    }
    if (last && image_ != out_) apply_tables(out_);
  }

 private:
  using Tables = std::vector<tensor::ByteTable>;

  void change_pixels(Augmentation kind, const float* parameters, const float* matrix, bool last) {
    const Samples from = image_at(const_cast<uint8_t*>(current()), shape_);
    uint8_t* target = last ? out_ : other_buffer();
    Samples to = image_at(target, shape_);
    if (kind == Augmentation::move) {
      warp(to, from, AffineMapping({matrix, 1, 6}, 2), moves_);
    } else if (kind == Augmentation::color) {
      change_saturation(to, from, parameters[0]);
    } else {
      sharpen(to, from, parameters[0]);
    }
    image_ = target;
    counts_.clear();
  }

  void change_bytes(Augmentation kind, const float* parameters) {
    switch (kind) {
      case Augmentation::brightness:
        return add_table(brightness_table(parameters[0]));
      case Augmentation::contrast:
        return add_table(mean_contrast_table(sums(), pixels_, parameters[0]));
      case Augmentation::posterize:
        return add_table(curve_table(Curve::posterize, parameters));
      case Augmentation::solarize:
        return add_table(curve_table(Curve::solarize, parameters));
      case Augmentation::add_below:
        return add_table(curve_table(Curve::add_below, parameters));
      case Augmentation::invert:
        return add_table(curve_table(Curve::invert, parameters));
      default:
        break;
    }
    Tables tables;
    if (kind == Augmentation::equalize) {
      if (counts_.empty()) counts_ = count_bytes(image_, pixels_, channels_);
      for (const ByteCounts& own : counts()) tables.push_back(equalizing_table(own, pixels_));
    } else {
      for (ByteRange own : ranges()) tables.push_back(autocontrast_table(own));
    }
    add_tables(tables);
  }

  static tensor::ByteTable brightness_table(float factor) {
    tensor::ByteTable bytes, table;
    std::iota(bytes.begin(), bytes.end(), uint8_t{0});
    constexpr int64_t kShape[] = {256};
    const Samples from = image_at(bytes.data(), kShape);
    Samples to = image_at(table.data(), kShape);
    const float zero = 0, one = 1;
    brightness_contrast(to, from, {only(factor), only(zero), only(one), {}});
    return table;
  }

  void add_table(const tensor::ByteTable& table) {
    add_tables(Tables(static_cast<size_t>(channels_), table));
  }

  void add_tables(const Tables& next) {
    if (tables_.empty()) {
      tables_ = next;
      return;
    }
    for (size_t c = 0; c < next.size(); c++) {
      for (uint8_t& value : tables_[c]) value = next[c][value];
    }
  }

  /// Replaces the bytes as collected, or just copies them.
  void apply_tables(uint8_t* target) {
    const bool streamed = streamed_ && target == out_;
    if (tables_.empty()) {
      std::memcpy(target, image_, static_cast<size_t>(pixels_ * channels_));
    } else if (std::all_of(tables_.begin(), tables_.end(),
                           [&](const auto& table) { return table == tables_[0]; })) {
      tensor::look_up_bytes(target, image_, pixels_ * channels_, 1, tables_.data(), streamed);
    } else {
      tensor::look_up_bytes(target, image_, pixels_, channels_, tables_.data(), streamed);
    }
    if (streamed) stream_fence();
    image_ = target;
    tables_.clear();
    counts_.clear();
  }

  /// How often each byte occurs after what is collected, of an image whose bytes were counted.
  std::vector<ByteCounts> counts() const {
    if (tables_.empty()) return counts_;
    std::vector<ByteCounts> found(counts_.size());
    for (size_t c = 0; c < found.size(); c++) {
      for (size_t value = 0; value < 256; value++) found[c][tables_[c][value]] += counts_[c][value];
    }
    return found;
  }

  std::vector<int64_t> sums() {
    if (counts_.empty()) return sum_bytes(current(), pixels_, channels_);
    std::vector<int64_t> found;
    for (const ByteCounts& own : counts()) {
      int64_t sum = 0;
      for (int64_t value = 0; value < 256; value++) sum += value * own[static_cast<size_t>(value)];
      found.push_back(sum);
    }
    return found;
  }

  std::vector<ByteRange> ranges() {
    if (counts_.empty()) return find_ranges(current(), pixels_, channels_);
    std::vector<ByteRange> found;
    for (const ByteCounts& own : counts()) {
      const auto occurs = [](int32_t count) { return count > 0; };
      const auto lowest = std::find_if(own.begin(), own.end(), occurs) - own.begin();
      const auto highest = own.rend() - std::find_if(own.rbegin(), own.rend(), occurs) - 1;
      found.push_back({static_cast<uint8_t>(lowest), static_cast<uint8_t>(highest)});
    }
    return found;
  }

  /// The image as it is now. Without counts, a walk over it is faster than to count.
  const uint8_t* current() {
    if (tables_.empty()) return image_;
    for (size_t number : {0, 1}) {
      if (image_ == buffer(number)) {
        apply_tables(buffer(number));
        return image_;
      }
    }
    apply_tables(other_buffer());
    return image_;
  }

  uint8_t* buffer(size_t number) const { return static_cast<uint8_t*>(buffers_[number].get()); }

  /// A buffer in which the image is not.
  uint8_t* other_buffer() {
    const size_t number = image_ == buffer(0) ? 1 : 0;
    if (!buffers_[number]) buffers_[number] = allocate(static_cast<size_t>(pixels_ * channels_));
    return buffer(number);
  }

  uint8_t* out_;
  Shape shape_;
  int64_t pixels_, channels_;
  const WarpOptions& moves_;
  bool streamed_;
  const uint8_t* image_;            // without what is collected
  Tables tables_;                   // what is collected, for each channel
  std::vector<ByteCounts> counts_;  // of image_, if they are known
  Buffer buffers_[2];
};

}  // namespace

void augment(Samples& out, const Samples& in, const AugmentPlan& plan) {
  const bool streamed = exceeds_caches(out, in);
  const auto run = [&](int64_t i) {
    if (in.volume(i) == 0) return;
    const auto kind = [&](int64_t s) { return static_cast<Augmentation>(plan.kinds.row(i)[s]); };
    int64_t last = plan.steps - 1;
    while (last > 0 && kind(last) == Augmentation::none) last--;
    ImageSteps image(out.data<uint8_t>(i), in.data<const uint8_t>(i), in.shape(i), plan.moves,
                     streamed);
    for (int64_t s = 0; s <= last; s++) {
      image.run(kind(s), plan.parameters.row(i) + 2 * s, plan.matrices.row(i) + 6 * s, s == last);
    }
  };
  // Few images keep the threads busy only if these share the work on each.
  if (in.size() < 2 * current_pool()->num_threads()) {
    for (int64_t i = 0; i < in.size(); i++) run(i);
    return;
  }
  parallel_for(
      in.size(),
      [&](int64_t i) {
        double cost = 0.05;
        for (int64_t s = 0; s < plan.steps; s++) {
          cost += nanoseconds_per_byte(static_cast<Augmentation>(plan.kinds.row(i)[s]));
        }
        return cost * static_cast<double>(in.volume(i));
      },
      run);
}

}  // namespace daliesque::image
