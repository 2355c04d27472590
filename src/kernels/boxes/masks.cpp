// SPDX-License-Identifier: Apache-2.0
#include "boxes/masks.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "boxes/regions.h"
#include "core/parallel.h"
#include "random/std_random.h"

namespace daliesque::boxes {

namespace {

// Of counting, and of finding connected regions.
constexpr double kNanosecondsPerPixel = 0.5, kNanosecondsPerLabel = 2;

template <class T, class Predicate>
int64_t count_matches(const T* data, int64_t size, Predicate&& matches) {
  int64_t count = 0;
  for (int64_t k = 0; k < size; k++) count += matches(data[k]);
  return count;
}

/// A random element among those that match, or -1.
template <class T, class Predicate>
int64_t pick_match(random::Philox& generator, const T* data, int64_t size, Predicate&& matches) {
  const int64_t count = count_matches(data, size, matches);
  if (count == 0) return -1;
  int64_t rest = random::uniform_int<int64_t>(generator, 0, count - 1);
  constexpr int64_t kBlock = 4096;
  for (int64_t begin = 0;; begin += kBlock) {
    const int64_t length = std::min(kBlock, size - begin);
    const int64_t here = count_matches(data + begin, length, matches);
    if (rest >= here) {
      rest -= here;
      continue;
    }
    for (int64_t k = begin;; k++) {
      if (matches(data[k]) && rest-- == 0) return k;
    }
  }
}

/// `value` in the type of the mask, if that can hold it.
template <class T>
std::optional<T> representable(int32_t value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (value != 0 && value != 1) return std::nullopt;
  } else if constexpr (std::is_integral_v<T>) {
    if (!std::in_range<T>(value)) return std::nullopt;
  } else if (static_cast<int32_t>(static_cast<T>(value)) != value) {
    return std::nullopt;
  }
  return static_cast<T>(value);
}

using MaskTypes = Types<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t,
                        float, double, bool>;
using LabelTypes = Types<uint8_t, uint16_t, uint32_t, int8_t, int16_t, int32_t, bool>;

struct WeightedClasses {
  std::vector<int64_t> labels;
  std::vector<float> weights;
  int64_t background = 0;
  bool given = false;
};

/// The classes that the arguments name, and the background.
WeightedClasses given_classes(const ObjectChoice& choice, int64_t i) {
  WeightedClasses found;
  if (choice.background) found.background = (*choice.background)[i];
  if (choice.ignore_class) return found;
  if (choice.classes) {
    const int64_t from = choice.classes->size() == 1 ? 0 : i;
    const auto* labels = choice.classes->data<const int64_t>(from);
    found.labels.assign(labels, labels + choice.classes->volume(from));
    found.weights.assign(found.labels.size(), 1.0f);
    if (std::ranges::count(found.labels, found.background)) {
      found.background = *std::ranges::min_element(found.labels) - 1;
    }
    found.given = true;
  }
  if (choice.weights) {
    const int64_t from = choice.weights->size() == 1 ? 0 : i;
    const auto* weights = choice.weights->data<const float>(from);
    found.weights.assign(weights, weights + choice.weights->volume(from));
    for (int64_t label = 0; !choice.classes && found.labels.size() < found.weights.size();
         label++) {
      if (label != found.background) found.labels.push_back(label);
    }
    found.given = true;
  }
  return found;
}

/// The number of a class, drawn by weight, or -1 if all weights are 0.
int64_t draw_class(random::Philox& generator, const std::vector<float>& weights) {
  std::vector<float> sums;
  double sum = 0;
  for (float weight : weights) {
    sum += static_cast<double>(weight);
    sums.push_back(static_cast<float>(sum));
  }
  if (!(sum > 0)) return -1;
  const double target = random::canonical<double>(generator) * static_cast<double>(sums.back());
  size_t index = 0;
  while (index < sums.size() && static_cast<double>(sums[index]) < target) index++;
  while (index < weights.size() && weights[index] == 0) index++;
  return index < weights.size() ? static_cast<int64_t>(index) : -1;
}

/// One of the boxes that are large enough, or none.
const RegionBox* pick_box(random::Philox& generator, std::vector<RegionBox>& boxes,
                          const int32_t* threshold, int64_t k_largest) {
  if (threshold) {
    std::erase_if(boxes, [&](const RegionBox& box) {
      for (size_t d = 0; d < box.low.size(); d++) {
        if (box.high[d] - box.low[d] < threshold[d]) return true;
      }
      return false;
    });
  }
  const auto count = static_cast<int>(boxes.size());
  if (count == 0) return nullptr;
  if (k_largest <= 0 || k_largest >= count) {
    return &boxes[static_cast<size_t>(random::uniform_int(generator, 0, count - 1))];
  }
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t k = 0; k < boxes.size(); k++) {
    int64_t product = 1;
    for (size_t d = 0; d < boxes[k].low.size(); d++) product *= boxes[k].high[d] - boxes[k].low[d];
    order.emplace_back(-product, k);
  }
  std::ranges::sort(order);
  const int chosen = random::uniform_int(generator, 0, static_cast<int>(k_largest) - 1);
  return &boxes[order[static_cast<size_t>(chosen)].second];
}

