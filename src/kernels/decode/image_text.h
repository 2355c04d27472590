// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/samples.h"

namespace daliesque::decode {

/// Images of bytes, HWC with 1 or 3 channels, in the plain (textual) form of PGM or PPM.
Samples image_texts(const Samples& images);

}  // namespace daliesque::decode
