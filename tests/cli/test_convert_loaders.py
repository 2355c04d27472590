# SPDX-License-Identifier: Apache-2.0
"""Iterators for frameworks become a class of the script, with the same epochs."""

from __future__ import annotations

import numpy as np
import pytest

from daliesque._cli.convert.script import convert_text
from support.converted import make_data, run_program

LOADERS = """
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy


@pipeline_def
def load(root, num_shards, pad):
    jpegs, labels = fn.readers.file(
        file_root=root, name="Reader", num_shards=num_shards, pad_last_batch=pad
    )
    return fn.resize(fn.decoders.image(jpegs), size=(4, 5)), labels


def epochs(policy, pad=False, shards=1):
    pipe = load(DATA + "/images", shards, pad, batch_size=3, num_threads=1, device_id=None)
    loader = DALIClassificationIterator(
        [pipe], reader_name="Reader", last_batch_policy=policy, auto_reset=True
    )
    length = len(loader)
    found = []
    for _ in range(3):
        labels = []
        for data in loader:
            labels.append(data[0]["label"].squeeze(-1).tolist())
            assert data[0]["data"].shape[1:] == (4, 5, 3)
        found.append(labels)
    return length, found


RESULT = {
    "fill": epochs(LastBatchPolicy.FILL),
    "partial": epochs(LastBatchPolicy.PARTIAL),
    "drop": epochs(LastBatchPolicy.DROP),
    "padded": epochs(LastBatchPolicy.PARTIAL, pad=True),
    "padded shards": epochs(LastBatchPolicy.FILL, pad=True, shards=2),
    "shards": epochs(LastBatchPolicy.FILL, shards=2),
    "dropped shards": epochs(LastBatchPolicy.DROP, shards=2),
}
"""
# What the reference's iterators deliver: seven samples with the labels 0 0 0 1 1 1 1.
EPOCHS = {
    "fill": (
        3,
        [[[0, 0, 0], [1, 1, 1], [1, 0, 0]], [[0, 1, 1], [1, 1, 0]], [[0, 0, 1], [1, 1, 1]]],
    ),
    "partial": (
        3,
        [
            [[0, 0, 0], [1, 1, 1], [1]],
            [[0, 1, 1], [1, 1, 0], [0]],
            [[1, 1, 1], [0, 0, 0], [1]],
        ],
    ),
    "drop": (
        2,
        [[[0, 0, 0], [1, 1, 1]], [[0, 1, 1], [1, 1, 0]], [[1, 1, 1], [0, 0, 0]]],
    ),
    "padded": (3, [[[0, 0, 0], [1, 1, 1], [1]]] * 3),
    "padded shards": (
        2,
        [[[0, 0, 0], [0, 0, 0]], [[1, 1, 1], [1, 1, 1]], [[0, 0, 0], [0, 0, 0]]],
    ),
    "shards": (2, [[[0, 0, 0], [1, 1, 1]], [[1, 0, 0]], [[0, 1, 1]]]),
    "dropped shards": (1, [[[0, 0, 0]], [[1, 1, 1]], [[1, 0, 0]]]),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def found(data: str) -> dict[str, tuple[int, list[list[list[int]]]]]:
    result = convert_text(LOADERS)
    assert result.work == []
    epochs: dict[str, tuple[int, list[list[list[int]]]]] = run_program(result.text, data)
    return epochs


@pytest.mark.parametrize("policy", sorted(EPOCHS))
def test_epochs_are_those_of_the_reference(
    policy: str, found: dict[str, tuple[int, list[list[list[int]]]]]
) -> None:
    assert found[policy] == EPOCHS[policy]


def test_sources_that_end_are_reset(data: str) -> None:
    text = """
import numpy as np
from nvidia.dali import fn, pipeline_def
from nvidia.dali.plugin.pytorch import DALIGenericIterator


def numbers():
    for i in range(3):
        yield np.full((2, 1), i, np.int32)


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def load():
    return fn.external_source(source=numbers, cycle="raise") + 1


loader = DALIGenericIterator(load(), ["x"], auto_reset=True, dynamic_shape=True)
RESULT = [[batch[0]["x"].flatten().tolist() for batch in loader] for _ in range(2)]
"""
    result = convert_text(text)
    assert result.work == []
    assert run_program(result.text, data) == [[[1, 1], [2, 2], [3, 3]]] * 2


def test_decorator_for_jax(data: str) -> None:
    text = """
from nvidia.dali import fn
from nvidia.dali.plugin.jax import data_iterator


@data_iterator(output_map=["image", "label"], reader_name="Reader", auto_reset=True)
def load(root):
    jpegs, labels = fn.readers.file(file_root=root, name="Reader")
    return fn.resize(fn.decoders.image(jpegs), size=(4, 5)), labels


loader = load(DATA + "/images", batch_size=4, num_threads=1)
RESULT = [(batch["image"], batch["label"]) for batch in loader]
"""
    result = convert_text(text)
    assert result.work == []
    (images, labels), (more, _) = run_program(result.text, data)
    assert images.shape == more.shape == (4, 4, 5, 3)
    assert type(images).__module__.startswith("jax")
    assert np.asarray(labels).tolist() == [[0], [0], [0], [1]]


def test_definition_and_use_in_different_files(data: str) -> None:
    definition = convert_text(
        "from nvidia.dali import fn, pipeline_def\n"
        "@pipeline_def\n"
        "def load(root):\n"
        "    jpegs, labels = fn.readers.file(file_root=root, name='Reader')\n"
        "    return jpegs, labels\n"
    )
    use = convert_text(
        "from nvidia.dali.plugin.pytorch import DALIGenericIterator\n"
        "pipe = load(DATA + '/images', batch_size=7, num_threads=1, device_id=0, seed=3)\n"
        "loader = DALIGenericIterator(pipe, ['data', 'label'], reader_name='Reader')\n"
        "pipe = loader.pipelines[0]\n"
        "RESULT = [len(loader), next(pipe)[1].torch().flatten().tolist()]\n"
    )
    assert definition.work == use.work == []
    assert run_program(definition.text + use.text, data) == [1, [0, 0, 0, 1, 1, 1, 1]]
