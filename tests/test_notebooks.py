# SPDX-License-Identifier: Apache-2.0
"""Notebooks in the style of the reference's run unedited: the calls of its examples are here.

`tools/notebooks.py` runs the reference's own, where there is a copy of its repository.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from support.example_data import make_example_data

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import notebooks  # noqa: E402

IMPORTS = """
import os
from pathlib import Path
from subprocess import call
import numpy as np
import nvidia.dali.experimental.dynamic as ndd
from nvidia.dali import types
import nvidia.dali.tfrecord as tfrec
data = Path(os.environ["DALI_EXTRA_PATH"]) / "db"
"""

NOTEBOOKS = {
    "records": [
        """
encoded, label = next(ndd.readers.Caffe(path=data / "lmdb", random_shuffle=True).next_epoch())
image = ndd.decoders.image(encoded, device="gpu", output_type=types.RGB)
erased = ndd.erase(image, anchor=[0.3, 0.2], shape=[0.5, 0.6], normalized_anchor=True,
                   normalized_shape=True, axis_names="HW")
matrix = ndd.Tensor([[1.0, 0.8, 0.0], [0.0, 1.2, 0.0]])
warped = ndd.warp_affine(image, matrix=matrix, interp_type=types.INTERP_LINEAR)
pasted = ndd.paste(image, ratio=2.0, fill_value=(55, 155, 155), paste_x=0.1, paste_y=0.7)
assert warped.shape == image.shape and erased.cpu().shape == image.shape
assert pasted.shape[0] == 2 * image.shape[0]
""",
        """
Path("idx_files").mkdir()
index = Path("idx_files/train.idx")
assert call(["tfrecord2idx", str(data / "tfrecord" / "train"), str(index)]) == 0
assert call(["wds2idx", str(data / "webdataset" / "train.tar"), "train.idx"]) == 0
assert call(["rec2idx", str(data / "recordio" / "train.rec"), "rec.idx"]) == 0
reader = ndd.readers.TFRecord(
    path=str(data / "tfrecord" / "train"), index_path=str(index),
    features={"image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
              "image/class/text": tfrec.FixedLenFeature([], tfrec.string, "")})
%matplotlib inline
for batch in reader.next_epoch(batch_size=16):
    images = ndd.decoders.image(batch["image/encoded"], device="gpu")
    resized = ndd.resize(images, resize_shorter=256.0)
    output = ndd.crop_mirror_normalize(resized, dtype=ndd.float32, crop=(224, 224))
    texts = {"".join(map(chr, np.asarray(text))) for text in batch["image/class/text"]}
    break
assert output.shape[0] == (3, 224, 224) and texts == {"cat", "dog"}
""",
        """
archive = ndd.readers.Webdataset(paths=data / "webdataset" / "train.tar", index_paths="train.idx",
                                 ext=["jpg", "cls"], missing_component_behavior="error")
records = ndd.readers.MXNet(path=[data / "recordio" / "train.rec"], index_path=["rec.idx"])
for (_, cls), (_, labels) in zip(archive.next_epoch(16), records.next_epoch(16)):
    found = [int(bytes(np.asarray(text))) for text in cls]
    assert found == [int(label[0].item()) for label in labels]
""",
    ],
    "checkpoint": [
        """
options = dict(file_root=str(data / "single" / "mixed"), random_shuffle=True,
               enable_checkpointing=True, name="image_reader")
reader, rng = ndd.readers.File(**options, seed=1234), ndd.random.RNG(seed=42)
ckpt = ndd.checkpoint.current()
ckpt.register(reader, "image_reader")
ckpt.register(rng, "rng")
epoch = reader.next_epoch(batch_size=8)
next(epoch)
ckpt.collect()
ckpt.save("ndd_checkpoint_{seq:04d}.json")
_, expected = next(epoch)
""",
        """
restored = ndd.readers.File(**options)
other = ndd.checkpoint.Checkpoint()
other.load("ndd_checkpoint_{seq:04d}.json")
other.register(restored, "image_reader")
_, labels = next(restored.next_epoch(batch_size=8))
assert np.array_equal(np.asarray(labels), np.asarray(expected))
""",
    ],
    "videos": [
        """
path = data / "optical_flow" / "sintel_trailer" / "sintel_trailer_short.mp4"
reader = ndd.readers.Video(device="gpu", filenames=str(path), sequence_length=4,
                           file_list_include_preceding_frame=True)
video = reader()
of = ndd.optical_flow(video, output_grid=4).cpu()
assert of.shape == (3, -(-video.shape[1] // 4), -(-video.shape[2] // 4), 2)
""",
    ],
}


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data, and the commands that the package installs."""
    folder = tmp_path_factory.mktemp("examples")
    notebooks.make_commands(folder / "commands")
    return make_example_data(folder)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook(name: str, stand_ins: Path, tmp_path: Path) -> None:
    cells = [IMPORTS, *NOTEBOOKS[name]]
    text = {"cells": [{"cell_type": "code", "source": [cell]} for cell in cells]}
    path = tmp_path / f"{name}.ipynb"
    path.write_text(json.dumps(text))
    (tmp_path / "other.ipynb").write_text('{"cells": []}')
    assert notebooks.find_notebooks(tmp_path) == [path]
    outcome = notebooks.run_notebook(path, stand_ins, stand_ins / "commands")
    assert outcome.error == "", outcome.text


def test_errors_name_the_cell(stand_ins: Path, tmp_path: Path) -> None:
    path = tmp_path / "wrong.ipynb"
    cell = {"cell_type": "code", "source": ["1 / 0"]}
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": ["x = 1"]}, cell]}))
    outcome = notebooks.run_notebook(path, stand_ins, stand_ins / "commands")
    assert outcome.error == "cell 1: ZeroDivisionError: division by zero"
