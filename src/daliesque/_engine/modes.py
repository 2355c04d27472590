# SPDX-License-Identifier: Apache-2.0
"""When a call runs: the evaluation modes."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _kernels
from .thread_state import thread


class EvalMode(enum.Enum):
    """When operators run, in increasing order of synchronicity.

    A mode is also a context manager that makes it current for this thread. The default is `eager`.

    - deferred: nothing runs until a result is read.
    - eager: a call returns at once and runs in the background, in program order; one with little to
      do runs before it returns, and what goes wrong with it is raised when its result is read.
    - sync_cpu: a call returns when its work on the CPU is done.
    - sync_full: a call returns when its work on all devices is done.

    Examples
    --------
    >>> import daliesque as ndd
    >>> with ndd.EvalMode.sync_cpu:
    ...     print(ndd.EvalMode.current() > ndd.EvalMode.eager)
    True
    """

    deferred = 1
    eager = 2
    sync_cpu = 3
    sync_full = 4

    default = eager

    if TYPE_CHECKING:

        def __enter__(self) -> EvalMode: ...
        def __exit__(self, *exc_info: object) -> None: ...

    else:
        __enter__ = _kernels.StackMethod(thread, "modes", True)
        __exit__ = _kernels.StackMethod(thread, "modes", False)

    def __lt__(self, other: EvalMode) -> bool:
        return self._order(other) < 0

    def __le__(self, other: EvalMode) -> bool:
        return self._order(other) <= 0

    def __gt__(self, other: EvalMode) -> bool:
        return self._order(other) > 0

    def __ge__(self, other: EvalMode) -> bool:
        return self._order(other) >= 0

    def _order(self, other: EvalMode) -> int:
        if not isinstance(other, EvalMode):
            msg = f"cannot compare an EvalMode with {type(other).__name__}"
            raise TypeError(msg)
        return int(self.value) - int(other.value)

    @staticmethod
    def current() -> EvalMode:
        """The mode of the calling thread."""
        modes = thread.modes
        return modes[-1] if modes else EvalMode.default


# The modes in which calls may run later, to be compared by `is`: in all others they run at once.
DEFERRED = EvalMode.deferred
EAGER = EvalMode.eager


def call_in(mode: EvalMode, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a mode, which ends with it even if a `with` could be interrupted."""
    return _kernels.call_within(thread.modes, mode, function, *arguments)
