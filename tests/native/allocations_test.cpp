// SPDX-License-Identifier: Apache-2.0
// Fails each allocation of a loop over the kernels in turn: an exception for want of memory comes
// out, or the kernel does without; buffers go back to their pool, and the loop works again at once.
// Under AddressSanitizer whatever was lost on the way is reported at the end.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "arrays.h"
#include "bytes.h"
#include "check.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "decode/images.h"
#include "files/read.h"
#include "image/filters.h"
#include "image/flip.h"
#include "jpeg/distortion.h"
#include "records/tar.h"
#include "resize/resize.h"

using namespace daliesque;
using testing::check;
using testing::passed;
using testing::sum;

namespace {

/// The number of allocations until one fails; 0: none does.
std::atomic<int64_t> allocations_left{0};
std::atomic<bool> has_failed{false};

bool fails() {
  if (allocations_left.load() <= 0 || allocations_left.fetch_sub(1) != 1) return false;
  has_failed = true;
  return true;
}

void* allocate_or_throw(size_t bytes) {
  void* memory = fails() ? nullptr : std::malloc(std::max<size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return allocate_or_throw(bytes); }
void* operator new[](size_t bytes) { return allocate_or_throw(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

// What buffers are made of.
extern "C" void* aligned_alloc(size_t alignment, size_t bytes) {
  void* memory = nullptr;
  return fails() || posix_memalign(&memory, alignment, bytes) ? nullptr : memory;
}

namespace {

/// A gray image of 16 x 16 equal pixels: four blocks of two bits each.
std::string small_jpeg() {
  std::string file("\xFF\xD8\xFF\xDB\x00\x43\x00", 7);
  file.append(64, '\1');
  file.append("\xFF\xC0\x00\x0B\x08\x00\x10\x00\x10\x01\x01\x11\x00", 13);
  for (const char table : {'\x00', '\x10'}) {
    file.append("\xFF\xC4\x00\x14", 4).append(1, table).append(1, '\1').append(16, '\0');
  }
  file.append("\xFF\xDA\x00\x08\x01\x01\x00\x00\x3F\x00", 10).append(1, '\0');
  return file.append("\xFF\xD9", 2);
}

/// A file of an archive, with its checksum.
std::string small_tar() {
  std::string header(records::kTarBlock, '\0');
  header.replace(0, 5, "a.txt").replace(100, 7, "0000644").replace(124, 11, "00000000005");
  header.replace(148, 8, 8, ' ').replace(156, 1, "0").replace(257, 5, "ustar");
  unsigned total = 0;
  for (const char byte : header) total += static_cast<unsigned char>(byte);
  char digits[8];
  std::snprintf(digits, sizeof(digits), "%06o", total);
  header.replace(148, 7, digits, 7);
  std::string contents = "12345";
  contents.resize(3 * records::kTarBlock);
  return header + contents;
}

/// Files that exist as long as this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& contents) {
    const int file = mkstemp(path.data());
    check(file >= 0, "a file can be made");
    const auto written = write(file, contents.data(), contents.size());
    check(written == static_cast<ssize_t>(contents.size()), "a file can be written");
    close(file);
  }
  ~TemporaryFile() { unlink(path.c_str()); }

  std::string path = std::filesystem::temp_directory_path() / "allocations_test_XXXXXX";
};

class Loop {
 public:
  /// What a run computes, as a number; throws if there is no memory.
  uint64_t run() { return decoded() + filtered() + resized() + listed(); }

 private:
  uint64_t decoded() {
    std::vector<files::FileError> errors;
    const Samples encoded = files::read_files({jpeg_.path, jpeg_.path}, nullptr, errors);
    const std::vector<decode::EncodedImage> headers = decode::read_image_headers(encoded);
    std::vector<decode::DecodeTask> tasks;
    for (const decode::EncodedImage& header : headers) {
      tasks.push_back({true, header.format, 1, {0, 0, 16, 16}, 16, 16, header.channels});
    }
    Samples out = Samples::empty(DType::uint8, 3, {16, 16, 3, 16, 16, 3}, "HWC", 2);
    decode::decode_images(out, encoded, tasks, decode::ImageType::kRgb, false,
                          [](int64_t, const decode::DecodeFailure* failure) {
                            check(false, "the files are whole", failure->what);
                          });
    return sum(out);
  }

  uint64_t filtered() {
    Samples in = Samples::empty(DType::uint8, 3, {40, 50, 3, 30, 20, 3}, "HWC", 2);
    for (int64_t i = 0; i < in.size(); i++) {
      for (int64_t k = 0; k < in.volume(i); k++) {
        in.data<uint8_t>(i)[k] = static_cast<uint8_t>(k * 7);
      }
    }
    Samples out = Samples::empty_like(in);
    const int32_t flag = 1, window = 5, quality = 50;
    const float sigma = 1.5f;
    image::flip(out, in, {{1, PerSample<int32_t>(&flag, 1, 1)}});
    image::gaussian_blur(in, out, {0, 2, true}, PerSample<float>(&sigma, 1, 1),
                         PerSample<int32_t>(&window, 1, 1));
    jpeg::jpeg_distortion(out, in, PerSample<int32_t>(&quality, 1, 1));
    return sum(out);
  }

  uint64_t resized() {
    // Another geometry each time, so that none of the tables is there already.
    resize::AxisRequest rows, columns;
    rows.in_size = columns.in_size = 20 + ++runs_ % 7;
    rows.out_size = columns.out_size = 31;
    rows.start = columns.start = 0;
    rows.end = columns.end = static_cast<float>(rows.in_size);
    const Samples in = Samples::empty(DType::uint8, 2, {rows.in_size, columns.in_size}, "HW", 1);
    Samples out = Samples::empty(DType::uint8, 2, {31, 31}, "HW", 1);
    std::fill_n(in.data<uint8_t>(0), in.volume(0), uint8_t{9});
    const resize::ImageResizer resizer(rows, columns, 1, DType::uint8, DType::uint8);
    resizer.run({out.data<std::byte>(0), 31}, {in.data<std::byte>(0), columns.in_size}, 0, 31);
    return sum(out);
  }

  uint64_t listed() {
    uint64_t total = 0;
    const files::SourceHandle source = files::open_file(tar_.path, true);
    const records::TarEnd end =
        records::list_tar(*source, [&](const std::string& name, int64_t, int64_t size) {
          total += name.size() + static_cast<uint64_t>(size);
        });
    check(end.fault == records::TarFault::none, "the archive is whole");
    return total;
  }

  TemporaryFile jpeg_{small_jpeg()}, tar_{small_tar()};
  int64_t runs_ = 0;
};

}  // namespace

int main() {
  Loop loop;
  const uint64_t expected = loop.run();
  check(expected > 0, "the loop computes something");
  const int64_t used = memory_info().used_bytes;
  int64_t number = 1;
  for (;; number++) {
    has_failed = false;
    allocations_left = number;
    try {
      check(loop.run() == expected, "what needs no memory is right", number);
    } catch (const std::bad_alloc&) {
    } catch (const OutOfMemory&) {
    }
    allocations_left = 0;
    if (!has_failed) break;
    check(loop.run() == expected, "the loop goes on", number);
    check(memory_info().used_bytes == used, "all buffers are back", number);
  }
  check(number > 50, "there are many allocations", number);
  return passed("allocations_test");
}
