# SPDX-License-Identifier: Apache-2.0
"""Pictures of tensors and batches; loaded, and Pillow with it, when somebody wants to see one."""

from __future__ import annotations

import importlib
from typing import cast

from .._engine.pictures import Pictures


def load() -> Pictures:
    """What draws."""
    return cast(Pictures, importlib.import_module(".pictures", __name__))
