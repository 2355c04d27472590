// SPDX-License-Identifier: Apache-2.0
// Boxes matched with the anchors of a detector. Liu et al., "SSD: Single Shot MultiBox Detector"
// (2016).
#pragma once

#include "core/samples.h"

namespace daliesque::boxes {

struct BoxEncoding {
  float criteria;  ///< the least overlap of a match
  bool offset;     ///< write offsets relative to the anchor
  float scale;
  const float* means;  ///< of the offsets: x, y, w, h
  const float* stds;
};

/// Each anchor, a row (left, top, right, bottom) of `anchors`, gets the box it overlaps most, as
/// center and size, and its label; each box has at least one anchor. Other anchors stand for
/// themselves, or have an offset of zero, and get the label 0. `out_boxes` (float32) has the shape
/// (anchors, 4), `out_labels` (int32) has the shape (anchors,).
void encode_boxes(Samples& out_boxes, Samples& out_labels, const Samples& boxes,
                  const Samples& labels, const Samples& anchors, const BoxEncoding& encoding);

}  // namespace daliesque::boxes
