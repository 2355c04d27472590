# SPDX-License-Identifier: Apache-2.0
"""Converted scripts: they run, keep what they had, and say what is left to do."""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import numpy as np
import pytest

from daliesque._cli import main
from daliesque._cli.convert.script import convert_text, find_work
from support.converted import SCRIPTS, make_data, run_program

ALL = sorted(path.stem for path in SCRIPTS.glob("*.txt"))


def script(name: str) -> str:
    return (SCRIPTS / f"{name}.txt").read_text()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_data(tmp_path_factory.mktemp("data"))


def comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sorted(token.string for token in tokens if token.type == tokenize.COMMENT)


def body(text: str, pipeline: str) -> str:
    """The code of a function of a converted program."""
    module = ast.parse(convert_text(text).text)
    found = [n for n in ast.walk(module) if isinstance(n, ast.FunctionDef) and n.name == pipeline]
    return ast.unparse(found[0])


HEAD = "from nvidia.dali import fn, pipeline_def, types\n"


@pytest.mark.parametrize("name", ALL)
def test_runs_with_nothing_left_to_do(name: str, data: str) -> None:
    result = convert_text(script(name))
    assert result.work == []
    assert "nvidia" not in result.text
    assert len(run_program(result.text, data)) > 0


@pytest.mark.parametrize("name", ALL)
def test_comments_survive(name: str) -> None:
    assert set(comments(script(name))) <= set(comments(convert_text(script(name)).text))


@pytest.mark.parametrize("name", ALL)
def test_converting_twice_changes_nothing(name: str) -> None:
    once = convert_text(script(name)).text
    assert convert_text(once).text == once


def test_wraps_around_like_a_pipeline(data: str) -> None:
    # Seven images in batches of three, with labels 0 0 0 1 1 1 1.
    result = run_program(convert_text(script("files")).text, data)
    assert result[2::5] == [[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 1]]
    assert result[0].shape == (16, 20, 3)
    assert result[1].shape == (3, 3, 16, 20)
    assert result[1].dtype == np.float32


def test_what_is_left_out_is_listed() -> None:
    changes = convert_text(script("files")).changes
    assert any("preserve=True" in change for change in changes)
    assert any("device_id=None" in change for change in changes)


def test_reader_is_made_once_and_the_loop_follows() -> None:
    text = HEAD + (
        "@pipeline_def(batch_size=2)\n"
        "def load(root):\n"
        "    jpegs, labels = fn.readers.file(file_root=root)\n"
        "    return fn.decoders.image(jpegs, device='mixed'), labels\n"
    )
    assert body(text, "load").splitlines()[1:] == [
        "    ndd.set_num_threads(num_threads)",
        "    reader = ndd.readers.File(file_root=root)",
        "    while True:",
        "        for jpegs, labels in reader.next_epoch(batch_size=batch_size):",
        "            yield (ndd.decoders.image(jpegs, device='gpu'), labels)",
    ]


def test_what_only_prepares_happens_once() -> None:
    text = HEAD + (
        "@pipeline_def(batch_size=2)\n"
        "def load(root):\n"
        "    jpegs, _ = fn.readers.file(file_root=root)\n"
        "    images = fn.decoders.image(jpegs)\n"
        "    table = expensive()\n"
        "    parts = []\n"
        "    for _ in range(2):\n"
        "        parts.append(fn.flip(images))\n"
        "    return fn.lookup_table(fn.cat(*parts), values=table)\n"
    )
    before, loop = body(text, "load").split("while True:")
    assert "table = expensive()" in before
    assert "parts = []" in loop


def test_random_operators_get_batch_size_and_generator() -> None:
    text = HEAD + (
        "def helper(images):\n"
        "    return fn.rotate(images, angle=fn.random.uniform(range=(0, 1)))\n"
        "@pipeline_def(batch_size=2, seed=5)\n"
        "def load(root):\n"
        "    jpegs, _ = fn.readers.file(file_root=root)\n"
        "    noisy = fn.noise.gaussian(fn.decoders.image(jpegs), seed=3)\n"
        "    return helper(noisy), fn.random.coin_flip()\n"
        "pipe = load('.')\n"
    )
    assert "range=(0, 1), rng=rng, batch_size=batch_size" in body(text, "helper")
    loop = body(text, "load")
    assert "own_rng = ndd.random.RNG(3)" in loop.split("while True:")[0]
    assert "rng = ndd.random.RNG(seed)" in loop
    assert "helper(noisy, batch_size=batch_size, rng=rng)" in loop
    assert "coin_flip(rng=rng, batch_size=batch_size)" in loop


