# SPDX-License-Identifier: Apache-2.0
"""The enumerations of the reference, with its integer values."""

from __future__ import annotations

import enum
from typing import TypeVar

Member = TypeVar("Member", bound=enum.IntEnum)


class DALIDataType(enum.IntEnum):
    """Element types by number."""

    NO_TYPE = -1
    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT16 = 8
    FLOAT = 9
    FLOAT64 = 10
    BOOL = 11
    STRING = 12
    FEATURE = 17
    IMAGE_TYPE = 20
    DATA_TYPE = 21
    INTERP_TYPE = 22
    TENSOR_LAYOUT = 23
    PYTHON_OBJECT = 24


class DALIImageType(enum.IntEnum):
    """Color spaces."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4


class DALIInterpType(enum.IntEnum):
    """Interpolation filters."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5


# What other libraries call some of the members.
_ALIASES = {
    "nearest": "nn",
    "bilinear": "linear",
    "bicubic": "cubic",
    "lanczos": "lanczos3",
    "grayscale": "gray",
    "any": "any_data",
}


def find_member(members: type[Member], name: str) -> Member:
    """The member with a name, in upper or lower case; KeyError if there is none.

    Filters may leave out "INTERP_", and may be called as other libraries call them.
    """
    wanted = name.lower().removeprefix("interp_")
    wanted = _ALIASES.get(wanted, wanted)
    known = {member.name.lower().removeprefix("interp_"): member for member in members}
    return known[wanted]
