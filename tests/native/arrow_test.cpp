// SPDX-License-Identifier: Apache-2.0
// Arrow columns: who holds what, which threads may release it, and arrays that lie about
// themselves.
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "check.h"
#include "core/arrow_export.h"
#include "core/arrow_import.h"
#include "core/errors.h"

using namespace daliesque;
using testing::check;
using testing::passed;

namespace {

Samples ragged(int64_t count) {
  std::vector<int64_t> shapes;
  for (int64_t i = 0; i < count; i++) shapes.insert(shapes.end(), {i, 3});
  Samples samples = Samples::empty(DType::int16, 2, shapes, "", count);
  int16_t next = 0;
  for (int64_t i = 0; i < count; i++) {
    std::iota(samples.data<int16_t>(i), samples.data<int16_t>(i) + samples.volume(i), next);
    next = static_cast<int16_t>(next + samples.volume(i));
  }
  return samples;
}

/// A column that releases the array in the end.
arrow::Column column(arrow::Array array) {
  Buffer owner(new arrow::Array(array), [](void* held) {
    auto* taken = static_cast<arrow::Array*>(held);
    if (taken->release != nullptr) taken->release(taken);
    delete taken;
  });
  const auto* kept = static_cast<const arrow::Array*>(owner.get());
  return {owner, kept};
}

/// Whether there are more buffers than before; under AddressSanitizer, which finds all that is
/// never freed, they are not counted.
bool more_buffers([[maybe_unused]] int64_t before) {
#ifdef __SANITIZE_ADDRESS__
  return true;
#else
  return memory_info().used_buffers > before;
#endif
}

void memory_goes_with_the_last_user() {
  const int64_t before = memory_info().used_buffers;
  arrow::Array array;
  arrow::export_samples(ragged(100), arrow::Form::tensors, &array);
  check(more_buffers(before), "the array holds its buffers");
  // A consumer may take a child out, which then lives longer than its parent.
  arrow::Array child = *array.children[0];
  array.children[0]->release = nullptr;
  array.release(&array);
  check(array.release == nullptr, "a released array says so");
  const Samples rows = column(child).samples({"+l", "s"}, DType::int16);
  check(rows.size() == 100 && rows.shape(99)[0] == 297, "a hundred lists");
  check(rows.data<int16_t>(99)[296] == 14849, "the elements are those of the batch");
  check(more_buffers(before), "the child holds its buffers");
}

void nothing_is_left() {
  const int64_t before = memory_info().used_buffers;
  memory_goes_with_the_last_user();
  check(memory_info().used_buffers == before, "all buffers are free");
}

void threads_release_parts() {
  arrow::Array array;
  arrow::export_samples(ragged(100), arrow::Form::large_lists, &array);
  const arrow::Column whole = column(array);
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; k++) {
    threads.emplace_back([copy = whole] {
      for (int round = 0; round < 100; round++) {
        const Samples rows = copy.samples({"+L", "s"}, DType::int16);
        check(rows.volume(99) == 297 && rows.packed(), "rows as they were");
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

void schemas_are_read_as_written() {
  arrow::Field field{"+s", "row", {{"key", std::string("\0value", 6)}}, {}, {}};
  field.children.push_back({"+l", "data", {}, {{"s", "item", {}, {}, {}}}, {}});
  arrow::Schema schema;
  arrow::export_field(field, &schema);
  const arrow::Field read = arrow::read_field(schema);
  check(read.format == "+s" && read.name == "row", "format and name");
  check(read.metadata == field.metadata, "metadata may hold any bytes");
  check(read.children.at(0).children.at(0).format == "s", "children");
  schema.release(&schema);
  check(schema.release == nullptr, "a released schema says so");
}

template <class Function>
bool refused(Function&& function) {
  try {
    function();
    return false;
  } catch (const UsageError&) {
    return true;
  }
}

void arrays_that_lie_are_refused() {
  const int32_t offsets[] = {0, 2, 7}, falling[] = {3, 2, 3};
  const int16_t values[] = {1, 2, 3};
  const void* leaf_buffers[] = {nullptr, values};
  arrow::Array leaf{3, 0, 0, 2, 0, leaf_buffers, nullptr, nullptr, nullptr, nullptr};
  arrow::Array* children[] = {&leaf};
  for (const int32_t* list : {offsets, falling}) {
    const void* buffers[] = {nullptr, list};
    const arrow::Array array{2, 0, 0, 2, 1, buffers, children, nullptr, nullptr, nullptr};
    const arrow::Column lists(nullptr, &array);
    check(refused([&] { lists.samples({"+l", "s"}, DType::int16); }), "offsets");
  }
  const void* none[] = {nullptr};
  const arrow::Array fixed{2, 0, 0, 1, 1, none, children, nullptr, nullptr, nullptr};
  const arrow::Column rows(nullptr, &fixed);
  check(refused([&] { rows.samples({"+w:2", "s"}, DType::int16); }), "too few elements");
  check(refused([&] { rows.samples({"+w:x", "s"}, DType::int16); }), "no number");
  check(refused([&] { rows.samples({"+w:1", "+w:1", "s"}, DType::int16); }), "no child");
  const arrow::Array negative{-1, 0, 0, 2, 0, leaf_buffers, nullptr, nullptr, nullptr, nullptr};
  check(refused([&] { arrow::Column(nullptr, &negative); }), "a negative length");
  std::byte view[16] = {};
  const int32_t long_value[] = {13, 0, 0, 0};
  std::memcpy(view, long_value, sizeof view);
  const int64_t lengths[] = {0};
  const void* view_buffers[] = {nullptr, view, lengths};
  const arrow::Array views{1, 0, 0, 3, 0, view_buffers, nullptr, nullptr, nullptr, nullptr};
  const arrow::Column binary(nullptr, &views);
  check(refused([&] { binary.samples({"vz"}, DType::uint8); }), "a view of no buffer");
}

void missing_values_are_found() {
  const uint8_t valid[] = {0b1011};
  const int16_t values[] = {1, 2, 3, 4};
  const void* buffers[] = {valid, values};
  const arrow::Array array{4, 1, 0, 2, 0, buffers, nullptr, nullptr, nullptr, nullptr};
  check(arrow::Column(nullptr, &array).first_missing({"s"}) == 2, "the third value");
  arrow::Array later = array;
  later.offset = 3;
  later.length = 1;
  check(arrow::Column(nullptr, &later).first_missing({"s"}) == -1, "none after it");
}

}  // namespace

int main() {
  nothing_is_left();
  threads_release_parts();
  schemas_are_read_as_written();
  arrays_that_lie_are_refused();
  missing_values_are_found();
  return passed("arrow_test");
}
