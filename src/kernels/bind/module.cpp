// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace daliesque {

void bind_arrow(nb::module_& m);
void bind_core(nb::module_& m);
void bind_calls(nb::module_& m);
void bind_channel(nb::module_& m);
void bind_interop(nb::module_& m);
void bind_interrupts(nb::module_& m);
void bind_meters(nb::module_& m);
void bind_plans(nb::module_& m);

namespace random {
void bind_random(nb::module_& m);
}

namespace tensor {
void bind_tensor(nb::module_& m);
}

namespace image {
void bind_image(nb::module_& m);
void bind_augment(nb::module_& m);
}  // namespace image

namespace resize {
void bind_resize(nb::module_& m);
}

namespace jpeg {
void bind_jpeg(nb::module_& m);
}

namespace decode {
void bind_decode(nb::module_& m);
}

namespace audio {
void bind_audio(nb::module_& m);
}

namespace boxes {
void bind_boxes(nb::module_& m);
}

namespace files {
void bind_files(nb::module_& m);
}

namespace parquet {
void bind_parquet(nb::module_& m);
}

namespace records {
void bind_records(nb::module_& m);
void bind_coco(nb::module_& m);
}  // namespace records

}  // namespace daliesque

NB_MODULE(_kernels, m) {
  m.doc() = "Native core: batches, buffers, threads and kernels. Not for direct use.";
  nb::set_leak_warnings(false);
  daliesque::bind_core(m);
  daliesque::bind_interop(m);
  daliesque::bind_arrow(m);
  daliesque::bind_calls(m);
  daliesque::bind_channel(m);
  daliesque::bind_interrupts(m);
  daliesque::bind_meters(m);
  daliesque::bind_plans(m);
  daliesque::random::bind_random(m);
  daliesque::tensor::bind_tensor(m);
  daliesque::image::bind_image(m);
  daliesque::image::bind_augment(m);
  daliesque::resize::bind_resize(m);
  daliesque::jpeg::bind_jpeg(m);
  daliesque::decode::bind_decode(m);
  daliesque::audio::bind_audio(m);
  daliesque::boxes::bind_boxes(m);
  daliesque::files::bind_files(m);
  daliesque::records::bind_records(m);
  daliesque::records::bind_coco(m);
  daliesque::parquet::bind_parquet(m);
}
