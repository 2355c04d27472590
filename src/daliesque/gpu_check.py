# SPDX-License-Identifier: Apache-2.0
"""Check the accelerators of this machine: `python -m daliesque.gpu_check`.

Prints a report to attach to an issue. The exit code is 1 if something is wrong.
"""

from ._cli.gpu_check import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
