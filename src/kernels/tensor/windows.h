// SPDX-License-Identifier: Apache-2.0
// Where crops and slices lie: from arguments to the begin and extent of windows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/per_sample.h"

namespace daliesque::tensor {

/// Begin and extent along each axis, a row for each sample or one that serves all.
struct Windows {
  int64_t rows = 0, ndim = 0;
  std::vector<int64_t> anchors, extents;
};

/// Why windows cannot be made.
struct WindowFault {
  enum Kind : int32_t {
    none = 0,
    two_sizes,      ///< the size is given in two ways
    negative_size,  ///< `value` is negative or not a number
    position,       ///< `value` is not in [0, 1]
    order,          ///< the window would end before it begins, or is not finite
    outside,        ///< the window leaves the input
    axis_range,     ///< `value` is not an axis
    axis_twice,     ///< an axis is named twice
  };
  Kind kind = none;
  int64_t sample = 0;
  int64_t axis = 0;  ///< of the input; for arguments of crop: 0 depth, 1 height, 2 width
  double value = 0;
};

/// Windows by size and relative position. Sizes are cut to whole numbers; 0 keeps the axis. The
/// begin is position * (shape - size), rounded half away from zero or cut. Without a depth axis D
/// the depth applies to frames F.
struct CropArgs {
  std::optional<PerSample<float>> crop;  ///< (height, width) or (depth, height, width)
  PerSample<float> sizes[3];             ///< depth, height, width
  PerSample<float> positions[3];         ///< likewise, 0 to 1
  bool truncate;
};
WindowFault crop_windows(Windows& out, const PerSample<int64_t>& shapes, std::string_view layout,
                         const CropArgs& args);

/// One end of a slice.
struct SliceBound {
  std::optional<PerSample<double>> values;  ///< a value for each of the axes, or one for all
  bool relative = false;                    ///< to the extent of the axis
};

/// Windows by begin and end, or begin and size; what is not given is the begin or end of the axis.
struct SliceArgs {
  PerSample<int32_t> axes;  ///< negative ones count from the end
  SliceBound begin, end, size;
  bool single_precision;  ///< multiply relative values in float, as the reference does for some
};
WindowFault slice_windows(Windows& out, const PerSample<int64_t>& shapes, const SliceArgs& args);

/// Cuts off what leaves the input (`trim`) or reports it.
WindowFault fit_windows(Windows& windows, const PerSample<int64_t>& shapes, bool trim);

/// Windows that begin at 0 and have at least the given extents along the axes (where not positive:
/// the largest extent of the batch), rounded up to multiples of `align`.
struct PadArgs {
  PerSample<int32_t> axes;
  std::optional<PerSample<int32_t>> extents, align;
};
WindowFault pad_windows(Windows& out, const PerSample<int64_t>& shapes, const PadArgs& args);

}  // namespace daliesque::tensor
