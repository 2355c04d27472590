// SPDX-License-Identifier: Apache-2.0
// What the binding files share: argument types. There is a file for each folder of kernels, with
// everything in that folder's namespace.
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
