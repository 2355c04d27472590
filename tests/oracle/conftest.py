# SPDX-License-Identifier: Apache-2.0
"""`--differences FILE` writes how far our results are from the reference's."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import differences

_RECORD = pytest.StashKey[differences.Differences]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--differences", type=Path, help="where to write the largest differences")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--differences"):
        config.stash[_RECORD] = differences.record()


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.getoption("--differences"):
        config.stash[_RECORD].write(config.getoption("--differences"))
