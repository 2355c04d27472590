# SPDX-License-Identifier: Apache-2.0
"""The command line: one subcommand for each entry of `_COMMANDS`.

A command is a module with `add_arguments(parser)` and `run(options)`, which returns the exit code.
It is imported when it is asked for, or when the help lists its arguments.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence

# Name, module, and what the list of commands says about it.
_COMMANDS = (
    ("bench", "daliesque._cli.bench", "measure the usual loops over your own images"),
    ("convert", "daliesque._cli.convert", "convert pipeline-mode scripts to plain loops"),
    ("doctor", "daliesque._cli.doctor", "describe this installation and test its speed"),
    ("explain", "daliesque._cli.explain", "print the page about a class of errors"),
    ("index", "daliesque._cli.index", "write the indices of TFRecord files and tar archives"),
    ("view", "daliesque._cli.view", "write a page about a data set"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    arguments
        What would stand on the command line.
    """
    parser = argparse.ArgumentParser(
        prog="python -m daliesque", description="Tools that come with daliesque."
    )
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    modules = {}
    for name, module, summary in _COMMANDS:
        command = importlib.import_module(module)
        command.add_arguments(
            commands.add_parser(name, help=summary, description=(command.__doc__ or "").strip())
        )
        modules[name] = command
    options = parser.parse_args(arguments)
    code: int = modules[options.command].run(options)
    return code
