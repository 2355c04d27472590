// SPDX-License-Identifier: Apache-2.0
#include "core/dtype.h"

namespace daliesque {

const char* dtype_name(DType type) {
  switch (type) {
    case DType::uint8:
      return "uint8";
    case DType::uint16:
      return "uint16";
    case DType::uint32:
      return "uint32";
    case DType::uint64:
      return "uint64";
    case DType::int8:
      return "int8";
    case DType::int16:
      return "int16";
    case DType::int32:
      return "int32";
    case DType::int64:
      return "int64";
    case DType::float16:
      return "float16";
    case DType::float32:
      return "float32";
    case DType::float64:
      return "float64";
    case DType::boolean:
      return "bool";
    case DType::bfloat16:
      return "bfloat16";
    case DType::image_type:
      return "ImageType";
    case DType::data_type:
      return "DataType";
    case DType::interp_type:
      return "InterpType";
  }
  return "unknown";
}

}  // namespace daliesque