def test_mixed_is_replaced_where_it_is_a_device() -> None:
    text = HEAD + (
        "root = 'mixed'\n"
        "decoder_device = 'cpu' if slow else 'mixed'\n"
        "@pipeline_def\n"
        "def load():\n"
        "    jpegs, _ = fn.readers.file(file_root=root)\n"
        "    return fn.decoders.image(jpegs, device=decoder_device)\n"
    )
    converted = convert_text(text).text
    assert "root = 'mixed'" in converted
    assert "decoder_device = 'cpu' if slow else 'gpu'" in converted


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("pipe.save_graph_to_dot_file('x')", "graph"),
        ("pipe.serialize(filename='x')", "serialize"),
        ("out = pipe.run(*data)", "pass the data"),
        ("pipe.checkpoint()", "checkpoint"),
    ],
)
def test_uses_of_pipelines_that_have_no_counterpart(statement: str, message: str) -> None:
    text = HEAD + (
        "@pipeline_def(batch_size=1)\ndef load():\n    return fn.zeros(shape=[2])\n"
        f"pipe = load()\n{statement}\n"
    )
    result = convert_text(text)
    (line, found), *_ = result.work
    assert message in found
    assert statement in result.text.splitlines()[line + found.count("\n") :]


def test_branches_on_data_stay_and_are_marked() -> None:
    text = HEAD + (
        "@pipeline_def(enable_conditionals=True, batch_size=2)\n"
        "def load(fast):\n"
        "    data = fn.random.uniform(range=(0, 1))\n"
        "    if fast:\n"
        "        data = data * 2\n"
        "    if data > 0.5:\n"
        "        data = -data\n"
        "    return data\n"
    )
    result = convert_text(text)
    assert len(result.work) == 1
    assert "per sample" in result.work[0][1]


def test_unknown_operators_keep_their_import() -> None:
    text = HEAD + (
        "@pipeline_def(batch_size=2)\n"
        "def load(root):\n"
        "    jpegs, _ = fn.readers.file(file_root=root)\n"
        "    return fn.ssd_random_crop(fn.decoders.image(jpegs))\n"
    )
    result = convert_text(text)
    assert "ndd.random_bbox_crop" in result.work[0][1]
    assert "from nvidia.dali import fn\n" in result.text


def test_other_programs_stay_as_they_are() -> None:
    text = "import os\nprint(os.name)  # nothing here\n"
    assert convert_text(text).text == text


def test_exit_codes_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clean, marked, broken = (tmp_path / f"{n}.py" for n in ("clean", "marked", "broken"))
    clean.write_text(script("epochs"))
    marked.write_text("from nvidia.dali import fn\nx = fn.ssd_random_crop(y)\n")
    broken.write_text("import nvidia.dali\ndef (\n")
    assert main(["convert", str(clean)]) == 0
    assert (tmp_path / "clean_ndd.py").read_text() == convert_text(script("epochs")).text
    assert main(["convert", str(marked), "-o", str(tmp_path / "out.py")]) == 1
    assert find_work((tmp_path / "out.py").read_text())
    assert main(["convert", str(clean), str(marked), "-o", str(tmp_path / "folder")]) == 1
    assert {path.name for path in (tmp_path / "folder").iterdir()} == {"clean.py", "marked.py"}
    assert main(["convert", str(broken), "--check"]) == 2
    assert main(["convert", str(tmp_path / "absent.py")]) == 2
    assert "1 left to do" in capsys.readouterr().err


