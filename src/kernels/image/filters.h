// SPDX-License-Identifier: Apache-2.0
// Linear filters: weighted sums of neighbors, in float, added up in the reference's order.
#pragma once

#include <optional>

#include "core/border.h"
#include "core/per_sample.h"
#include "core/samples.h"

namespace daliesque::image {

/// How the axes of a sample are used: `outer` axes that count planes, `spatial` ones (1 to 3) that
/// are filtered, and perhaps one of channels.
struct FilterAxes {
  int outer, spatial;
  bool channels;
};

/// A Gaussian window for each spatial axis. Arguments have one value or one for each axis. A
/// window size of 0 follows from sigma and vice versa.
void gaussian_blur(Samples& out, const Samples& in, FilterAxes axes, PerSample<float> sigma,
                   PerSample<int32_t> window_size);

/// The sum of second derivatives along the axes, each smoothed along the others. Without
/// `smoothing`, the windows that smooth a derivative are as long as its own.
struct Laplacian {
  PerSample<int32_t> window_size;
  std::optional<PerSample<int32_t>> smoothing_size;
  PerSample<float> scale;
  bool normalized;  ///< `scale` is ignored; windows are scaled to unit gain
};

void laplacian(Samples& out, const Samples& in, FilterAxes axes, const Laplacian& arguments);

/// out[p] = sum over k of kernel[k] * in[p - anchor + k]. `kernels` holds a float array with one
/// axis for each spatial axis, for each sample; `fill` is what lies outside a constant border.
/// Integer results are rounded to nearest, halves to even. If `out` is smaller than `in`, it holds
/// the results for which no border is needed.
void filter(Samples& out, const Samples& in, FilterAxes axes, const Samples& kernels,
            PerSample<int32_t> anchor, Border border, PerSample<float> fill);

}  // namespace daliesque::image
