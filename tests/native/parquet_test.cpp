// SPDX-License-Identifier: Apache-2.0
// Decodes damaged columns. Every input lives in a block of its exact size, so that a sanitizer sees
// any access beyond it; the checks here make sure that what is not damaged is read.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bytes.h"
#include "check.h"
#include "codecs/checksum.h"
#include "memory_source.h"
#include "mutations.h"
#include "parquet/column.h"
#include "parquet/snappy.h"

using namespace daliesque;
using namespace daliesque::parquet;
using testing::check;
using testing::little;
using testing::MemorySource;
using testing::Mutator;
using testing::passed;
using testing::sum;

namespace {

constexpr int kRounds = 30000;

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}

/// Fields of a structure one after the other, all of them numbers of 32 bits.
std::string numbers(const std::vector<int64_t>& values) {
  std::string bytes;
  for (const int64_t value : values) {
    bytes += '\x15';
    bytes += varint(static_cast<uint64_t>(value) << 1);
  }
  return bytes;
}

/// A structure that is `step` fields behind the one before.
std::string structure(int step, const std::string& fields) {
  return std::string(1, static_cast<char>(step << 4 | 12)) + fields + '\0';
}

/// Literals and copies that expand to `bytes`, which must repeat after `period` bytes.
std::string snappy(const std::string& bytes, size_t period) {
  std::string block = varint(bytes.size());
  const size_t literal = std::min(period, bytes.size());
  block += '\xf4';
  block += little(literal - 1, 2) + bytes.substr(0, literal);
  for (size_t done = literal; done < bytes.size();) {
    const size_t length = std::min<size_t>(64, bytes.size() - done);
    block += static_cast<char>((length - 1) << 2 | 2);
    block += little(period, 2);
    done += length;
  }
  return block;
}

