# SPDX-License-Identifier: Apache-2.0
"""What the passes of a conversion share."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from .editing import Notes
from .kinds import Kinds


@dataclass
class Context:
    """A script on its way.

    Parameters
    ----------
    notes
        What the conversion has to say.
    """

    notes: Notes = field(default_factory=Notes)
    # The names of helpers and modules in the script.
    numpy: str = "np"
    source: str = "external_batches"
    batches: str = "Batches"
    loader: str = "Loader"
    constant: str = "constant"
    numba: str = "call_filling"
    rng: str = "rng"
    # Which helpers the script needs: "source", "batches", "constant", "numba", the
    # framework of loaders.
    needed: set[str] = field(default_factory=set)
    # The names of functions that are parts of loops, with readers of their own.
    parts: set[str] = field(default_factory=set)
    # Whether something in the script asks loops for their readers, or resets them.
    asks_loops: bool = False
    # Whether a pipeline of the script has a seed.
    seeded: bool = False

    def choose_names(self, module: cst.Module, kinds: Kinds) -> None:
        """Choose names that the script does not use itself."""
        used = identifiers(module)
        for local, full in kinds.imports.items():
            if full == "numpy":
                self.numpy = local
        for attribute in ("source", "batches", "loader", "constant", "numba", "rng"):
            while getattr(self, attribute) in used:
                setattr(self, attribute, getattr(self, attribute) + "_")


class VisitsNames(cst.CSTVisitor):
    """Passes by the names of attributes and arguments, which are no variables."""

    def visit_Arg(self, node: cst.Arg) -> bool:
        """The value, without its keyword."""
        node.value.visit(self)
        return False

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        """What the attribute is of."""
        node.value.visit(self)
        return False


def identifiers(node: cst.CSTNode) -> set[str]:
    """The names in a program, without those of attributes and arguments."""
    found: set[str] = set()

    class Finder(VisitsNames):
        def visit_Name(self, node: cst.Name) -> None:
            found.add(node.value)

    node.visit(Finder())
    return found
