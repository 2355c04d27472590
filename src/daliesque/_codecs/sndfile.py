# SPDX-License-Identifier: Apache-2.0
"""Finds libsndfile, which decodes all audio but plain WAV, FLAC and Ogg Vorbis."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Iterator

_FUNCTIONS = (
    "sf_open_virtual",
    "sf_close",
    "sf_seek",
    "sf_readf_float",
    "sf_readf_short",
    "sf_readf_int",
)

_MISSING = (
    "is neither a WAV file of plain samples nor a whole FLAC or Ogg Vorbis file, and libsndfile, "
    "which decodes other audio formats, is not installed; pip install daliesque[audio]"
)
_UNKNOWN = "is not audio of a known format, or its header is damaged"


def _candidates() -> Iterator[str]:
    # The wheels of soundfile bring the library along in a package without code.
    found = importlib.util.find_spec("_soundfile_data")
    from pathlib import Path

    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        yield from sorted(str(path) for path in Path(folder).glob("libsndfile*"))
    # It loads what runs programs, which few need.
    from ctypes.util import find_library

    system = find_library("sndfile")
    if system is not None:
        yield system


@functools.cache
def functions() -> tuple[int, ...] | None:
    """The addresses of the functions that are used, or None if there is no libsndfile."""
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
            addresses = [
                ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in _FUNCTIONS
            ]
        except (OSError, AttributeError):
            continue
        return tuple(address for address in addresses if address is not None)
    return None


def why_not(empty: bool) -> str:
    """Why an audio file could not be opened."""
    if empty:
        return "is empty"
    return _MISSING if functions() is None else _UNKNOWN
