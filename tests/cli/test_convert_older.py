# SPDX-License-Identifier: Apache-2.0
"""Scripts as people wrote them for years: what is left to do is marked, and nothing gets lost."""

from __future__ import annotations

import ast
import builtins
import symtable

import pytest

from daliesque._cli.convert.script import convert_text

CLASS = (
    "from nvidia.dali.pipeline import Pipeline\n"
    "import nvidia.dali.ops as ops\n"
    "import nvidia.dali.types as types\n"
)
HEAD = "from nvidia.dali import fn, pipeline_def, types\n"


def undefined(text: str) -> set[str]:
    """The global names that a program uses but does not have."""
    tables = [symtable.symtable(text, "converted", "exec")]
    defined: set[str] = set()
    used: set[str] = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            is_global = symbol.is_global() or table.get_type() == "module"
            if is_global and (symbol.is_assigned() or symbol.is_imported()):
                defined.add(symbol.get_name())
            elif table.get_type() == "module" and symbol.is_namespace():
                defined.add(symbol.get_name())
            elif is_global and symbol.is_referenced():
                used.add(symbol.get_name())
    return {name for name in used - defined if not hasattr(builtins, name)} - {"__name__"}


def test_attributes_in_arguments_of_operators_become_variables() -> None:
    text = CLASS + (
        "class Train(Pipeline):\n"
        "    def __init__(self, batch_size, threads, device_id, root, gpu=False):\n"
        "        super().__init__(batch_size, threads, device_id)\n"
        "        self.where = 'gpu' if gpu else 'cpu'\n"
        "        self.read = ops.readers.File(file_root=root)\n"
        "        self.decode = ops.decoders.Image()\n"
        "        self.resize = ops.Resize(device=self.where, size=[8, 8])\n"
        "    def define_graph(self):\n"
        "        data, labels = self.read()\n"
        "        return self.resize(self.decode(data)), labels\n"
    )
    result = convert_text(text)
    assert result.work == []
    assert undefined(result.text) == set()
    assert "device=where" in result.text


def test_imports_inside_a_block() -> None:
    text = (
        "try:\n"
        "    # for loading\n"
        "    from nvidia.dali import fn, pipeline_def\n"
        "except ImportError:\n"
        "    print('missing')\n"
        "@pipeline_def(batch_size=2)\n"
        "def load():\n"
        "    data, labels = fn.readers.file(file_root='.')\n"
        "    return fn.decoders.image(data), labels\n"
    )
    result = convert_text(text)
    assert result.work == []
    assert undefined(result.text) == set()
    attempt = next(n for n in ast.parse(result.text).body if isinstance(n, ast.Try))
    assert ast.unparse(attempt.body[0]) == "pass"
    assert "# for loading" in result.text


def test_objects_that_are_passed_on_stay_and_are_marked() -> None:
    text = CLASS + (
        "def wrapper():\n"
        "    flip = ops.Flip(horizontal=1)\n"
        "    coin = ops.random.CoinFlip()\n"
        "    return Wrapper(flip=flip, coin=coin)\n"
    )
    result = convert_text(text)
    assert undefined(result.text) == {"Wrapper"}
    messages = [message for _, message in result.work]
    assert any("ndd.flip(data, ...)" in message for message in messages)
    assert any("ndd.random.coin_flip(...)" in message for message in messages)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("fill_last_batch=False", "'partial'"),
        ("fill_last_batch=True", "'fill'"),
        ("fill_last_batch=full", "'fill' if full else 'partial'"),
    ],
)
def test_the_older_argument_for_the_last_batch(theirs: str, ours: str) -> None:
    text = HEAD + (
        "from nvidia.dali.plugin.pytorch import DALIGenericIterator\n"
        "@pipeline_def(batch_size=2)\n"
        "def load():\n"
        "    data, labels = fn.readers.file(file_root='.', name='r')\n"
        "    return fn.decoders.image(data), labels\n"
        f"loader = DALIGenericIterator(load(), ['a', 'b'], reader_name='r', {theirs})\n"
    )
    result = convert_text(text)
    assert result.work == []
    made = ast.unparse(ast.parse(result.text).body[-1])
    assert made == (
        f"loader = Loader(load(), ['a', 'b'], reader_name='r', last_batch_policy={ours})"
    )


