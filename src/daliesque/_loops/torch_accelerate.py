# SPDX-License-Identifier: Apache-2.0
"""Lets Accelerate know when an epoch ends, where a program uses it.

`accelerator.accumulate` completes a step of the optimizer with the last batch of an epoch, even if
it has not accumulated as many as it should. Accelerate leaves loaders alone that are not torch's;
this is how such a loader takes part.
"""

from __future__ import annotations

import sys
from typing import Any


def begin_watch() -> Any:
    """What Accelerate asks whether an epoch ends; None if the program has no Accelerator."""
    states: Any = sys.modules.get("accelerate.state")
    if states is None or not states.GradientState._shared_state:
        return None
    from accelerate.data_loader import DataLoaderStateMixin

    class Watch(DataLoaderStateMixin):  # type: ignore[misc]
        """An epoch that is being delivered."""

        def __init__(self) -> None:
            self.gradient_state = states.GradientState()

    watch = Watch()
    watch.begin()
    # No sample at the end of the last batch has to be cut off: a mask says which of them count.
    watch.remainder = 0
    return watch
