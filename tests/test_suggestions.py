# SPDX-License-Identifier: Apache-2.0
"""Names of other libraries lead to ours."""

from __future__ import annotations

import re
from operator import attrgetter

import pytest

import daliesque as ndd
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


def test_nothing_is_suggested_for_other_names() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'zzqx'\.$"):
        ndd.zzqx  # noqa: B018
    assert not hasattr(ndd, "__wrapped__")


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_suggested_exists(name: str) -> None:
    assert name not in dir(ndd)
    for path in re.findall(r"ndd\.([\w.]*\w)", FOREIGN[name]):
        attrgetter(path)(ndd)