/// Finds the object of one mask; what is returned is empty if there is none.
template <class T>
std::pair<RegionBox, int64_t> pick_object(random::Philox& generator, const T* mask, Shape shape,
                                          WeightedClasses classes, const ObjectChoice& choice,
                                          const int32_t* threshold) {
  const int64_t background = classes.background;
  if (choice.ignore_class) {
    auto boxes = find_regions(mask, shape, [&](T value) { return value != background; });
    const RegionBox* box = pick_box(generator, boxes, threshold, choice.k_largest);
    return {box ? *box : RegionBox{}, background};
  }
  std::vector<int64_t> present = find_labels(mask, volume(shape));
  std::erase(present, background);
  if (!classes.given) {
    classes.labels = present;
    classes.weights.assign(present.size(), 1.0f);
  } else {
    for (size_t k = 0; k < classes.labels.size(); k++) {
      if (!std::ranges::binary_search(present, classes.labels[k])) classes.weights[k] = 0;
    }
  }
  for (;;) {
    const int64_t index = draw_class(generator, classes.weights);
    if (index < 0) return {RegionBox{}, background};
    const int64_t label = classes.labels[static_cast<size_t>(index)];
    auto boxes = find_regions(mask, shape, [&](T value) { return value == label; });
    const RegionBox* box = pick_box(generator, boxes, threshold, choice.k_largest);
    if (box) return {*box, label};
    classes.weights[static_cast<size_t>(index)] = 0;
  }
}

}  // namespace

void random_mask_pixel(Samples& out, const random::PhiloxState& state, const Samples& masks,
                       const PerSample<int32_t>& foreground, const PerSample<int32_t>* value,
                       const PerSample<float>& threshold) {
  dispatch(MaskTypes{}, masks.dtype(), [&]<class T>(Tag<T>) {
    parallel_for(
        masks.size(),
        [&](int64_t i) { return static_cast<double>(masks.volume(i)) * kNanosecondsPerPixel; },
        [&](int64_t i) {
          random::Philox generator(random::sample_state(state, i));
          const Shape shape = masks.shape(i);
          const T* mask = masks.data<const T>(i);
          int64_t* pixel = out.data<int64_t>(i);
          int64_t chosen = -1;
          if (foreground[i] && value) {
            if (const auto wanted = representable<T>((*value)[i])) {
              chosen =
                  pick_match(generator, mask, masks.volume(i), [&](T x) { return x == *wanted; });
            }
          } else if (foreground[i]) {
            const float least = threshold[i];
            // Compared in float, like the reference, or in double.
            chosen = pick_match(generator, mask, masks.volume(i), [&](T x) { return x > least; });
          }
          for (size_t d = shape.size(); d-- > 0 && chosen >= 0; chosen /= shape[d]) {
            pixel[d] = chosen % shape[d];
            if (d == 0) return;
          }
          for (size_t d = 0; d < shape.size(); d++) {
            pixel[d] = random::uniform_int<int64_t>(generator, 0, shape[d] - 1);
          }
        });
  });
}

void random_object_bbox(Samples& starts, Samples& ends, Samples& classes,
                        const random::PhiloxState& state, const Samples& masks,
                        const ObjectChoice& choice) {
  dispatch(LabelTypes{}, masks.dtype(), [&]<class T>(Tag<T>) {
    parallel_for(
        masks.size(),
        [&](int64_t i) { return static_cast<double>(masks.volume(i)) * kNanosecondsPerLabel; },
        [&](int64_t i) {
          random::Philox generator(random::sample_state(state, i));
          const Shape shape = masks.shape(i);
          const bool is_foreground =
              random::canonical<double>(generator) < static_cast<double>(choice.foreground_prob[i]);
          WeightedClasses given = given_classes(choice, i);
          std::pair<RegionBox, int64_t> found{{}, given.background};
          if (is_foreground) {
            const int32_t* threshold = choice.threshold ? choice.threshold->row(i) : nullptr;
            found = pick_object(generator, masks.data<const T>(i), shape, std::move(given), choice,
                                threshold);
          }
          const auto& [box, label] = found;
          for (size_t d = 0; d < shape.size(); d++) {
            const bool whole = box.low.empty();
            starts.data<int32_t>(i)[d] = static_cast<int32_t>(whole ? 0 : box.low[d]);
            ends.data<int32_t>(i)[d] = static_cast<int32_t>(whole ? shape[d] : box.high[d]);
          }
          *classes.data<int32_t>(i) = static_cast<int32_t>(label);
        });
  });
}

}  // namespace daliesque::boxes
