# SPDX-License-Identifier: Apache-2.0
"""Names in arguments and messages: as users write them."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine.args import FilterPerSample, rule_of
from daliesque._engine.enums import DALIDataType, DALIImageType, DALIInterpType
from daliesque._engine.op import registry

IMAGE = ndd.tensor(np.arange(48, dtype=np.uint8).reshape(4, 4, 3), layout="HWC")
ENUMS = (DALIDataType, DALIImageType, DALIInterpType)


@pytest.mark.parametrize("members", ENUMS)
def test_enumerations_by_name_in_any_case(members: Any) -> None:
    rule = rule_of(members)
    for member in members:
        for name in (member.name, member.name.lower(), member.name.upper(), member.name.title()):
            assert rule.convert(name, "op: 'x'") is member
        assert rule.convert(int(member), "op: 'x'") is member


def test_filters_as_other_libraries_call_them() -> None:
    names = {
        "nearest": "NN",
        "nn": "NN",
        "bilinear": "LINEAR",
        "Linear": "LINEAR",
        "bicubic": "CUBIC",
        "lanczos": "LANCZOS3",
        "INTERP_GAUSSIAN": "GAUSSIAN",
    }
    for name, member in names.items():
        wanted = DALIInterpType[f"INTERP_{member}"]
        resized = ndd.resize(IMAGE, size=[3, 3], interp_type=name)
        np.testing.assert_array_equal(resized, ndd.resize(IMAGE, size=[3, 3], interp_type=wanted))
    with pytest.raises(ValueError, match=r"interp_type. must be one of INTERP_NN, .*'box'"):
        ndd.resize(IMAGE, size=[3, 3], interp_type="box")


def test_every_argument_that_is_an_enumeration_takes_names() -> None:
    """Whatever the operator, the name stands for the member."""
    found = 0
    for spec in registry.values():
        for name, rule in spec.rules.items():
            hint = str(inspect.signature(spec.body).parameters.get(name))
            if "DALIImageType" in hint:
                assert rule.convert("gray", name) is DALIImageType.GRAY
                found += 1
            elif isinstance(rule, FilterPerSample):
                assert rule.convert("linear", name).tolist() == [1]
                found += 1
            elif "DALIInterpType" in hint:
                assert rule.convert("linear", name) is DALIInterpType.INTERP_LINEAR
                found += 1
    assert found > 20


def test_colors_by_name() -> None:
    gray = ndd.color_space_conversion(IMAGE, image_type="RGB", output_type="gray")
    wanted = ndd.color_space_conversion(
        IMAGE, image_type=DALIImageType.RGB, output_type=DALIImageType.GRAY
    )
    np.testing.assert_array_equal(gray, wanted)
    with pytest.raises(ValueError, match=r"'output_type' must be one of RGB, .*; got 'CMYK'"):
        ndd.color_space_conversion(IMAGE, image_type="RGB", output_type="CMYK")


@pytest.mark.parametrize(
    "dtype",
    [ndd.uint8, ndd.uint16, ndd.uint32, ndd.uint64, ndd.int8, ndd.int16, ndd.int32, ndd.int64]
    + [ndd.float16, ndd.bfloat16, ndd.float32, ndd.float64, ndd.bool],
)
def test_full_names_are_those_of_the_module(dtype: ndd.DType) -> None:
    assert getattr(ndd, dtype.full_name) is dtype


def test_types_in_messages_have_the_names_of_the_api() -> None:
    with pytest.raises(ValueError, match=r"the type float32 is .*\. Cast to one of uint8"):
        ndd.equalize(ndd.cast(IMAGE, dtype=ndd.float32)).evaluate()
    with pytest.raises(ValueError, match=r"one of uint8, int8, .*, float32; got float64"):
        ndd.decoders.image(b"", dtype=ndd.float64)


def test_readers_say_what_was_meant() -> None:
    with pytest.raises(TypeError, match=r"readers\.File\(\) .*'file_rot'\. .*mean 'file_root'\?"):
        ndd.readers.File(file_rot="x")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"'shufle'\. Did you mean 'random_shuffle'"):
        ndd.readers.COCO(annotations_file="x", shufle=True)  # type: ignore[call-arg]


def test_readers_name_themselves_once(tmp_path: Path) -> None:
    (tmp_path / "data.mdb").write_bytes(b"junk" * 4000)
    with pytest.raises(ndd.OpError) as caught:
        ndd.readers.Caffe(path=str(tmp_path))
    assert str(caught.value).count("readers.Caffe") == 1
    assert str(caught.value).count("cannot read") == 1
    reader = ndd.readers.File(files=[str(tmp_path / "missing")], on_error="skip")
    with pytest.raises(FileNotFoundError) as missing:
        next(reader.next_epoch(1))
    assert str(missing.value).count("readers.File") == 1


def test_readers_do_not_advise_what_was_done(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.write_bytes(b"x")
    files = [str(tmp_path / "missing"), str(good)]
    with pytest.raises(FileNotFoundError, match=r'Pass on_error="skip"'):
        next(ndd.readers.File(files=files).next_epoch(1))
    reader = ndd.readers.File(files=files, on_error="skip")
    next(reader.next_epoch(1))
    (error,) = reader.errors
    assert "on_error" not in str(error.exception)


@pytest.mark.parametrize("module", ["", "readers", "random", "experimental.readers"])
def test_public_classes_are_in_public_modules(module: str) -> None:
    name = f"daliesque.{module}".rstrip(".")
    found: Any = ndd
    for part in filter(None, module.split(".")):
        found = getattr(found, part)
    classes = [getattr(found, public) for public in found.__all__]
    classes = [member for member in classes if isinstance(member, type)]
    assert classes
    for member in classes:
        assert "._" not in member.__module__
        assert pickle.loads(pickle.dumps(member)) is member
    if not module:
        assert ndd.DecodeError.__module__ == name