def test_older_names_of_layouts() -> None:
    text = HEAD + (
        "@pipeline_def(batch_size=2)\n"
        "def load():\n"
        "    data, _ = fn.readers.file(file_root='.')\n"
        "    images = fn.decoders.image(data)\n"
        "    return fn.crop_mirror_normalize(images, output_layout=types.NCHW)\n"
    )
    result = convert_text(text)
    assert result.work == []
    assert 'output_layout="CHW"' in result.text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("    x = fn.external_source(name='x', repeat_last=True)", "repeat_last: feed"),
        ("    x = fn.flip(fn.readers.numpy(file_root='.'), sideways=1)", "no argument 'sideways'"),
    ],
)
def test_arguments_that_a_loop_cannot_have_are_marked(line: str, message: str) -> None:
    text = HEAD + f"@pipeline_def(batch_size=2)\ndef load():\n{line}\n    return x\n"
    assert [message in found for _, found in convert_text(text).work] == [True]


def test_other_decorators_of_the_reference_are_marked() -> None:
    text = HEAD + (
        "from nvidia.dali.plugin.triton import autoserialize\n"
        "@autoserialize\n"
        "@pipeline_def(batch_size=2)\n"
        "def load():\n"
        "    return fn.external_source(name='x')\n"
    )
    work = convert_text(text).work
    assert [message for _, message in work] == [
        "autoserialize: there is no graph to serialize; keep the function."
    ]


def test_an_import_that_is_still_needed_is_work() -> None:
    text = HEAD + (
        "from nvidia.dali.fn import *\n"
        "@pipeline_def(batch_size=2)\n"
        "def load():\n"
        "    return fn.readers.numpy(file_root='.')\n"
    )
    assert [message for _, message in convert_text(text).work] == [
        "something below still needs this import."
    ]


def test_dynamic_mode_beside_pipeline_mode() -> None:
    text = HEAD + (
        "import nvidia.dali.experimental.dynamic as ndd\n"
        "import nvidia.dali.experimental.dynamic as dyn\n"
        "import itertools\n"
        "@pipeline_def(batch_size=2)\n"
        "def load():\n"
        "    return fn.external_source(source=itertools.repeat([1, 2]))\n"
        "print(ndd.ones(shape=[1]), dyn.zeros(shape=[1]))\n"
    )
    result = convert_text(text)
    assert result.work == []
    imports = [ast.unparse(n) for n in ast.parse(result.text).body if isinstance(n, ast.Import)]
    assert imports.count("import itertools") == 1
    assert imports.count("import daliesque as ndd") == 1
    assert imports.count("import daliesque as dyn") == 1
    assert "nvidia" not in result.text


@pytest.mark.parametrize(("given", "made"), [("True", "copy=True"), ("copy=False", "")])
def test_copies_of_torch_tensors(given: str, made: str) -> None:
    text = HEAD + (
        "from nvidia.dali.plugin.pytorch.torch_utils import to_torch_tensor\n"
        "@pipeline_def(batch_size=2)\n"
        "def load():\n"
        "    return fn.readers.numpy(file_root='.')\n"
        "pipe = load()\n"
        f"array = to_torch_tensor(pipe.run()[0][0], {given})\n"
    )
    assert convert_text(text).text.rstrip().endswith(f".torch({made})")


def test_a_source_is_one_object_for_all_epochs() -> None:
    text = HEAD + (
        "from nvidia.dali.plugin.pytorch import DALIGenericIterator\n"
        "asked = []\n"
        "class Numbers:\n"
        "    def __iter__(self):\n"
        "        asked.append('iter')\n"
        "        self.i = 0\n"
        "        return self\n"
        "    def __next__(self):\n"
        "        if self.i == 2:\n"
        "            self.i = 0\n"
        "            asked.append('end')\n"
        "            raise StopIteration\n"
        "        self.i += 1\n"
        "        return np.full((2, 1), self.i)\n"
        "@pipeline_def(batch_size=2)\n"
        "def load():\n"
        "    data = fn.external_source(source=Numbers())\n"
        "    return data\n"
        "loader = DALIGenericIterator(load(), ['a'])\n"
        "seen = []\n"
        "for epoch in range(3):\n"
        "    seen += [int(step[0]['a'][0, 0]) for step in loader]\n"
        "    loader.reset()\n"
    )
    result = convert_text("import numpy as np\n" + text)
    assert result.work == []
    names: dict[str, list[object]] = {}
    exec(compile(result.text, "converted", "exec"), names)
    # As in the reference: the iterator is asked for once.
    assert names["seen"] == [1, 2, 1, 2, 1, 2]
    assert names["asked"] == ["iter", "end", "end", "end"]
