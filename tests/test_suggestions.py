# SPDX-License-Identifier: Apache-2.0
"""Names of other libraries lead to ours."""

from __future__ import annotations

import re
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine.foreign import METHODS
from daliesque._suggest import FOREIGN


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("Resize", "Did you mean ndd.resize?"),
        ("GaussianBlur", "Did you mean ndd.gaussian_blur?"),
        ("RandomResizedCrop", "Did you mean ndd.random_resized_crop?"),
        ("uniform", "Did you mean ndd.random.uniform?"),
        ("resise", "Did you mean ndd.resize?"),
        ("Pipeline", "there are no pipelines; write a loop"),
        ("fn", "operators are functions of the package: ndd.resize(...)"),
        ("RandomHorizontalFlip", "ndd.flip(images, horizontal=ndd.random.coin_flip("),
    ],
)
def test_suggestions(name: str, advice: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(ndd, name)
    assert f"module 'daliesque' has no attribute '{name}'." in str(caught.value)
    assert advice in str(caught.value)


@pytest.mark.parametrize(
    ("program", "advice"),
    [
        ("ndd.fn.decoders.image(x, device='mixed')", 'with device="gpu" for "mixed".'),
        ("ndd.fn.decoders.image(x)", "Here: fn.decoders.image is ndd.decoders.image,"),
        ("ndd.fn.readers.file(file_root='x')", "Here: fn.readers.file is ndd.readers.File."),
        ("ndd.ops.Resize(device='cpu')", "Here: ops.Resize is ndd.resize."),
        ("ndd.readers.file", "Did you mean ndd.readers.File?"),
        ("ndd.decoders.Image", "Did you mean ndd.decoders.image?"),
        ("ndd.random.Uniform", "Did you mean ndd.random.uniform?"),
        ("ndd.transforms.Compose", "a plain function that calls operators one after the other"),
        ("ndd.batch([1]).as_cpu()", "'Batch' object has no attribute 'as_cpu'. Here: .cpu()."),
        ("ndd.tensor([1]).astype('f')", "Here: ndd.cast(value, dtype=...)."),
        ("ndd.readers.Python([1]).build()", "there is nothing to build: iterate over"),
        ("ndd.readers.Python([1]).run()", "there is nothing to run: iterate over"),
    ],
)
def test_suggestions_at_the_call(program: str, advice: str) -> None:
    with pytest.raises(AttributeError) as caught:
        eval(program, {"ndd": ndd, "x": 0})
    assert advice in str(caught.value)


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda x: ndd.resize(x, interpolation=1), "Did you mean 'interp_type'?"),
        (lambda x: ndd.rotate(x, degrees=3), "Did you mean 'angle'?"),
        (lambda x: ndd.gaussian_blur(x, kernel_size=3), "Did you mean 'window_size'?"),
        (lambda x: ndd.rotate(x, fill=3), "Did you mean 'fill_value'?"),
        (
            lambda x: ndd.resize(x, [2, 2]),
            "takes 1 input; got 2. Arguments are given by their names",
        ),
    ],
)
def test_arguments_of_other_libraries(call: Any, advice: str) -> None:
    with pytest.raises(TypeError) as caught:
        call(ndd.batch(np.zeros((2, 4, 4, 3), np.uint8), layout="HWC"))
    assert advice in str(caught.value)


def test_imports() -> None:
    with pytest.raises(ImportError, match=r"cannot import name 'fn'.*operators are functions"):
        exec("from daliesque import fn")
    with pytest.raises(ImportError, match=r"'ImageFolder' from 'daliesque.readers'.*readers.File"):
        exec("from daliesque.readers import ImageFolder")
    with ndd.as_dali():
        for name in ("fn", "pipeline_def", "Pipeline"):
            with pytest.raises(ImportError, match=r"from 'nvidia.dali'\. Here: "):
                exec(f"from nvidia.dali import {name}")


def test_properties_say_themselves_what_is_wrong() -> None:
    with pytest.raises(AttributeError, match=r"\.gpu\(\)"):
        ndd.tensor([1]).__cuda_array_interface__  # noqa: B018
    assert not hasattr(ndd.tensor([1]), "nothing")


@pytest.mark.parametrize("name", METHODS)
def test_methods_that_are_suggested_exist(name: str) -> None:
    assert not hasattr(ndd.Batch, name)
    for path in re.findall(r"ndd\.([\w.]*\w)", METHODS[name]):
        attrgetter(path)(ndd)
    for method in re.findall(r"(?<![\w.])\.(\w+)", METHODS[name]):
        assert hasattr(ndd.Batch, method)


def test_nothing_is_suggested_for_other_names() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'zzqx'\.$"):
        ndd.zzqx  # noqa: B018
    assert not hasattr(ndd, "__wrapped__")


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_suggested_exists(name: str) -> None:
    assert name not in dir(ndd)
    for path in re.findall(r"ndd\.([\w.]*\w)", FOREIGN[name]):
        attrgetter(path)(ndd)
