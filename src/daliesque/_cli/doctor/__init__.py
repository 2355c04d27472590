# SPDX-License-Identifier: Apache-2.0
"""Describe this installation and machine, and measure whether it is as fast as it should be."""

from __future__ import annotations

import argparse
import json
import sys

from .facts import find_facts
from .self_test import run_self_test
from .text import format_facts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.add_argument("--no-self-test", action="store_true", help="measure nothing: quicker")


def run(options: argparse.Namespace) -> int:
    """Print the report; the exit code is 1 if something needs attention."""
    facts = find_facts()
    if not options.no_self_test:
        if sys.stderr.isatty() and not options.json:
            sys.stderr.write("Measuring for about 5 seconds ...\r")
        facts["self_test"] = run_self_test()
        facts["advice"] += facts["self_test"].pop("advice")
    text = json.dumps(facts, indent=2) if options.json else format_facts(facts)
    sys.stdout.write(text + "\n")
    return 1 if facts["advice"] else 0
