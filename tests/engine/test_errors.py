# SPDX-License-Identifier: Apache-2.0
"""Whose mistake an error says it is."""

from __future__ import annotations

import numpy as np
import pytest

import daliesque as ndd
from daliesque import _kernels


def test_misuse_of_a_kernel_is_an_internal_error() -> None:
    samples = ndd.batch([np.zeros(3, np.uint8)])._data()
    with pytest.raises(ndd.InternalError, match=r"ranges do not fit\. .* please report it"):
        samples.slice(np.zeros((5, 3), np.int64), [False], "")


def test_internal_errors_are_no_errors_of_values() -> None:
    assert issubclass(ndd.InternalError, RuntimeError)
    assert not issubclass(ndd.InternalError, ValueError)
    assert ndd.InternalError is _kernels.InternalError
    assert ndd.InternalError.__module__ == "daliesque"


def test_data_of_users_that_does_not_fit_is_an_error_of_values() -> None:
    with pytest.raises(ValueError, match="cannot be broadcast together"):
        (ndd.tensor([1, 2, 3]) + ndd.tensor([1, 2])).evaluate()
    with pytest.raises(ValueError, match="reshape"):
        ndd.reshape(ndd.tensor([1, 2, 3]), shape=[2, 2]).evaluate()
    with pytest.raises(ValueError, match="integer division by zero"):
        (ndd.tensor([1, 2]) // ndd.tensor([0, 1])).evaluate()
