# SPDX-License-Identifier: Apache-2.0
"""States that somebody made up: refused at once, by every object that has a state."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import daliesque as ndd
from daliesque.checkpoint import Checkpoint
from support.every_reader import CASES
from support.reader_checks import Count, epoch_of

HUGE = 10**18
DEEP = "[" * 50_000
# What to write over the fields of a valid state.
FORGED: list[dict[str, Any]] = [
    {"position": [HUGE, 0, HUGE, 0, -1, None]},
    {"position": [HUGE, 0, 0, 0, -1, None]},
    {"position": [0, 0, HUGE, 0, -1, None]},
    {"position": [0, 0, 0, HUGE, -1, None]},
    {"position": [0, HUGE, 0, 0, -1, None]},
    {"position": [0, 1 << 40, 0, 0, -1, None]},
    {"position": [0, 1, 0, 1, HUGE, None]},
    {"position": [0, 1, 0, 1, 7, None]},
    {"position": [0, 1, 0, 1, -2, None]},
    {"position": [0, -1, 0, 1, 0, None]},
    {"position": [-1, 0, 0, 0, -1, None]},
    {"position": [0, 0, 0, 0, -1, None, 0]},
    {"position": [0.0, 0, 0, 0, -1, None]},
    {"position": [True, 0, 0, 0, -1, None]},
    {"position": ["0", 0, 0, 0, -1, None]},
    {"position": [float("inf"), 0, 0, 0, -1, None]},
    {"position": None},
    {"position": "012345"},
    {"position": [0, 0, 0, 0, -1, [HUGE, 0, 1, None]]},
    {"position": [0, 0, 0, 0, -1, [0, 0, 1, None]]},
    {"position": [0, 0, 0, 0, -1, [8, 0, 1, None]]},
    {"position": [0, 0, 0, 0, -1, [2, HUGE, 1, None]]},
    {"position": [0, 0, 0, 0, -1, [2, 0, HUGE, None]]},
    {"position": [0, 0, 0, 0, -1, [2, 0, 1, [-1, 0, 0, None]]]},
    {"position": [0, 0, 0, 0, -1, [2.0, 0, 1, None]]},
    {"shard": [0, HUGE]},
    {"shard": [0, 0]},
    {"shard": [-1, 1]},
    {"shard": [0, 8]},
    {"shard": ["0", 1]},
    {"shard": 1},
    {"samples": HUGE},
    {"samples": "9" * 50_000},
    {"version": HUGE},
    {"engine": [0, HUGE]},
    {"engine": [HUGE, 1]},
    {"engine": [0, -1]},
    {"engine": [0, 0]},
    {"engine": [0, "1"]},
    {"engine": "no engine"},
    {"engine": {}},
]
TEXTS = [
    "",
    "null",
    "1e999",
    "{}",
    "no state",
    DEEP,
    '{"version":' + DEEP,
    "9" * 10_000_000,
    "{" * 10_000_000,
    base64.b64encode(b"\xff" * 40_000).decode(),
    # A state of the reference with the pass 2^63.
    base64.b64encode(b"\x0a\x0d\x0a\x011\x10" + b"\x80" * 9 + b"\x01").decode(),
    "\0" * 100,
]


def nested_remainders(depth: int) -> list[Any]:
    remainder: list[Any] | None = None
    for _ in range(depth):
        remainder = [2, 0, 1, remainder]
    return [0, 0, 0, 0, -1, remainder]


@pytest.mark.parametrize("name", CASES)
def test_every_reader_refuses_forged_states(tmp_path: Path, name: str) -> None:
    reader = CASES[name][1](tmp_path).make(random_shuffle=True)
    state = reader.get_state()
    for change in [*FORGED, {"position": nested_remainders(100)}]:
        forged = json.dumps(json.loads(state) | change)
        with pytest.raises(ValueError, match="set_state"):
            reader.set_state(forged)
    for text in TEXTS:
        with pytest.raises(ValueError, match="not the state of a reader"):
            reader.set_state(text)
        with pytest.raises(ValueError, match="not the state of a reader"):
            reader.set_state(text.encode())
    with pytest.raises(ValueError, match="not the state of a reader"):
        reader.set_state(b"\xff\xfe")
    for value in (None, 3, ["state"], {"version": 1}):
        with pytest.raises(TypeError, match="set_state needs"):
            reader.set_state(value)
    # None of them has left a trace.
    assert reader.get_state() == state


@pytest.mark.parametrize(
    "options",
    [
        {"random_shuffle": True},
        {"shuffle_after_epoch": True},
        {"random_shuffle": True, "num_shards": 2},
    ],
)
def test_positions_that_take_too_long_to_find(options: dict[str, Any]) -> None:
    """Nobody can say that these are forged, but finding them would take hours."""
    reader = Count(11, **options)
    fields = json.loads(reader.get_state())
    passes = 1 << 39
    forged = fields | {"position": [passes, 0, passes, 0, -1, None], "shard": [0, 3]}
    with pytest.raises(ValueError, match=r"lies 54975581\d* passes ahead.* more than the limit"):
        reader.set_state(json.dumps(forged))


def test_late_positions_are_taken_where_they_are_found_at_once() -> None:
    """Without a shuffle, and with the generator of draws in the state."""
    plain, late = Count(11), 10**9
    position = [late, 3, late, 3, 2, None]
    plain.set_state(json.dumps(json.loads(plain.get_state()) | {"position": position}))
    assert epoch_of(plain, 4) == [[3, 4, 5, 6], [7, 8, 9, 10]]
    drawn = Count(11, random_shuffle=True)
    fields = json.loads(drawn.get_state()) | {"position": position, "engine": [late, 12345]}
    drawn.set_state(json.dumps(fields))
    (first, second) = epoch_of(drawn, 4)
    assert len({*first, *second}) == 8


@pytest.mark.parametrize("text", ["", "0", "x" * 10_000_000, "9" * 5000, DEEP, "\0", "-1 -1 -1"])
def test_generators_refuse_forged_states(text: str) -> None:
    rng = ndd.random.RNG(seed=1)
    before = rng.get_state()
    with pytest.raises(ValueError, match=r"random\.RNG: 'state' cannot be read"):
        rng.set_state(text)
    for value in (1, None, b"1", ["1"]):
        with pytest.raises(TypeError, match=r"random\.RNG: 'state' must come"):
            rng.set_state(value)  # type: ignore[arg-type]
    assert rng.get_state() == before


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS[:9],
        '{"version":1e400,"states":{}}',
        '{"version":2,"states":{"rng":{"state":%s}}}' % ("[" * 50_000),
        '{"version":2,"states":{"rng":3}}',
    ],
)
def test_checkpoints_refuse_forged_texts(tmp_path: Path, text: str) -> None:
    checkpoint = Checkpoint()
    with pytest.raises(ValueError, match="Invalid checkpoint"):
        checkpoint.deserialize(text)
    (tmp_path / "state_0.json").write_text(text)
    with pytest.raises(ValueError, match=r"Checkpoint\.load: cannot read"):
        checkpoint.load(str(tmp_path / "state_{seq}.json"))


def test_checkpoints_are_limited_like_other_files(tmp_path: Path) -> None:
    path = tmp_path / "state_0.json"
    with path.open("wb") as file:
        file.truncate(100 << 30)
    with pytest.raises(OSError, match="more than the limit of 4294967296 bytes"):
        Checkpoint().load(str(tmp_path / "state_{seq}.json"))


class Listening:
    """An object whose state is a dict."""

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Any) -> None:
        self.state = state


@pytest.mark.parametrize("state", ["json:" + DEEP, "json:", "json:{'a': 1}"])
def test_states_in_a_checkpoint_are_data(state: str) -> None:
    checkpoint = Checkpoint()
    checkpoint.deserialize(json.dumps({"version": 2, "states": {"op": {"state": state}}}))
    with pytest.raises(ValueError, match="the state of 'op' is no JSON text"):
        checkpoint.register(Listening(), "op")


@pytest.mark.parametrize("taken", [HUGE, -1, True, 1.5, "3", None])
def test_external_sources_refuse_forged_states(taken: Any) -> None:
    source = ndd.ExternalSource(lambda: [1])
    fields = json.loads(source.get_state()) | {"taken": taken}
    with pytest.raises(ValueError, match="not the state of an ExternalSource"):
        source.set_state(json.dumps(fields))
    with pytest.raises(ValueError, match="not the state of an ExternalSource"):
        source.set_state(DEEP)
