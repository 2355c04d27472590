# SPDX-License-Identifier: Apache-2.0
"""A network learns from what the gpu path delivers; the README's example runs there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import daliesque as ndd
from support.image_makers import jpeg

ROOT = Path(__file__).parent.parent.parent
CLASSES = ("columns", "rows", "squares")


def picture(kind: str, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Stripes or squares of random width, position, color and contrast, with noise."""
    height, width = rng.integers(40, 64, 2)
    step = int(rng.integers(6, 11))
    y, x = np.mgrid[:height, :width] + rng.integers(0, 20, 2)[:, None, None]
    bands = {"columns": x // step, "rows": y // step, "squares": x // step + y // step}[kind] % 2
    dark, bright = rng.uniform(0, 100, 3), rng.uniform(150, 255, 3)
    image = np.where(bands[..., None] == 1, bright, dark) + rng.normal(0, 10, (height, width, 3))
    return image.clip(0, 255).astype(np.uint8)


def make_files(folder: Path, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for kind in CLASSES:
        (folder / kind).mkdir(parents=True)
        for number in range(count):
            (folder / kind / f"{number}.jpg").write_bytes(jpeg(picture(kind, rng)))


def batches(reader: ndd.readers.File, train: bool) -> Iterator[tuple[Any, Any]]:
    for files, labels in reader.next_epoch(batch_size=30):
        images = ndd.decoders.image(files, device="gpu")
        if train:
            images = ndd.random_resized_crop(images, size=[32, 32], random_area=(0.5, 1.0))
            factors = ndd.random.uniform(range=(0.8, 1.2), batch_size=images.batch_size)
            images = ndd.brightness(images, brightness=factors)
        else:
            images = ndd.resize(images, size=[32, 32])
        mirror = ndd.random.coin_flip(batch_size=images.batch_size)
        images = ndd.crop_mirror_normalize(images, mirror=mirror, mean=[128.0], std=[64.0])
        assert str(images.device) == "gpu:0"
        yield images.torch(), labels.gpu().torch().long().reshape(-1)


def test_a_network_learns(tmp_path: Path) -> None:
    make_files(tmp_path / "train", 60, 1)
    make_files(tmp_path / "test", 20, 2)
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 12, 5, stride=2, padding=2),
        torch.nn.ReLU(),
        torch.nn.Conv2d(12, 24, 5, stride=2, padding=2),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(24, len(CLASSES)),
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    reader = ndd.readers.File(file_root=str(tmp_path / "train"), random_shuffle=True, seed=3)
    for _ in range(8):
        for images, labels in batches(reader, train=True):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(images), labels).backward()
            optimizer.step()
    right = total = 0
    with torch.no_grad():
        test = ndd.readers.File(file_root=str(tmp_path / "test"))
        for images, labels in batches(test, train=False):
            right += int((net(images).argmax(1) == labels).sum())
            total += len(labels)
    assert total == 60
    assert right / total > 0.95


def test_the_readme_runs_on_the_gpu(tmp_path: Path) -> None:
    make_files(tmp_path / "train", 64, 4)
    text = (ROOT / "README.md").read_text()
    found = re.search(r"```python\n(import daliesque as ndd\n.*?)```", text, re.DOTALL)
    assert found is not None
    example = found[1].replace("decoders.image(jpegs)", 'decoders.image(jpegs, device="gpu")')
    assert 'device="gpu"' in example
    program = f"""
shapes = []
def train_step(images, labels):
    shapes.append(tuple(images.shape))
{example.replace("range(90)", "range(1)")}
assert images.device == ndd.Device("gpu", 0)
print(shapes)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "DALIESQUE_GPU": "cpu"},
        check=False,
    )
    assert done.stdout.strip() == str([(64, 3, 224, 224)] * 3), done.stderr


def test_the_benchmark_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, str(ROOT / "benchmarks" / "ops.py"), "--device", "gpu"),
            *("--rounds", "1", "flip"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "DALIESQUE_GPU": "cpu"},
        check=False,
    )
    assert re.search(r"^flip +\d+\.\d\d", done.stdout, re.MULTILINE), done.stdout + done.stderr
