// SPDX-License-Identifier: Apache-2.0
#include "core/rearrange.h"

#include "core/simd.h"

namespace daliesque {

const RearrangeLoops& rearrange_loops() { return DALIESQUE_CHOOSE(rearrange_loops); }

}  // namespace daliesque
