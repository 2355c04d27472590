# SPDX-License-Identifier: Apache-2.0
"""Lists of files: what the native parser makes of lines, against a regular expression."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

from daliesque import _kernels

# A name, which may have spaces inside, and a label.
LINE = re.compile(rb"(.*\S)\s+([0-9]+)\s*", re.DOTALL)
PIECES = [
    b"a",
    b"b.jpg",
    b"7",
    b"42",
    b"007",
    b" ",
    b"  ",
    b"\t",
    b"\r",
    b"\v",
    b"\f",
    b"\xff",
    b".",
]
LARGEST = 2**31 - 1


def random_lines(seed: int, count: int = 40) -> list[bytes]:
    rng = np.random.default_rng(seed)
    return [
        b"".join(PIECES[k] for k in rng.integers(0, len(PIECES), rng.integers(0, 7)))
        for _ in range(count)
    ]


def names_of(joined: bytes, ends: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[bytes]:
    begins = [0, *ends.tolist()][: len(ends)]
    return [joined[begin:end] for begin, end in zip(begins, ends.tolist(), strict=True)]


def check_labeled(lines: list[bytes]) -> None:
    entries, bad_line = [], 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match = LINE.fullmatch(line)
        if match is None or int(match[2]) > LARGEST:
            bad_line = number
            break
        entries.append((match[1], int(match[2])))
    joined, ends, labels, is_plain, bad = _kernels.parse_name_list(b"\n".join(lines), True)
    assert bad == bad_line
    assert list(zip(names_of(joined, ends), labels.tolist(), strict=True)) == entries
    assert is_plain == all(b".." not in name for name, _ in entries)


@pytest.mark.parametrize("seed", range(20))
def test_lines_with_labels(seed: int) -> None:
    lines = random_lines(seed, 200)
    for line in lines:
        check_labeled([line])
    good = [line for line in lines if LINE.fullmatch(line)]
    check_labeled([*good, b"", *good])
    check_labeled([*good, b"no label", *good])


@pytest.mark.parametrize("seed", range(50))
def test_lines_without_labels(seed: int) -> None:
    lines = random_lines(seed)
    expected = [line.rstrip(b"\r") for line in lines if line.strip()]
    joined, ends, labels, _, bad = _kernels.parse_name_list(b"\n".join(lines), False)
    assert names_of(joined, ends) == expected
    assert (len(labels), bad) == (0, 0)
    numbers = np.arange(len(ends))[::-1].copy()
    decoded = _kernels.chosen_names(joined, ends, numbers)
    assert decoded == [os.fsdecode(name) for name in expected[::-1]]


@pytest.mark.parametrize(
    ("line", "label"),
    [(b"a 2147483647", LARGEST), (b"a 2147483648", None), (b"a " + b"9" * 40, None), (b"a 0", 0)],
)
def test_largest_label(line: bytes, label: int | None) -> None:
    _, _, labels, _, bad = _kernels.parse_name_list(b"\n" + line + b"\n\n", True)
    assert (labels.tolist(), bad) == (([label], 0) if label is not None else ([], 2))


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        (b"a/b.jpg", True),
        (b"a.b:c/d", True),
        (b"/a", False),
        (b"a/../b", False),
        (b"file://a", False),
        (b"a%2e", False),
    ],
)
def test_names_that_may_lead_out_of_the_folder(name: bytes, plain: bool) -> None:
    assert _kernels.parse_name_list(b"x 1\n" + name + b" 2", True)[3] is plain
