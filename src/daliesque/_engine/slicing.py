# SPDX-License-Identifier: Apache-2.0
"""`batch.slice[...]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .indexing import apply_index, parse_index
from .interception import PASSED, intercept
from .thread_state import interception

if TYPE_CHECKING:
    from .batch import Batch


class SampleSlicer:
    """`batch.slice`: index inside each sample."""

    __slots__ = ("_batch",)

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def __getitem__(self, ranges: Any) -> Batch:
        result: Batch = _SLICING.invoke((self._batch, ranges), None, None, {})
        return result


class Slicing(NamedTuple):
    """Indexing inside each sample as something that is called like an operator."""

    name: str
    is_pure: bool = True

    def invoke(
        self,
        raw_inputs: tuple[Any, ...],
        batch_size: Any,
        device: Any,
        given: dict[str, Any],
    ) -> Any:
        """The part of each sample of a batch that an index selects."""
        if interception.on:
            result = intercept(self, raw_inputs, batch_size, device, given)
            if result is not PASSED:
                return result
        batch, ranges = raw_inputs
        return apply_index(batch, parse_index(ranges, self.name, batch))


_SLICING = Slicing("Batch.slice[...]")
