// SPDX-License-Identifier: Apache-2.0
// What the binding files share: registration functions and argument types.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/arg_array.h"
#include "core/samples.h"

namespace nb = nanobind;

namespace daliesque {

void bind_resize(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_samples(nb::module_& m);
void bind_interop(nb::module_& m);
void bind_random(nb::module_& m);
void bind_arithmetic(nb::module_& m);
void bind_audio(nb::module_& m);
void bind_audio_file(nb::module_& m);
void bind_color(nb::module_& m);
void bind_filters(nb::module_& m);
void bind_tone(nb::module_& m);
void bind_noise(nb::module_& m);
void bind_moves(nb::module_& m);
void bind_windows(nb::module_& m);
void bind_warp(nb::module_& m);
void bind_compose(nb::module_& m);
void bind_jpeg(nb::module_& m);
void bind_tensors(nb::module_& m);
void bind_boxes(nb::module_& m);
void bind_image_decode(nb::module_& m);
void bind_files(nb::module_& m);
void bind_records(nb::module_& m);
void bind_video(nb::module_& m);
void bind_coco(nb::module_& m);

}  // namespace daliesque
