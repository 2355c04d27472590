// SPDX-License-Identifier: Apache-2.0
#include "records/coco.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "records/json_reader.h"

namespace daliesque::records {

namespace {

struct Image {
  std::string name;
  int64_t id = 0, width = 0, height = 0;
};

struct Annotation {
  int64_t number = 0, image = 0, category = 0;
  std::array<float, 4> box{};
  std::vector<int64_t> polygon_ends;  // numbers of coordinates
  std::vector<float> coordinates;
  bool has_runs = false, bad_runs = false;
  int64_t width = 0, height = 0;  // of the mask given by runs
  std::vector<uint32_t> runs;
};

/// The file as it is, without what is not wanted.
struct CocoContents {
  std::vector<Image> images;
  std::vector<Annotation> annotations;
  std::unordered_map<int64_t, int32_t> labels;
  std::vector<int64_t> category_ids;
  std::vector<std::string> category_names;
};

/// Which keys of an entry have been seen.
class Keys {
 public:
  Keys(const char* list, int64_t entry) : list_(list), entry_(entry) {}

  void require(const char* key, bool seen) const {
    if (!seen) throw CocoMissing{list_, key, entry_};
  }

 private:
  const char* list_;
  int64_t entry_;
};

void read_images(JsonReader& json, CocoContents& out) {
  int64_t entry = 0;
  json.array([&] {
    Image image;
    bool has_name = false, has_id = false;
    json.object([&](const std::string& key) {
      if (key == "file_name") {
        image.name = json.string();
        has_name = true;
      } else if (key == "id") {
        image.id = json.integer();
        has_id = true;
      } else if (key == "width") {
        image.width = json.integer();
      } else if (key == "height") {
        image.height = json.integer();
      } else {
        json.skip();
      }
    });
    const Keys keys("images", entry++);
    keys.require("file_name", has_name);
    keys.require("id", has_id);
    out.images.push_back(std::move(image));
  });
}

void read_categories(JsonReader& json, CocoContents& out) {
  int32_t label = 0;
  json.array([&] {
    int64_t id = 0;
    bool has_id = false;
    std::string name;
    json.object([&](const std::string& key) {
      if (key == "id") {
        id = json.integer();
        has_id = true;
      } else if (key == "name" && json.peek() == '"') {
        name = json.string();
      } else {
        json.skip();
      }
    });
    Keys("categories", label).require("id", has_id);
    out.category_ids.push_back(id);
    out.category_names.push_back(std::move(name));
    out.labels.emplace(id, ++label);
  });
}

void read_polygons(JsonReader& json, Annotation& out) {
  json.array([&] {
    json.array([&] { out.coordinates.push_back(static_cast<float>(json.number())); });
    out.polygon_ends.push_back(static_cast<int64_t>(out.coordinates.size()));
  });
}

void read_runs(JsonReader& json, Annotation& out) {
  std::vector<int64_t> size;
  out.has_runs = true;
  json.object([&](const std::string& key) {
    if (key == "size") {
      json.array([&] { size.push_back(json.integer()); });
    } else if (key == "counts" && json.peek() == '"') {
      auto runs = decode_runs(json.string());
      out.bad_runs |= !runs;
      if (runs) out.runs = std::move(*runs);
    } else if (key == "counts") {
      json.array([&] {
        const int64_t run = json.integer();
        out.bad_runs |= run < 0 || run > UINT32_MAX;
        out.runs.push_back(static_cast<uint32_t>(run));
      });
    } else {
      json.skip();
    }
  });
  out.bad_runs |= size.size() != 2 || out.runs.empty();
  if (size.size() == 2) out.height = size[0], out.width = size[1];
}

void read_annotations(JsonReader& json, const CocoOptions& options, CocoContents& out) {
  int64_t entry = 0;
  json.array([&] {
    Annotation annotation;
    annotation.number = entry;
    bool has_image = false, has_category = false, crowd = false;
    size_t coordinates = 0;
    json.object([&](const std::string& key) {
      if (key == "image_id") {
        annotation.image = json.integer();
        has_image = true;
      } else if (key == "category_id") {
        annotation.category = json.integer();
        has_category = true;
      } else if (key == "iscrowd") {
        crowd = json.integer() != 0;
      } else if (key == "bbox") {
        json.array([&] {
          const auto value = static_cast<float>(json.number());
          if (coordinates < 4) annotation.box[coordinates] = value;
          coordinates++;
        });
      } else if (key == "segmentation" && options.polygons && json.peek() == '[') {
        read_polygons(json, annotation);
      } else if (key == "segmentation" && options.runs && json.peek() == '{') {
        read_runs(json, annotation);
      } else {
        json.skip();
      }
    });
    const Keys keys("annotations", entry++);
    keys.require("image_id", has_image);
    keys.require("category_id", has_category);
    keys.require("bbox", coordinates == 4);
    const auto& box = annotation.box;
    const bool large = box[2] >= options.size_threshold && box[3] >= options.size_threshold;
    if (large && (options.include_crowds || !crowd)) {
      out.annotations.push_back(std::move(annotation));
    }
  });
}

CocoContents read_contents(std::string_view text, const CocoOptions& options) {
  JsonReader json(text);
  CocoContents out;
  json.object([&](const std::string& key) {
    if (key == "images") {
      read_images(json, out);
    } else if (key == "categories") {
      read_categories(json, out);
    } else if (key == "annotations") {
      read_annotations(json, options, out);
    } else {
      json.skip();
    }
  });
  json.end();
  return out;
}

/// Puts the annotations of images together.
class Assembler {
 public:
  Assembler(const CocoContents& contents, const CocoOptions& options, CocoAnnotations& out)
      : contents_(contents), options_(options), out_(out) {}

