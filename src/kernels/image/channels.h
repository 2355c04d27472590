// SPDX-License-Identifier: Apache-2.0
// The channels of pixels in another order.
#pragma once

#include "core/per_sample.h"
#include "core/samples.h"

namespace daliesque::image {

/// out[..., c] = in[..., order[c]]; the last axis holds the channels, and every row of `order` has
/// as many indices of such.
void reorder_channels(Samples& out, const Samples& in, PerSample<int32_t> order);

}  // namespace daliesque::image
