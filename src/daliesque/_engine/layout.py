# SPDX-License-Identifier: Apache-2.0
"""Layout strings: one letter for each axis, e.g. "HWC"."""

from __future__ import annotations


def check_layout(layout: str | None, ndim: int, where: str) -> str:
    """Return `layout` ("" for None) if it suits an array of `ndim` axes."""
    if layout is None or layout == "":
        return ""
    if not isinstance(layout, str):
        msg = f"{where}: 'layout' must be a string such as \"HWC\"; got {layout!r}."
        raise TypeError(msg)
    if len(layout) != ndim:
        msg = (
            f"{where}: 'layout' needs one letter for each of the dimensions; "
            f"got {layout!r} for {ndim}."
        )
        raise ValueError(msg)
    return layout


def resolve_layout(given: str, ndim: int, allowed: tuple[str, ...], where: str) -> str:
    """The layout an operator should assume for its input.

    An input without a layout is given the first allowed one with the right number of axes.
    """
    if given:
        if given in allowed:
            return given
        msg = f"{where}: the layout {given!r} is not supported. Use one of {', '.join(allowed)}."
        raise ValueError(msg)
    for candidate in allowed:
        if len(candidate) == ndim:
            return candidate
    msg = (
        f"{where}: the input has {ndim} {'axis' if ndim == 1 else 'axes'}, which suits none of "
        f"the layouts {', '.join(allowed)}."
    )
    raise ValueError(msg)