  void add(const Image& image, const std::vector<size_t>& annotations) {
    if (options_.skip_empty && annotations.empty()) return;
    const bool sized = image.width > 0 && image.height > 0;
    if (!sized && (options_.ratio || options_.runs)) fail(CocoFault::no_size, 0, 0);
    first_vertex_ = static_cast<int64_t>(out_.vertices.size() / 2);
    const auto before = std::pair(out_.polygons.size() / 3, out_.mask_boxes.size());
    int32_t box = 0;
    for (const size_t number : annotations) {
      const Annotation& annotation = contents_.annotations[number];
      add_label(annotation);
      add_box(image, annotation, sized);
      add_polygons(image, annotation, box);
      if (annotation.has_runs) add_runs(image, annotation, box);
      box++;
    }
    out_.names.push_back(image.name);
    out_.ids.push_back(image.id);
    out_.widths.push_back(image.width);
    out_.heights.push_back(image.height);
    out_.counts.push_back(box);
    out_.polygon_counts.push_back(static_cast<int64_t>(out_.polygons.size() / 3 - before.first));
    out_.vertex_counts.push_back(static_cast<int64_t>(out_.vertices.size() / 2) - first_vertex_);
    out_.mask_counts.push_back(static_cast<int64_t>(out_.mask_boxes.size() - before.second));
  }

 private:
  void fail(CocoFault::Kind kind, int64_t annotation, int64_t value) {
    out_.faults.push_back({static_cast<int64_t>(out_.names.size()), kind, annotation, value});
  }

  void add_label(const Annotation& annotation) {
    auto label = static_cast<int32_t>(annotation.category);
    if (options_.remap_classes) {
      const auto found = contents_.labels.find(annotation.category);
      label = found == contents_.labels.end() ? 0 : found->second;
      if (label == 0) fail(CocoFault::unknown_class, annotation.number, annotation.category);
    }
    out_.labels.push_back(label);
  }

  void add_box(const Image& image, const Annotation& annotation, bool sized) {
    std::array<float, 4> box = annotation.box;
    const auto width = static_cast<float>(image.width), height = static_cast<float>(image.height);
    const float right = box[0] + box[2], bottom = box[1] + box[3];
    // Boxes may reach a little beyond the image, but NaN and boxes elsewhere are mistakes.
    if (sized && !(right >= 0 && bottom >= 0 && box[0] <= width && box[1] <= height)) {
      fail(CocoFault::box_outside, annotation.number, 0);
    }
    if (options_.ltrb) box = {box[0], box[1], right, bottom};
    for (size_t k = 0; k < 4; k++) {
      out_.boxes.push_back(options_.ratio ? box[k] / (k % 2 ? height : width) : box[k]);
    }
  }

