# SPDX-License-Identifier: Apache-2.0
"""Check titles of commits: an area, a colon, and in the imperative what the commit does.

python tools/commit_titles.py FILE                  the message in a file, as a hook of git
python tools/commit_titles.py --range main..HEAD    all commits of a range
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LONGEST = 72
# Words that a sentence in the imperative does not begin with.
ARTICLES = {"a", "an", "the", "no", "some", "all", "more", "one", "two"}
# Verbs that look like other forms.
VERBS = {
    *("access", "address", "bring", "canvass", "compress", "cross", "discuss", "dismiss", "embed"),
    *("exceed", "express", "feed", "focus", "guess", "miss", "need", "pass", "press", "proceed"),
    *("process", "speed", "spring", "string", "stress", "string", "succeed", "suppress", "toss"),
}


def faults(title: str) -> list[str]:
    """What is wrong with a title."""
    found = []
    match = re.fullmatch(r"(?P<area>[\w.*/, -]+): (?P<summary>\S.*)", title)
    if match is None:
        return ["begin with the area, e.g. 'resize: match the rounding of the reference'"]
    word = match["summary"].split()[0].lower().rstrip(",")
    if word in ARTICLES or (word not in VERBS and re.search(r"(ed|ing|[^s]s)$", word)):
        found.append(f"say in the imperative what the commit does; it begins with '{word}'")
    if ";" in title:
        found.append("one concern in each commit: no ';'")
    if title.endswith("."):
        found.append("no full stop at the end")
    if len(title) > LONGEST:
        found.append(f"at most {LONGEST} characters; got {len(title)}")
    return found


def titles(arguments: list[str]) -> list[str]:
    """The titles that the command line names."""
    if arguments[:1] == ["--range"]:
        command = ["git", "log", "--no-merges", "--format=%s", *arguments[1:]]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(
            "\n"
        )
    return Path(arguments[0]).read_text().split("\n")[:1]


def main(arguments: list[str]) -> int:
    """Print the faults of all titles; returns 1 if there are any."""
    bad = 0
    for title in titles(arguments):
        if title and not title.startswith(("Merge ", "Revert ", "fixup! ", "squash! ")):
            for fault in faults(title):
                print(f"{title!r}: {fault}")
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
