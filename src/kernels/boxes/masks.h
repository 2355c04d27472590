// SPDX-License-Identifier: Apache-2.0
// Random pixels and objects of segmentation masks, with the draws of the reference.
#pragma once

#include <cstdint>

#include "core/per_sample.h"
#include "core/samples.h"
#include "random/philox.h"

namespace daliesque::boxes {

/// The coordinates of a pixel of each mask. Where `foreground` is not 0, it is one of those that
/// equal `value` or, if that is null, exceed `threshold`, unless there are none. `out` (int64) has
/// the shape (ndim,); no mask is empty.
void random_mask_pixel(Samples& out, const random::PhiloxState& state, const Samples& masks,
                       const PerSample<int32_t>& foreground, const PerSample<int32_t>* value,
                       const PerSample<float>& threshold);

/// Which object random_object_bbox() picks. Arguments that may be null are then absent; `classes`
/// and `weights` hold one list for each sample, or one for all.
struct ObjectChoice {
  PerSample<float> foreground_prob;
  const PerSample<int32_t>* background;
  const Samples* classes;               ///< int64
  const Samples* weights;               ///< float32
  const PerSample<int32_t>* threshold;  ///< least extent along each axis
  int64_t k_largest;                    ///< 0: all
  bool ignore_class;
};

/// Begin and end of the box around an object (face-connected pixels of one value) of each mask, and
/// its class; of the whole mask, and the background, if no object is picked. `starts` and `ends`
/// (int32) have the shape (ndim,), `classes` (int32) has none. Masks hold integers of up to 32 bits
/// or truth values.
void random_object_bbox(Samples& starts, Samples& ends, Samples& classes,
                        const random::PhiloxState& state, const Samples& masks,
                        const ObjectChoice& choice);

}  // namespace daliesque::boxes
