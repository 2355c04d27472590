// SPDX-License-Identifier: Apache-2.0
#include "core/rearrange.h"

#include "core/cpu.h"

namespace daliesque {

const RearrangeLoops& rearrange_loops() {
#ifdef __x86_64__
  if (cpu_has_avx2()) return avx2::rearrange_loops;
#endif
  return portable::rearrange_loops;
}

}  // namespace daliesque
