// SPDX-License-Identifier: Apache-2.0
// References to functions and lambdas, for code that is compiled once for all of them.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace daliesque {

template <class Signature>
class FunctionRef;

/// Refers to something callable, which must outlive it: an argument of a call does.
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, FunctionRef>)
  FunctionRef(Function&& function)
      : function_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* given, Args... args) -> Result {
          return static_cast<Result>(
              (*static_cast<std::remove_reference_t<Function>*>(given))(args...));
        }) {}

  Result operator()(Args... args) const { return call_(function_, args...); }

 private:
  void* function_;
  Result (*call_)(void*, Args...);
};

}  // namespace daliesque