  void add_polygons(const Image& image, const Annotation& annotation, int32_t box) {
    const auto base = static_cast<int64_t>(out_.vertices.size() / 2) - first_vertex_;
    int64_t begin = 0;
    for (const int64_t end : annotation.polygon_ends) {
      if ((end - begin) % 2) return fail(CocoFault::odd_polygon, annotation.number, end - begin);
      const auto first = static_cast<int32_t>(base + begin / 2);
      const auto last = static_cast<int32_t>(base + end / 2);
      out_.polygons.insert(out_.polygons.end(), {box, first, last});
      begin = end;
    }
    const auto width = static_cast<float>(image.width), height = static_cast<float>(image.height);
    for (size_t k = 0; k < annotation.coordinates.size(); k++) {
      const float value = annotation.coordinates[k];
      out_.vertices.push_back(options_.ratio ? value / (k % 2 ? height : width) : value);
    }
  }

  void add_runs(const Image& image, const Annotation& annotation, int32_t box) {
    uint64_t total = 0;
    for (const uint32_t run : annotation.runs) total += run;
    // In floating point, because a wrong file may hold any numbers.
    const double pixels = static_cast<double>(image.width) * static_cast<double>(image.height);
    const bool fits = annotation.width == image.width && annotation.height == image.height &&
                      static_cast<double>(total) <= pixels;
    if (annotation.bad_runs || !fits) return fail(CocoFault::bad_runs, annotation.number, 0);
    out_.mask_boxes.push_back(box);
    out_.run_counts.push_back(static_cast<int64_t>(annotation.runs.size()));
    out_.runs.insert(out_.runs.end(), annotation.runs.begin(), annotation.runs.end());
  }

  const CocoContents& contents_;
  const CocoOptions& options_;
  CocoAnnotations& out_;
  int64_t first_vertex_ = 0;
};

}  // namespace

std::optional<std::vector<uint32_t>> decode_runs(std::string_view text) {
  std::vector<uint32_t> runs;
  for (size_t at = 0; at < text.size();) {
    // Five bits in each letter, the lowest first; the sixth bit says that more follow, and the last
    // of the five is the sign. From the fourth on, runs are differences to the last but one.
    int64_t value = 0;
    int shift = 0;
    uint32_t letter;
    do {
      if (at == text.size() || shift > 35) return std::nullopt;
      letter = static_cast<uint32_t>(static_cast<uint8_t>(text[at++])) - 48;
      if (letter > 63) return std::nullopt;
      value |= static_cast<int64_t>(letter & 31) << shift;
      shift += 5;
    } while (letter & 32);
    if (letter & 16) value -= int64_t{1} << shift;
    if (runs.size() > 2) value += runs[runs.size() - 2];
    if (value < 0 || value > UINT32_MAX) return std::nullopt;
    runs.push_back(static_cast<uint32_t>(value));
  }
  return runs;
}

CocoAnnotations parse_coco(std::string_view text, const CocoOptions& options) {
  const CocoContents contents = read_contents(text, options);
  std::unordered_map<std::string_view, const Image*> by_name;
  std::unordered_map<int64_t, std::vector<size_t>> by_image;
  for (const Image& image : contents.images) {
    by_name[image.name] = &image;
    by_image[image.id];
  }
  for (size_t k = 0; k < contents.annotations.size(); k++) {
    const auto found = by_image.find(contents.annotations[k].image);
    if (found != by_image.end()) found->second.push_back(k);
  }
  CocoAnnotations out;
  out.category_ids = contents.category_ids;
  out.category_names = contents.category_names;
  Assembler assembler(contents, options, out);
  std::vector<const Image*> order;
  if (options.images) {
    for (const std::string& name : *options.images) {
      const auto found = by_name.find(name);
      found == by_name.end() ? out.unlisted.push_back(name) : order.push_back(found->second);
    }
  } else {
    for (const Image& image : contents.images) order.push_back(&image);
    std::ranges::stable_sort(order, {}, &Image::id);
  }
  for (const Image* image : order) assembler.add(*image, by_image[image->id]);
  return out;
}

}  // namespace daliesque::records
