// SPDX-License-Identifier: Apache-2.0
#include "bind/bind.h"

NB_MODULE(_kernels, m) {
  m.doc() = "Native core: batches, buffers, threads and kernels. Not for direct use.";
  nb::set_leak_warnings(false);
  daliesque::bind_runtime(m);
  daliesque::bind_samples(m);
  daliesque::bind_interop(m);
  daliesque::bind_random(m);
  daliesque::bind_arithmetic(m);
  daliesque::bind_audio(m);
  daliesque::bind_audio_file(m);
  daliesque::bind_color(m);
  daliesque::bind_filters(m);
  daliesque::bind_tone(m);
  daliesque::bind_noise(m);
  daliesque::bind_moves(m);
  daliesque::bind_windows(m);
  daliesque::bind_warp(m);
  daliesque::bind_compose(m);
  daliesque::bind_tensors(m);
  daliesque::bind_boxes(m);
  daliesque::bind_resize(m);
  daliesque::bind_jpeg(m);
  daliesque::bind_image_decode(m);
  daliesque::bind_files(m);
  daliesque::bind_records(m);
  daliesque::bind_video(m);
  daliesque::bind_coco(m);
}
