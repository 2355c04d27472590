// SPDX-License-Identifier: Apache-2.0
// How much memory the library may take beyond what its users hold themselves.
#pragma once

#include <cstdint>

namespace daliesque {

/// What this process may use: the memory of the machine, or of its control group.
int64_t available_memory();

/// The limit for everything that is held in buffers, in bytes: what users hold counts first, and as
/// far as it leaves something, buffers are kept for reuse, results are computed and files are read
/// ahead. Nothing is refused: above the limit, loops go on without these.
int64_t total_limit();
void set_total_limit(int64_t bytes);

/// Whether buffers in use reach the limit, so that nobody should begin more ahead of time.
bool memory_is_tight();

}  // namespace daliesque