def test_check_and_diff_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "clean.py"
    path.write_text(script("epochs"))
    assert main(["convert", "--check", str(path)]) == 0
    assert main(["convert", "--diff", "--quiet", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "+import daliesque as ndd" in shown
    assert "-from nvidia.dali import fn, pipeline_def" in shown
    assert [entry.name for entry in tmp_path.iterdir()] == ["clean.py"]


def test_notebooks(tmp_path: Path) -> None:
    cells = [
        ["# Title\n"],
        [
            "%matplotlib inline\n",
            "from nvidia.dali import fn, pipeline_def\n",
            "import numpy as np",
        ],
        ["%%bash\n", "ls"],
        [
            "@pipeline_def(batch_size=2, num_threads=1, device_id=None)\n",
            "def numbers():\n",
            "    return fn.external_source(source=lambda i: np.full((2, 1), i))",
        ],
        ["pipe = numbers()\n", "pipe.build()\n", "!ls\n", "# the first\n", "out = pipe.run()"],
    ]
    kinds = ["markdown", "code", "code", "code", "code"]
    notebook = {
        "cells": [
            {"cell_type": kind, "metadata": {}, "source": source}
            | ({"outputs": [], "execution_count": 1} if kind == "code" else {})
            for kind, source in zip(kinds, cells, strict=True)
        ],
        "metadata": {"kernelspec": {"name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path, target = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    path.write_text(json.dumps(notebook, indent=1))
    assert main(["convert", str(path), "-o", str(target), "-q"]) == 0
    new = ["".join(cell["source"]) for cell in json.loads(target.read_text())["cells"]]
    assert new[0] == "# Title\n"
    assert new[1].startswith("%matplotlib inline\n")
    assert "import daliesque as ndd" in new[1]
    assert new[2] == "%%bash\nls"
    assert new[4] == "pipe = numbers()\n!ls\n# the first\nout = next(pipe)"
    program = "\n".join(part for part in (new[1], new[3], new[4]))
    names: dict[str, object] = {}
    exec(program.replace("%matplotlib inline", "").replace("!ls", ""), names)
    assert np.asarray(names["out"][0].tensors[0]).tolist() == [0]  # type: ignore[index]


def test_without_libcst_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['libcst'] = None\n"
        "from daliesque._cli import main\n"
        "main(['convert', 'x.py'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install 'daliesque[convert]'" in done.stderr


def test_commands_have_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["convert", "--help"], ["index", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
        assert "usage" in capsys.readouterr().out


def test_index_is_a_command(data: str, tmp_path: Path) -> None:
    path = tmp_path / "data.tfrecord"
    path.write_bytes(Path(data, "data.tfrecord").read_bytes())
    assert main(["index", str(path)]) == 0
    assert path.with_suffix(".idx").read_text() == Path(data, "data.idx").read_text()


def test_the_example_of_the_docs_is_true() -> None:
    page = (SCRIPTS.parents[2] / "docs" / "convert.md").read_text()
    before, *after = re.findall(r"```(?:text|python)\n(.*?)```", page, re.DOTALL)
    assert ast.dump(ast.parse(convert_text(before).text)) == ast.dump(ast.parse("".join(after)))


def test_a_fault_of_the_converter_leaves_the_program_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: object) -> None:
        msg = "no such node"
        raise LookupError(msg)

    monkeypatch.setattr("daliesque._cli.convert.script._converted", fail)
    result = convert_text(HEAD)
    assert result.text.endswith(HEAD)
    assert "LookupError: no such node" in result.work[0][1]


NUMBA = """
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin.numba.fn.experimental import numba_function


def set_shapes(outs, ins):
    for i in range(len(outs[0])):
        outs[0][i][0] = ins[0][i][1]
        outs[0][i][1] = ins[0][i][0]


def fill(out, data):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i][j] = data[j][i][0]


def fill_all(ones, twos, images):
    for one, two, image in zip(ones, twos, images):
        one[:] = image[:, :, 1]
        two[:] = 2


def set_both(outs, ins):
    for out in outs:
        out[:] = ins[0][:, :2]


@pipeline_def(batch_size=2, num_threads=1, device_id=0)
def pipe(root):
    jpegs, _ = fn.readers.file(file_root=root)
    images = fn.decoders.image(jpegs)
    transposed = numba_function(
        images, run_fn=fill, setup_fn=set_shapes, out_types=[types.UINT8], in_types=[types.UINT8],
        outs_ndim=[2], ins_ndim=[3],
    )
    ones, twos = numba_function(
        images, run_fn=fill_all, setup_fn=set_both, out_types=[types.UINT8, types.INT32],
        in_types=[types.UINT8], outs_ndim=[2, 2], ins_ndim=[3], batch_processing=True,
    )
    return images, transposed, ones, twos


made = pipe(DATA + "/images")
made.build()
RESULT = [[part.at(i) for i in range(2)] for part in made.run()]
"""


def test_functions_of_numba(data: str) -> None:
    result = convert_text(NUMBA)
    assert result.work == []
    images, transposed, ones, twos = run_program(result.text, data)
    for image, first, second, third in zip(images, transposed, ones, twos, strict=True):
        np.testing.assert_array_equal(first, image[:, :, 0].T)
        np.testing.assert_array_equal(second, image[:, :, 1])
        assert third.dtype == np.int32
        assert (third == 2).all()
        assert third.shape == image.shape[:2]
