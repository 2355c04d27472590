// SPDX-License-Identifier: Apache-2.0
#include "core/simd.h"

#include <atomic>

namespace daliesque {

namespace {

bool detect_avx2() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
#else
  return false;
#endif
}

bool detect_avx512() {
#if defined(__x86_64__) && defined(__GNUC__)
  return detect_avx2() && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni");
#else
  return false;
#endif
}

std::atomic<bool> avx2_enabled{true}, avx512_enabled{true};

}  // namespace

bool cpu_has_avx2() {
  static const bool present = detect_avx2();
  return present && avx2_enabled.load(std::memory_order_relaxed);
}

bool cpu_has_avx512() {
  static const bool present = detect_avx512();
  return present && avx512_enabled.load(std::memory_order_relaxed);
}

void set_simd_enabled(bool enabled, bool avx512) {
  avx2_enabled.store(enabled, std::memory_order_relaxed);
  avx512_enabled.store(enabled && avx512, std::memory_order_relaxed);
}

}  // namespace daliesque
