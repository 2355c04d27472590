# SPDX-License-Identifier: Apache-2.0
"""Samples that tasks on any machine left out, in one list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import ray


class SampleFault(NamedTuple):
    """A sample that was left out: where it came from, the class of the error, and what it said."""

    source: str
    kind: str
    message: str


class _List:
    """Lives in an actor. Tasks that are run again report the same samples again."""

    def __init__(self) -> None:
        self._faults: dict[str, SampleFault] = {}

    def add(self, faults: Sequence[SampleFault]) -> int:
        for fault in faults:
            self._faults.setdefault(fault.source, fault)
        return len(self._faults)

    def faults(self) -> list[SampleFault]:
        return sorted(self._faults.values())


class Errors:
    """A list of the samples that were left out with `on_error="skip"`, on any machine, each once.

    Pass it to `ray.read` or `ray.Transform`, and look into it whenever you like.

    Examples
    --------
    >>> import daliesque.ray as ndr
    >>> errors = ndr.Errors()
    >>> errors.list()
    []
    """

    def __init__(self) -> None:
        self._actor: Any = ray.remote(num_cpus=0)(_List).remote()

    def list(self) -> list[SampleFault]:
        """Return the samples, ordered by where they came from."""
        found: list[SampleFault] = ray.get(self._actor.faults.remote())
        return found

    def __len__(self) -> int:
        return len(self.list())

    def __bool__(self) -> bool:
        return True

    def _report(self, faults: Sequence[SampleFault]) -> None:
        # Waited for: whoever has seen the end of an epoch sees all of its errors.
        ray.get(self._actor.add.remote(list(faults)))
