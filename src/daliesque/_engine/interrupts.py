# SPDX-License-Identifier: Apache-2.0
"""What happens as a whole although KeyboardInterrupt comes out of any bytecode.

A signal handler runs between any two bytecodes of the main thread: also in `finally`, between the
exit of a `with` and what follows, and between the last statement of a function and its return. So a
function that hands out something which is there only once first prepares everything, without
changing what others see, and then native code makes the changes and returns the result.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

from .. import _kernels

# A function written in C, with its arguments.
Step: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]
Steps: TypeAlias = tuple[Step, ...]

Function = TypeVar("Function", bound=Callable[..., Any])


def two_phase(prepare: Function) -> Function:
    """A method that prepares, and whose changes are then made as a whole.

    It returns a result, the `Steps` that make the changes, and an exception to raise instead, or
    None. An object has one `_mutex`, a `_kernels.Mutex`: its methods wait for each other.
    """
    method = _kernels.two_phase(prepare)
    functools.update_wrapper(cast(Any, method), prepare)
    return cast(Function, method)
