// SPDX-License-Identifier: Apache-2.0
// The DLPack 1.x binary interface (https://dmlc.github.io/dlpack), as far as we need it.
#pragma once

#include <cstdint>

namespace daliesque::dlpack {

struct Version {
  uint32_t major, minor;
};

enum DeviceType : int32_t { kCPU = 1, kCUDAHost = 3 };

struct Device {
  int32_t type, id;
};

enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6 };

struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct Array {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: C order
  uint64_t byte_offset;
};

/// The unversioned exchange struct, capsule name "dltensor".
struct Managed {
  Array array;
  void* context;
  void (*deleter)(Managed*);
};

/// The versioned one, capsule name "dltensor_versioned".
struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Array array;
};

constexpr uint64_t kReadOnly = 1, kCopied = 2;

}  // namespace daliesque::dlpack
