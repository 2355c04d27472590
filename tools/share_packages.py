# SPDX-License-Identifier: Apache-2.0
"""Let the environment that runs this find the packages of another one, too.

    .venv-other/bin/python tools/share_packages.py .venv

What is installed in the environment itself comes first.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path


def share(other: Path) -> None:
    """Write a file that Python reads when it starts."""
    own = Path(sysconfig.get_path("purelib"))
    relative = own.relative_to(sys.prefix)
    folder = str(other.resolve() / relative)
    # A plain path would not find packages that are shared with the other one in turn.
    (own / "shared.pth").write_text(f"import site; site.addsitedir({folder!r})\n")


if __name__ == "__main__":
    share(Path(sys.argv[1]))
