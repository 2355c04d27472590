// SPDX-License-Identifier: Apache-2.0
// Reads damaged archives, databases and annotations. Every input lives in a block of its
// exact size, so that a sanitizer sees any access beyond it; the checks here make sure that what is
// not damaged is read, and that indices never point outside of their files.
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes.h"
#include "check.h"
#include "files/archives.h"
#include "memory_source.h"
#include "mutations.h"
#include "records/coco.h"
#include "records/coco_masks.h"
#include "records/component_index.h"
#include "records/component_reader.h"
#include "records/crc32c.h"
#include "records/datum.h"
#include "records/json_reader.h"
#include "records/lmdb_index.h"
#include "records/record_index.h"
#include "records/recordio.h"
#include "records/tfrecord.h"

using namespace daliesque;
using namespace daliesque::records;
using testing::check;
using testing::little;
using testing::MemorySource;
using testing::Mutator;
using testing::passed;
using testing::sample_of;
using testing::sum;
using testing::text_of;

namespace {

constexpr int kRounds = 20000;

files::Archives archive_of(const std::string& bytes) {
  const auto source = std::make_shared<MemorySource>(bytes);
  return files::Archives({"archive"}, [source](const std::string&) { return source; }, false, 0, 0);
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}

/// Fields of messages: bytes, and integers.
std::string field(uint64_t number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string field(uint64_t number, uint64_t value) { return varint(number << 3) + varint(value); }

std::string record(const std::string& data) {
  const auto checksum = [](const std::string& bytes) {
    return little(masked_crc(crc32c(bytes.data(), bytes.size())), 4);
  };
  const std::string length = little(data.size(), 8);
  return length + checksum(length) + data + checksum(data);
}

std::string example() {
  const auto entry = [](const std::string& name, uint64_t kind, const std::string& values) {
    return field(1, field(1, name) + field(2, field(kind, values)));
  };
  return field(1, entry("image", 1, field(1, std::string(50, 'i'))) +
                      entry("ids", 3, field(1, varint(7) + varint(~uint64_t{0}) + varint(300))) +
                      entry("box", 2, field(1, std::string(16, '?'))));
}

void tfrecords() {
  const ExampleParser parser({{"image", DType::uint8, true, {}, ""},
                              {"ids", DType::int64, false, {}, std::nullopt},
                              {"box", DType::float32, true, {4}, std::string(16, '\0')}});
  Mutator mutator(1);
  size_t read = 0;
  for (int round = 0; round < kRounds; round++) {
    std::string file;
    for (int k = 0; k < 3; k++) {
      file += record(round == 0 ? example() : mutator.damaged(example()));
    }
    // Of messages the checksums are right, so that the parser is reached; of some files not.
    if (round % 4 == 3) file = mutator.damaged(file);
    files::Archives archives = archive_of(file);
    const RecordIndex index = index_tfrecord(*archives.open(0));
    for (size_t k = 0; k < index.offsets.size(); k++) {
      const int64_t rest = static_cast<int64_t>(file.size()) - index.offsets[k];
      check(index.offsets[k] >= 0 && index.sizes[k] <= rest, "records lie in their file");
    }
    const std::vector<int64_t> files(index.offsets.size());
    std::vector<files::PieceError> unread;
    std::vector<RecordError> errors;
    for (const Samples& output :
         parser.read(archives, {files, index.offsets, index.sizes}, unread, errors)) {
      if (errors.empty()) sum(output);
    }
    read += index.offsets.size() - errors.size();
    if (round == 0) check(read == 3 && unread.empty(), "good records are read");
  }
}

void messages_of_databases() {
  const std::string datum = field(1, uint64_t{3}) + field(2, uint64_t{2}) + field(3, uint64_t{4}) +
                            field(4, std::string(24, 'p')) + field(5, uint64_t{7});
  const std::string image = field(2, uint64_t{4}) + field(6, std::string(40, 'j'));
  const std::string pixels = field(1, uint64_t{2}) + field(1, uint64_t{4}) + field(1, uint64_t{3}) +
                             field(2, uint64_t{3}) + field(5, std::string(24, 'p'));
  const std::string label = field(2, uint64_t{2}) + field(4, varint(1) + varint(2));
  const std::string weights = field(2, uint64_t{1}) + field(3, std::string(8, '\0'));
  const std::string magic = little(0xced7230a, 4);
  const std::string images = magic + little(24 + 8 + 10, 4) + little(2, 4) + std::string(20, '\0') +
                             std::string(8, '\1') + std::string(10, 'j') + std::string(2, '\0');
  Mutator mutator(2);
  const auto parts = [&](int round, const std::string& seed) {
    return sample_of(round == 0 ? seed : mutator.damaged(seed));
  };
  for (int round = 0; round < kRounds; round++) {
    std::vector<std::pair<std::vector<Samples>, std::vector<RecordError>>> results(4);
    results[0].first = parse_datums(parts(round, datum), true, true, results[0].second);
    results[1].first = parse_recordio(parts(round, images), results[1].second);
    const std::string sparse = field(1, round % 2 ? image : pixels) + field(1, label);
    results[2].first = parse_tensors(parts(round, sparse), {true, LabelType::sparse, 5, 0, false},
                                     results[2].second);
    const std::string weighted = sparse + field(1, weights) + field(1, weights);
    results[3].first = parse_tensors(
        parts(round, weighted), {true, LabelType::weighted_sparse, 5, 1, false}, results[3].second);
    for (const auto& [outputs, errors] : results) {
      check(round > 0 || errors.empty(), "good messages are read");
      for (const Samples& output : outputs) {
        if (errors.empty()) sum(output);
      }
    }
  }
}

std::string octal(size_t value, size_t digits) {
  std::string text(digits, '0');
  for (size_t k = digits; k-- > 0; value >>= 3) text[k] = static_cast<char>('0' + (value & 7));
  return text;
}

constexpr size_t kBlock = 512;

/// Makes the checksum of a header right.
void seal(std::string& file, size_t header) {
  file.replace(header + 148, 8, "        ");
  size_t total = 0;
  for (size_t k = 0; k < kBlock; k++) total += static_cast<uint8_t>(file[header + k]);
  file.replace(header + 148, 7, octal(total, 6) + '\0');
}

void add_file(std::string& file, const std::string& name, char type, const std::string& data) {
  const size_t header = file.size();
  file.append(kBlock, '\0');
  file.replace(header, name.size(), name);
  file.replace(header + 124, 11, octal(data.size(), 11));
  file[header + 156] = type;
  file.replace(header + 257, 8,
               std::string("ustar\0"
                           "00",
                           8));
  seal(file, header);
  file += data + std::string((kBlock - data.size() % kBlock) % kBlock, '\0');
}

void tar_archives() {
  std::string good;
  add_file(good, "0.jpg", '0', std::string(700, 'j'));
  add_file(good, "0.cls", '0', "1");
  add_file(good, "long", 'L', std::string(120, 'n') + ".jpg" + '\0');
  add_file(good, "short", '0', std::string(30, 'k'));
  add_file(good, "pax", 'x',
           "17 path=1/a.jpg\n"
           "12 size=005\n");
  add_file(good, "other.jpg", '0', "12345");
  good.append(2 * kBlock, '\0');
  Mutator mutator(3);
  for (int round = 0; round < kRounds; round++) {
    std::string file = round == 0 ? good : mutator.damaged(good);
    for (size_t k = 0; k + kBlock <= file.size() && round % 4; k += kBlock) {
      if (file.compare(k + 257, 5, "ustar") == 0) seal(file, k);
    }
    files::Archives archives = archive_of(file);
    ComponentIndex index({{"jpg"}, {"cls"}}, {DType::uint8, DType::uint8}, round % 2,
                         MissingComponents::stay_empty);
    std::vector<ComponentError> faults;
    index.add_tar(*archives.open(0), faults);
    index.end_file();
    check(round > 0 || (faults.empty() && index.samples() == 3), "good archives are read");
    for (size_t k = 0; k < index.offsets.size(); k++) {
      const int64_t rest = static_cast<int64_t>(file.size()) - index.offsets[k];
      check(index.sizes[k] >= 0 && index.sizes[k] <= rest, "components lie in their archive");
    }
    // What the index says must be good enough for reading by itself.
    ComponentIndex listed({{"jpg"}, {"cls"}}, {DType::uint8, DType::uint8}, true,
                          MissingComponents::stay_empty);
    const std::string text = make_index(*archives.open(0), true).text;
    listed.add_text(text_of(sample_of(round == 0 ? text : mutator.damaged(text))), faults);
    listed.end_file();
    for (const ComponentIndex* each : {&index, &listed}) {
      std::vector<int64_t> numbers;
      for (int64_t k = 0; k < each->samples(); k++) numbers.push_back(k);
      std::vector<files::PieceError> errors;
      for (const Samples& output : read_components(archives, *each, numbers, errors)) {
        if (errors.empty()) sum(output);
      }
      check(each == &listed || errors.empty(), "what was found can be read");
    }
  }
}

void databases() {
  constexpr size_t kPage = 256;
  const auto page = [&](uint64_t number, uint64_t flags, const std::vector<std::string>& nodes) {
    std::string bytes = little(number, 8) + little(0, 2) + little(flags, 2);
    std::string offsets, contents;
    for (const std::string& node : nodes) {
      contents = node + contents;
      offsets += little(kPage - contents.size(), 2);
    }
    bytes += little(16 + offsets.size(), 2) + little(kPage - contents.size(), 2) + offsets;
    return bytes + std::string(kPage - bytes.size() - contents.size(), '\0') + contents;
  };
  const auto meta = [&](uint64_t number, uint64_t transaction) {
    std::string bytes = little(number, 8) + little(0, 2) + little(8, 2) + little(0, 4);
    bytes += little(0xbeefc0de, 4) + little(1, 4) + std::string(16, '\0') + little(kPage, 4);
    bytes.resize(16 + 72 + 40, '\0');
    bytes += little(2, 8) + little(5, 8) + little(transaction, 8);
    bytes.resize(kPage, '\0');
    return bytes;
  };
  const auto leaf = [](const std::string& key, uint64_t flags, uint64_t size,
                       const std::string& data) {
    return little(size, 4) + little(flags, 2) + little(key.size(), 2) + key + data;
  };
  const auto branch = [](uint64_t number, const std::string& key) {
    return little(number, 6) + little(key.size(), 2) + key;
  };
  const std::string good = meta(0, 1) + meta(1, 2) + page(2, 1, {branch(3, ""), branch(4, "c")}) +
                           page(3, 2, {leaf("a", 0, 5, "apple"), leaf("b", 1, 200, little(5, 8))}) +
                           page(4, 2, {leaf("c", 0, 6, "cherry")}) + little(5, 8) + little(4, 8) +
                           std::string(kPage - 16, 'b');
  Mutator mutator(4);
  for (int round = 0; round < kRounds; round++) {
    const std::string file = round == 0 ? good : mutator.damaged(good);
    const MemorySource source(file);
    const LmdbIndex index = index_lmdb(source);
    check(round > 0 || (index.keys == "abc" && index.fault == LmdbFault::none),
          "good databases are read");
    for (size_t k = 0; k < index.offsets.size(); k++) {
      check(index.offsets[k] >= 0 && index.offsets[k] <= source.size() && index.sizes[k] >= 0,
            "values begin in their file");
    }
  }
}

void annotations() {
  const std::string good = R"({"info": {"a": [1, "]", {}]}, "images": [
    {"id": 1, "file_name": "a\u00e4\ud83d\ude00.jpg", "width": 20, "height": 10},
    {"id": 2, "file_name": "b.jpg", "width": 4, "height": 3},
    {"id": 3, "file_name": "c.jpg", "width": 4503599627370496, "height": 4503599627370496}],
    "annotations": [
    {"image_id": 3, "category_id": 5, "bbox": [0, 0, 4, 4], "iscrowd": 1,
     "segmentation": {"size": [4503599627370496, 4503599627370496], "counts": [2, 3]}},
    {"image_id": 1, "category_id": 5, "bbox": [1, 2.5, 3e0, 4], "iscrowd": 0,
     "segmentation": [[1, 1, 5, 1, 5, 5], [2, 2, 3, 3, 4, 4]]},
    {"image_id": 2, "category_id": 9, "bbox": [0, 0, 2, 2], "iscrowd": 1,
     "segmentation": {"size": [3, 4], "counts": [2, 3, 7]}},
    {"image_id": 2, "category_id": 9, "bbox": [0, 0, 4, 3], "iscrowd": 1,
     "segmentation": {"size": [3, 4], "counts": "137"}}], "categories": [{"id": 5}, {"id": 9}]})";
  Mutator mutator(5);
  for (int round = 0; round < kRounds; round++) {
    const Samples text = sample_of(round == 0 ? good : mutator.damaged(good));
    const CocoOptions options{0.1f,           true, round % 2 == 0, round % 3 == 0, round % 5 == 0,
                              round % 7 == 0, true, true,           std::nullopt};
    try {
      const CocoAnnotations found = parse_coco(text_of(text), options);
      check(round > 0 || (found.labels.size() == 4 && found.faults.empty()),
            "good annotations are read");
      check(found.boxes.size() == 4 * found.labels.size(), "each label has a box");
    } catch (const JsonFault& fault) {
      check(round > 0 && fault.position <= static_cast<size_t>(text.volume(0)),
            "a position in JSON");
    } catch (const CocoMissing&) {
      check(round > 0, "good annotations are complete");
    }
  }
}

void indices() {
  const std::string good = "0 100\n100\t200\r\n300 50\n";
  Mutator mutator(7);
  for (int round = 0; round < kRounds; round++) {
    const Samples text = sample_of(round == 0 ? good : mutator.damaged(good));
    std::vector<int64_t> first, second;
    const int64_t line = parse_number_pairs(text_of(text), first, second);
    check(round > 0 || (line == 0 && second == std::vector<int64_t>{100, 200, 50}),
          "good indices are read");
  }
}

}  // namespace

int main() {
  tfrecords();
  messages_of_databases();
  tar_archives();
  databases();
  annotations();
  indices();
  return passed("records_test");
}
