# SPDX-License-Identifier: Apache-2.0
"""Names that passes leave in programs for each other, and that no converted program has."""

from __future__ import annotations

# The decorator that marks loops until the last pass.
LOOP = "__loop__"
# Its argument that lists the arguments of pipelines that the loop takes.
ACCEPTS = "accepts"
# Its argument for loops that the script itself does not use.
EXPORTED = "exported"
# Its argument for functions that are parts of loops, with readers of their own.
PART = "part"
# Its argument for functions that make loaders: the class and its arguments.
LOADER = "loader"
# Its argument for arguments of pipelines that the function's body assigns.
BOUND = "bound"
# What passes write for names of the reference that a script may not have imported.
PIPELINE_DEF = "__pipeline_def__"
FN = "__fn__"
# Stands for the batch size of a loop until its source is known.
BATCH_SIZE = "__batch_size__"
# Stands for the data that a loop is fed, by name.
FED = "__fed__"
