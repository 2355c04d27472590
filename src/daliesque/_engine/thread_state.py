# SPDX-License-Identifier: Apache-2.0
"""What a thread has chosen for its calls: mode, context, device, stream and capture."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .ahead import Ahead
    from .context import EvalContext
    from .device import Device
    from .interception import Recorder, Watcher
    from .modes import EvalMode
    from .stream import Stream


class ThreadState(threading.local):
    """The choices of one thread. Lists hold what was entered by `with`, the innermost last."""

    def __init__(self) -> None:
        self.modes: list[EvalMode] = []
        self.contexts: list[EvalContext] = []
        self.devices: list[Device] = []
        self.stream: Stream | None = None
        # Who makes the calls of this thread: the capture-mode loop whose body it is in.
        self.recorder: Recorder | None = None
        # What is used outside of all contexts, for each device.
        self.default_contexts: dict[int | None, EvalContext] = {}
        # The default context while no device was entered: the usual case, kept at hand.
        self.plain_context: EvalContext | None = None
        # What this thread's loop has moved, if it runs ahead of a consumer.
        self.ahead: Ahead | None = None
        # Whether the call that is being made is watched already.
        self.watched = False


thread = ThreadState()


class Interception:
    """Whether anybody looks at calls before they are made; see `interception`."""

    # Whether a loop was captured, or a value marked, in this process, or somebody watches.
    on = False
    # Whether a value was marked.
    marks = False
    # Who watches the calls of all threads.
    watchers: tuple[Watcher, ...] = ()
    # Who wants to know when a device began and ended a call, by functions that say it.
    spans: Callable[[str, Callable[[], int], Callable[[], int]], None] | None = None


interception = Interception()
