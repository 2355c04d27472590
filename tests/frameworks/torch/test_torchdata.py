# SPDX-License-Identifier: Apache-2.0
"""torchdata with `pytorch.DataLoader`: its nodes and its loader take ours as what they iterate."""

from __future__ import annotations

from typing import Any

import pytest
from torchdata.nodes import IterableWrapper, Loader
from torchdata.stateful_dataloader import StatefulDataLoader

from support import framework_training as training


def plain(batches: Any) -> list[Any]:
    return list(map(training.to_plain, batches))


@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")
def test_a_stateful_loader_around_ours() -> None:
    """Its state holds that of our data set."""
    whole = plain(training.make_loader())

    def make() -> Any:
        return StatefulDataLoader(training.make_loader().as_torch().dataset, batch_size=None)

    loader = make()
    batches = iter(loader)
    for done in range(1, 5):
        next(batches)
        other = make()
        other.load_state_dict(loader.state_dict())
        assert plain(other) == whole[done:]


def test_a_node_around_ours() -> None:
    whole = plain(training.make_loader())

    def make() -> Any:
        return Loader(IterableWrapper(training.make_loader()), restart_on_stop_iteration=False)

    loader = make()
    batches = iter(loader)
    for done in range(1, 5):
        next(batches)
        other = make()
        other.load_state_dict(loader.state_dict())
        assert plain(other) == whole[done:]
