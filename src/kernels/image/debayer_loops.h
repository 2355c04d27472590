// SPDX-License-Identifier: Apache-2.0
// The inner loops behind debayer.h, one set for each instruction set. They work on rows.
#pragma once

#include <cstdint>

namespace daliesque::image {

/// Rows above and below a row of the sensor. In this row, pixels whose mask is set are green; the
/// others have the row's color, and the third color is in the rows next to it.
template <class T>
struct SensorRows {
  const T *above, *here, *below;
  const T* green;  ///< the mask: all bits or none
  int64_t width;
};

/// Rows of the three colors, without the first and last pixel.
template <class T>
struct ColorRows {
  T *green, *own, *other;
};

/// Weights of colors in units of 2^-14.
struct GrayWeights {
  uint32_t green, own, other;
};

/// What variable gradients are made of, for one row: differences across it in four directions
/// (where two are also needed with closer neighbors), and the sum of neighbors.
struct GradientRow {
  uint16_t *vertical, *horizontal, *rising, *falling, *rising_close, *falling_close, *around;
};

/// Five rows of a sensor and the gradients of the middle three.
struct GradientWindow {
  const uint16_t* rows[5];
  GradientRow gradients[3];
  const uint16_t* green;
  int64_t width;  ///< with two more pixels at either end
};

#define DALIESQUE_DEBAYER_LOOPS                                                             \
  template <class T>                                                                        \
  void interpolate_row(const ColorRows<T>& out, const SensorRows<T>& in, bool along_edges); \
  template <class T>                                                                        \
  void gray_row(T* out, const SensorRows<T>& in, const GrayWeights& weights);               \
  void find_gradients(const GradientRow& out, const uint16_t* above, const uint16_t* here,  \
                      const uint16_t* below, int64_t width);                                \
  /* Pixel x + 2 of the window goes to column x. */                                         \
  void follow_gradients(const ColorRows<uint8_t>& out, const GradientWindow& in);

namespace portable {
DALIESQUE_DEBAYER_LOOPS
}
namespace avx2 {
DALIESQUE_DEBAYER_LOOPS
}

#undef DALIESQUE_DEBAYER_LOOPS

}  // namespace daliesque::image
