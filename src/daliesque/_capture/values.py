# SPDX-License-Identifier: Apache-2.0
"""Batches that know where in a captured step they come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from .._engine.batch import Batch
from .._engine.samples import Samples

if TYPE_CHECKING:
    from .._engine.invocation import Invocation
    from .plan import Producer


class Origin(NamedTuple):
    """Output number `output` of a call or source, in step number `step` of a loop."""

    producer: Producer
    output: int
    step: int


class CapturedBatch(Batch):
    """A batch that a capture-mode loop made: of its source, or the result of a captured call.

    It is a Batch like any other, which may be kept and used anywhere.

    Examples
    --------
    >>> source = ndd.ExternalSource([ndd.batch([1, 2]), ndd.batch([3, 4])])
    >>> for numbers in source.captured(batch_size=2):
    ...     doubled = numbers * 2
    ...     print(isinstance(doubled, ndd.capture.CapturedBatch), doubled.tolist())
    True [2, 4]
    True [6, 8]
    """

    __slots__ = ("_origin",)

    # Where the batch comes from; None if it was made by the user.
    _origin: Origin | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._origin = None

    # What is made of a captured batch outside of captured calls is no captured batch.
    @classmethod
    def _of(cls, samples: Samples, source: Sequence[Any] | None = None) -> Self:
        return Batch._of(samples, source)  # type: ignore[return-value]

    @classmethod
    def _promised(
        cls, pending: Invocation, output: int, count: int, source: Sequence[Any] | None = None
    ) -> Self:
        return Batch._promised(pending, output, count, source)  # type: ignore[return-value]

    def _data(self) -> Samples:
        origin = self._origin
        if origin is not None:
            # Somebody reads it: it has to be kept in later steps.
            origin.producer.wanted[origin.output] = True
        return super()._data()


def captured(batch: Batch, origin: Origin) -> CapturedBatch:
    """A captured batch with the data of another one."""
    made = CapturedBatch.__new__(CapturedBatch)
    # In this order: another thread may be storing the data.
    made._pending = batch._pending
    made._samples = batch._samples
    made._output = batch._output
    made._count = batch._count
    made._source = batch._source
    made._origin = origin
    return made


def plain(batch: Batch) -> Batch:
    """An ordinary batch with the same data; whoever reads it does not read the captured one."""
    made = Batch.__new__(Batch)
    # In this order: another thread may be storing the data.
    made._pending = batch._pending
    made._samples = batch._samples
    made._output = batch._output
    made._count = batch._count
    made._source = batch._source
    return made
