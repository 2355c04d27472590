# SPDX-License-Identifier: Apache-2.0
"""What `ray.read` refuses, where it is called, with a remedy."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
import daliesque.ray as ndr
from support.ray_data import Numbered, augment

pytestmark = pytest.mark.usefixtures("cluster")

LOCK = threading.Lock()


class Locked(Numbered):
    """A reader with an argument that no other process can have."""

    def __init__(self, lock: Any = None, **options: Any) -> None:
        super().__init__(**options)
        self.lock = lock


def make_locked() -> Any:
    lock = threading.Lock()

    def locked(images: ndd.Batch, labels: ndd.Batch) -> Any:
        with lock:
            return {"image": images, "label": labels}

    return locked


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"transform": lambda _i, _l: None},
            TypeError,
            r"must return a dict of batches, one for each column; got None\. Let it return",
        ),
        ({"transform": lambda _i, _l: 7}, TypeError, "got int 7"),
        ({"transform": lambda i, j: (i, j, i)}, TypeError, "returned 3 values without names"),
        ({"transform": lambda i, _l: {3: i}}, TypeError, "names of columns must be strings"),
        ({"transform": lambda _i, _l: {"x": object()}}, TypeError, "column 'x' must be a Batch"),
        ({"transform": lambda i, _l: {"x": i.select([0])}}, ValueError, "row for each of the 8"),
        ({"transform": lambda i, _l: {"source": i}}, ValueError, "column 'source' is made by"),
        ({"transform": lambda i: i}, TypeError, "is called with 2 batches"),
        ({"transform": 5}, TypeError, "'transform' must be a function"),
        (
            {"transform": make_locked()},
            TypeError,
            "'transform' cannot be sent to other processes: .*lock",
        ),
        (
            {"reader": Locked, "lock": LOCK},
            TypeError,
            r"the argument 'lock' of Locked cannot be sent .* when it is used",
        ),
        ({"reader": Locked(lock=LOCK)}, TypeError, "the argument 'lock' of Locked cannot be sent"),
        ({"reader": "train"}, TypeError, "'reader' must be a class of readers"),
        ({"reader": dict}, TypeError, "got dict"),
        ({"reader": Numbered(), "samples": 3}, TypeError, "Pass the class instead of the reader"),
        ({"num_shards": 2}, ValueError, "leave out 'num_shards' of the reader"),
        ({"pad_last_batch": True}, ValueError, "pass last_batch='pad'"),
        ({"samplez": 3}, TypeError, "samplez"),
        ({"batch_size": 0}, ValueError, "'batch_size' must be at least 1"),
        ({"batch_size": "8"}, TypeError, "'batch_size' must be an integer"),
        ({"num_cpus": 64}, ValueError, r"2 is the most in this cluster; got 64\. .*num_cpus=2"),
        ({"num_cpus": 0}, ValueError, "'num_cpus' must be positive"),
        ({"num_cpus": "all"}, TypeError, "'num_cpus' must be a number"),
        ({"shards": 0}, ValueError, "'shards' must be at least 1"),
        ({"last_batch": "fill"}, ValueError, "'last_batch' must be"),
        ({"errors": []}, TypeError, "'errors' must be a daliesque.ray.Errors"),
        ({"source": 5}, TypeError, "'source' must be the name of a column"),
        ({"batch_size": 50, "last_batch": "drop"}, ValueError, "Choose another 'last_batch'"),
        ({"seed": -1}, ValueError, "'seed' must be at least 0"),
    ],
    ids=lambda value: str(value)[:50] if isinstance(value, dict) else "",
)
def test_arguments(options: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments = {"reader": Numbered, "batch_size": 8, **options}
    with pytest.raises(error, match=message):
        ndr.read(**arguments)


def test_modules_that_only_this_process_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_here.py").write_text("def body(images, labels):\n    return images\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    body = importlib.import_module("only_here").body
    with pytest.raises(ImportError, match=r"import only_here, which 'transform' .*working_dir"):
        ndr.read(Numbered, batch_size=8, transform=body)


def test_data_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere") as caught:
        ndr.read(ndd.readers.File, file_root=str(tmp_path / "nowhere"), batch_size=8)
    assert "Pass absolute paths that all machines can read" in caught.value.__notes__[0]


def test_errors_of_the_body_are_those_of_the_body() -> None:
    def wrong(images: ndd.Batch, labels: ndd.Batch) -> Any:
        return {"image": ndd.resize(images, size=[1, 2, 3, 4]), "label": labels}

    with pytest.raises(ValueError, match="resize: 'size'"):
        ndr.read(Numbered, batch_size=8, transform=wrong)


def test_shapes_that_change_are_ragged_columns() -> None:
    """No error: a column may have different shapes."""

    def growing(images: ndd.Batch, labels: ndd.Batch) -> Any:
        size = 2 + int(labels.tensors[0].item()) // 8
        return {"image": ndd.resize(images, size=[size, 2]), "label": labels}

    dataset = ndr.read(Numbered, batch_size=8, transform=growing, num_cpus=1, shards=1)
    shapes = {np.shape(row["image"]) for row in dataset.take_all()}
    assert shapes == {(2 + k, 2, 3) for k in range(6)}
    assert augment.__doc__


MISSING = """
import sys, ray
import daliesque.ray as ndr
sys.path.insert(0, {tests!r})
from support.ray_data import Numbered
environment = {{"env_vars": {{"PYTHONPATH": {folder!r}}}}}
ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False,
         runtime_env=environment, object_store_memory=100 << 20)
try:
    ndr.read(Numbered, batch_size=8)
except ImportError as error:
    print("refused:", error)
"""


@pytest.mark.parametrize(
    ("package", "message"),
    [
        (
            "raise ModuleNotFoundError(\"No module named 'daliesque'\", name='daliesque')",
            "the workers of the cluster cannot import daliesque. Install it on all machines, or "
            "let Ray do that: ray.init(runtime_env={'pip': ['daliesque[ray]']}).",
        ),
        ("__version__ = '0.0.1'", "the workers of the cluster have daliesque 0.0.1, this process"),
    ],
)
def test_workers_without_the_package(package: str, message: str, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    (packages / "daliesque").mkdir(parents=True)
    (packages / "daliesque" / "__init__.py").write_text(package)
    tests = str(Path(__file__).parents[2])
    program = textwrap.dedent(MISSING).format(tests=tests, folder=str(packages))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert message in done.stdout, done.stderr[-2000:]
