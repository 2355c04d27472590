// SPDX-License-Identifier: Apache-2.0
// CIE Lab of sRGB bytes in fixed point: lightness as 0 to 255, a and b with 128 for gray. All steps
// and roundings are those of OpenCV, so that results are equal to it.
#pragma once

#include <cstdint>

namespace daliesque::image {

/// Lookup tables of fixed-point numbers with 12, 14 or 15 fraction bits.
struct LabTables {
  /// What a byte of red, green or blue adds to X, Y and Z, each relative to white.
  int32_t to_xyz[3][256][4];
  /// f of CIE Lab for X, Y and Z.
  uint16_t root[3072];

  /// Y and f(Y) of a lightness.
  struct Lightness {
    int32_t y, root;
  };
  Lightness lightness[256];
  int32_t xyz_to_rgb[3][3];
  /// sRGB for linear values of 12 bits.
  uint8_t gamma[4096];
};

const LabTables& lab_tables();

/// Splits RGB pixels into planes.
void rgb_to_lab(uint8_t* lightness, uint8_t* a, uint8_t* b, const uint8_t* rgb, int64_t pixels);
/// Inverse of rgb_to_lab.
void lab_to_rgb(uint8_t* rgb, const uint8_t* lightness, const uint8_t* a, const uint8_t* b,
                int64_t pixels);

}  // namespace daliesque::image
