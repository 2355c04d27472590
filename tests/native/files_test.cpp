// SPDX-License-Identifier: Apache-2.0
// Reads damaged .npy files. Every input lives in a block of its exact size, so that a sanitizer
// sees any access beyond it.
#include <memory>
#include <string>
#include <vector>

#include "bytes.h"
#include "check.h"
#include "files/npy_read.h"
#include "mutations.h"

using namespace daliesque;
using namespace daliesque::files;
using testing::check;
using testing::little;
using testing::Mutator;
using testing::passed;
using testing::sample_of;
using testing::sum;

namespace {

constexpr int kRounds = 20000;

void arrays() {
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  const std::string good = "\x93NUMPY" + little(1, 1) + little(0, 1) +
                           little(dictionary.size(), 2) + dictionary + std::string(24, '\1');
  Mutator mutator(6);
  for (int round = 0; round < kRounds; round++) {
    const Samples file = sample_of(round == 0 ? good : mutator.damaged(good));
    std::vector<std::unique_ptr<NpySource>> sources;
    sources.push_back(memory_source(file, 0));
    std::vector<NpyError> errors;
    const Samples array = read_npy(sources, nullptr, errors);
    check(round > 0 || (errors.empty() && array.volume(0) == 6), "good arrays are read");
    if (errors.empty()) sum(array);
  }
}

}  // namespace

int main() {
  arrays();
  return passed("files_test");
}
