# SPDX-License-Identifier: Apache-2.0
"""The generator: draws and states against published vectors and the recorded reference."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.random_calls import load_record

GENERATORS = load_record()[0]["generators"]


@pytest.mark.parametrize("record", GENERATORS, ids=lambda record: record["seed"])
def test_draws_and_states_are_those_of_the_reference(record: dict[str, Any]) -> None:
    rng = ndd.random.RNG(seed=int(record["seed"]))
    assert [rng() for _ in range(9)] == record["draws"]
    states = [str(rng.state)]
    for steps in [0, 1, 2, 3, 1000, 2**40 + 1]:
        rng.advance(steps)
        states.append(str(rng.state))
    assert states == record["states"]
    assert rng() == record["next"]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("0000000000000000_0000000000000000:0000000000000000", "6627e8d5e169c58dbc57ac4c9b00dbd8"),
        ("ffffffffffffffff_ffffffffffffffff:ffffffffffffffff", "408f276d41c83b0ea20bc7c66d5451fd"),
        ("299f31d0a4093822_0370734413198a2e:85a308d3243f6a88", "d16cfe0994fdcceb5001e42024126ea1"),
    ],
)
def test_published_vectors(state: str, words: str) -> None:
    """Known answers for philox4x32-10 from its authors (Random123, kat_vectors)."""
    rng = ndd.random.RNG(state=f"Philox_{state}_0")
    assert "".join(f"{rng():08x}" for _ in range(4)) == words


def test_advance_equals_draws() -> None:
    for offset in range(5):
        for steps in (0, 1, 2, 3, 4, 5, 11, np.int64(2), np.uint64(3)):
            skipping, drawing = ndd.random.RNG(seed=7), ndd.random.RNG(seed=7)
            for rng in (skipping, drawing):
                for _ in range(offset):
                    rng()
            skipping.advance(steps)
            for _ in range(int(steps)):
                drawing()
            assert str(skipping.state) == str(drawing.state)
            assert skipping() == drawing()


def test_advance_carries_into_the_high_counter() -> None:
    rng = ndd.random.RNG(state="Philox_0000000000000001_0000000000000005:FFFFFFFFFFFFFFFF_3")
    rng()
    assert str(rng.state) == "Philox_0000000000000001_0000000000000006:0000000000000000_0"
    rng.advance(2**64 - 1)
    assert str(rng.state) == "Philox_0000000000000001_0000000000000006:3FFFFFFFFFFFFFFF_3"


def test_state_restores() -> None:
    rng = ndd.random.RNG(seed=1234)
    rng.advance(5)
    state = rng.get_state()
    expected = [rng() for _ in range(5)]
    other = ndd.random.RNG(state=state)
    assert [other() for _ in range(5)] == expected
    rng.set_state(state)
    assert [rng() for _ in range(5)] == expected
    rng.state = state
    assert [rng() for _ in range(5)] == expected


def test_clones_and_copies_go_the_same_way_independently() -> None:
    rng = ndd.random.RNG(seed=3)
    rng()
    copies = [rng.clone(), copy.copy(rng), copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))]
    expected = [rng() for _ in range(4)]
    for other in copies:
        assert [other() for _ in range(4)] == expected


def test_state_is_text() -> None:
    state = ndd.random.RNG(seed=3).get_state()
    assert type(state) is str
    assert state == ndd.random.RNG(seed=3).state
    assert state != ndd.random.RNG(seed=4).state


def test_repr_recreates() -> None:
    rng = ndd.random.RNG(seed=3)
    rng.advance(9)
    assert repr(rng) == "RNG(state='Philox_0000000000000003_0000000000000000:0000000000000002_1')"
    assert eval(repr(rng), {"RNG": ndd.random.RNG})() == rng()


def test_seed_is_taken_modulo_2_to_the_64() -> None:
    assert ndd.random.RNG(seed=-1)() == ndd.random.RNG(seed=2**64 - 1)()
    assert ndd.random.RNG(seed=np.int64(5))() == ndd.random.RNG(seed=2**64 + 5)()


def test_seed_resets_and_cannot_be_read() -> None:
    rng = ndd.random.RNG(seed=1)
    first = rng()
    rng()
    rng.seed = 1
    assert rng() == first
    with pytest.raises(AttributeError, match="write-only"):
        _ = rng.seed


def test_unseeded_generators_follow_pythons_random_module() -> None:
    before = random.getstate()
    try:
        random.seed(5)
        expected = random.randint(0, 2**64 - 1)
        random.seed(5)
        assert ndd.random.RNG()() == ndd.random.RNG(seed=expected)()
    finally:
        random.setstate(before)


def test_default_generator_belongs_to_the_thread() -> None:
    ndd.random.set_seed(11)
    rng = ndd.random.get_default_rng()
    assert ndd.random.get_default_rng() is rng
    found: list[Any] = []

    def work() -> None:
        found.append(ndd.random.get_default_rng())
        ndd.random.set_seed(12)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found[0] is not rng
    assert rng() == ndd.random.RNG(seed=11)()


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("", ValueError),
        ("Philox", ValueError),
        ("Philox_0000000000000001_0000000000000005:FFFFFFFFFFFFFFFF_4", ValueError),
        ("Philox_000000000000000g_0000000000000005:FFFFFFFFFFFFFFFF_0", ValueError),
        ("Philox_-000000000000001_0000000000000005:FFFFFFFFFFFFFFFF_0", ValueError),
        ("Philox_0000000000000001_0000000000000005_FFFFFFFFFFFFFFFF_0", ValueError),
        (5, TypeError),
        (b"Philox", TypeError),
    ],
)
def test_bad_states(state: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"random\.RNG: 'state'"):
        ndd.random.RNG(state=state)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="both"):
        ndd.random.RNG(seed=0, state="")
    with pytest.raises(TypeError, match=r"random\.RNG: 'seed' must be an integer; got 1\.5"):
        ndd.random.RNG(seed=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="negative"):
        ndd.random.RNG(seed=0).advance(-1)
    with pytest.raises(ValueError, match=r"2\*\*64"):
        ndd.random.RNG(seed=0).advance(2**64)
    with pytest.raises(TypeError):
        ndd.random.RNG(seed=0).advance(1.5)  # type: ignore[arg-type]