std::string gzip(const std::string& bytes) {
  const auto size = static_cast<uint16_t>(bytes.size());
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  std::string block("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11);
  block += little(size, 2) + little(static_cast<uint16_t>(~size), 2) + bytes;
  return block + little(codecs::crc32({data, bytes.size()}), 4) + little(size, 4);
}

std::string packed(Codec codec, const std::string& bytes, size_t period) {
  if (codec == Codec::none) return bytes;
  return codec == Codec::snappy ? snappy(bytes, period) : gzip(bytes);
}

std::string page(PageKind kind, Codec codec, int64_t values, int encoding, const std::string& bytes,
                 size_t period, const std::string& levels = "") {
  const std::string data = levels + packed(codec, bytes, period);
  const std::string own =
      numbers({static_cast<int64_t>(kind), static_cast<int64_t>(levels.size() + bytes.size()),
               static_cast<int64_t>(data.size())});
  const auto size = static_cast<int64_t>(levels.size());
  switch (kind) {
    case PageKind::dictionary:
      return own + structure(4, numbers({values, encoding})) + '\0' + data;
    case PageKind::data_v2:
      return own + structure(5, numbers({values, 0, values, encoding, size, 0})) + '\0' + data;
    default: {
      // With statistics, which are skipped: a number and some bytes.
      const std::string statistics = structure(1, std::string("\x16\x00\x28\x03min", 7));
      return own + structure(2, numbers({values, encoding, 3, 3}) + statistics) + '\0' + data;
    }
  }
}

/// A run of the level 1.
std::string run_of_levels(size_t count) { return varint(count << 1) + '\x01'; }

/// Values of a column, each in `repeated` bytes, with their lengths in front.
std::string texts(char first, int count, size_t repeated) {
  std::string bytes;
  for (int k = 0; k < count; k++) {
    bytes += little(repeated, 4) + std::string(repeated, static_cast<char>(first + k));
  }
  return bytes;
}

struct Column {
  std::string bytes;
  ColumnChunk chunk;
  int64_t bytes_of_values;
};

/// 16 values of a dictionary, packed and in a run, 8 plain ones, and 8 in a page of version 2.
Column column_of_bytes(Codec codec) {
  const std::string levels = little(run_of_levels(16).size(), 4) + run_of_levels(16);
  const std::string indices = std::string("\x02\x03\xe4\xe4", 4) + varint(8 << 1) + '\x02';
  std::string bytes = page(PageKind::dictionary, codec, 4, 0, texts('a', 4, 30), 200);
  bytes += page(PageKind::data, codec, 16, 8, levels + indices, 200);
  const std::string few = little(run_of_levels(8).size(), 4) + run_of_levels(8);
  bytes += page(PageKind::data, codec, 8, 0, few + texts('z', 8, 5), 200);
  bytes += page(PageKind::data_v2, codec, 8, 0, texts('a', 8, 0), 4, run_of_levels(8));
  const auto size = static_cast<int64_t>(bytes.size());
  return {bytes, {0, size, 32, codec, ValueType::bytes, 0, 1, DType::uint8}, 16 * 30 + 8 * 5};
}

Column column_of_numbers(Codec codec) {
  std::string values;
  for (uint64_t k = 0; k < 20; k++) values += little(k % 2, 4);
  std::string bytes = page(PageKind::dictionary, codec, 20, 0, values, 8);
  bytes += page(PageKind::data, codec, 8, 8, std::string("\x05\x10\x13", 3), 200);
  bytes += page(PageKind::data, codec, 20, 0, values, 8);
  const auto size = static_cast<int64_t>(bytes.size());
  return {bytes, {0, size, 28, codec, ValueType::int32, 0, 0, DType::int16}, 28 * 2};
}

Column column_of_truths(Codec codec) {
  std::string bytes = page(PageKind::data, codec, 12, 0, "\xa5\x05", 2);
  const std::string runs = varint(10 << 1) + '\x01';
  bytes += page(PageKind::data, codec, 10, 3, little(runs.size(), 4) + runs, 9);
  const auto size = static_cast<int64_t>(bytes.size());
  return {bytes, {0, size, 22, codec, ValueType::boolean, 0, 0, DType::boolean}, 22};
}

/// The bytes of all samples; -1 if not all rows are decoded.
int64_t decode(const std::string& bytes, ColumnChunk chunk, int64_t step) {
  chunk.size = std::min(chunk.size, static_cast<int64_t>(bytes.size()));
  int64_t total = 0;
  try {
    ColumnReader reader(std::make_shared<MemorySource>(bytes), chunk);
    for (int64_t done = 0; done < chunk.rows; done += step) {
      const int64_t rows = std::min(step, chunk.rows - done);
      const Samples samples = reader.read(rows);
      check(samples.size() == rows, "as many samples as rows");
      sum(samples);
      total += samples.total_volume() * static_cast<int64_t>(samples.itemsize());
    }
  } catch (const Undecoded&) {
    return -1;
  }
  return total;
}

void columns() {
  Mutator mutator(11);
  size_t decoded = 0;
  for (const Codec codec : {Codec::none, Codec::snappy, Codec::gzip}) {
    for (const auto make : {column_of_bytes, column_of_numbers, column_of_truths}) {
      const Column column = make(codec);
      for (const int64_t step : {1, 3, 7, 100}) {
        check(decode(column.bytes, column.chunk, step) == column.bytes_of_values,
              "good columns are read, in steps of", step);
      }
      for (int round = 0; round < kRounds; round++) {
        const auto step = static_cast<int64_t>(1 + mutator.below(20));
        const std::string bytes = mutator.damaged(column.bytes);
        decoded += decode(bytes, column.chunk, step) >= 0;
      }
    }
  }
  check(decoded > 0, "some damage does not matter");
}

/// Blocks of Snappy's format by themselves, part of which is read on the way: literals of all
/// lengths, and copies.
void blocks() {
  constexpr size_t kSize = 30000;
  std::string text, good = varint(kSize);
  Mutator mutator(12);
  while (text.size() < kSize) {
    const size_t left = kSize - text.size();
    const size_t literal = std::min(left, 1 + mutator.below(mutator.below(3) ? 40 : 9000));
    std::string bytes;
    for (size_t k = 0; k < literal; k++) bytes += static_cast<char>(mutator.below(256));
    good += literal <= 60 ? std::string(1, static_cast<char>((literal - 1) << 2))
                          : '\xf4' + little(literal - 1, 2);
    good += bytes;
    text += bytes;
    const size_t length = std::min(kSize - text.size(), mutator.below(65));
    if (length == 0) continue;
    const size_t distance = 1 + mutator.below(std::min<size_t>(text.size(), 60000));
    good += static_cast<char>((length - 1) << 2 | 2);
    good += little(distance, 2);
    for (size_t k = 0; k < length; k++) text += text[text.size() - distance];
  }
  for (int round = 0; round < kRounds / 10; round++) {
    const std::string block = round < 50 ? good : mutator.damaged(good);
    const size_t known = mutator.below(round % 2 ? block.size() + 1 : 20) % (block.size() + 1);
    const MemorySource source(block);
    const std::unique_ptr<uint8_t[]> data(new uint8_t[known]);
    std::memcpy(data.get(), block.data(), known);
    const std::unique_ptr<uint8_t[]> out(new uint8_t[kSize + kSnappySlack]);
    const SnappyInput input{{data.get(), known},
                            &source,
                            static_cast<int64_t>(known),
                            static_cast<int64_t>(block.size() - known)};
    try {
      decompress_snappy(input, out.get(), kSize);
      check(round >= 50 || std::memcmp(out.get(), text.data(), kSize) == 0, "good blocks are read");
    } catch (const Undecoded&) {
      check(round >= 50, "good blocks are read");
    }
  }
}

}  // namespace

int main() {
  columns();
  blocks();
  return passed("parquet_test");
}
