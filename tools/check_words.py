# SPDX-License-Identifier: Apache-2.0
"""Finds words that the project does not use: British spellings and words with a private meaning.

    python tools/check_words.py [path ...]

Comments, docstrings, messages, identifiers and file names all count: `find_sound`, `SoundBytes` and
`sound.py` contain the word "sound". `docs/glossary.md` says what to write instead. Words that are
right in some phrases are allowed there only (`ALLOWED`).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

SUFFIXES = {".py", ".pyi", ".cpp", ".h", ".md", ".txt", ".toml", ".cmake", ".yml", ".yaml", ".cff"}
NAMES = {"Makefile"}

# These list the words themselves.
EXEMPT = {"docs/glossary.md", "tools/check_words.py", "tests/test_words.py"}

# Stems of verbs that take -ize, -ization in American spelling.
_VERBS = (
    "author|binar|capital|categor|character|custom|equal|emphas|factor|final|general|harmon|"
    "initial|ital|local|material|maxim|memor|minim|modern|neutral|normal|optim|organ|parallel|"
    "parametr|penal|polar|prior|quant|random|real|recogn|regular|serial|special|stabil|standard|"
    "summar|symbol|synchron|token|util|vector|visual"
)

# Patterns of words (matched as a whole, in lower case), and what to write instead.
SPELLINGS = {
    r"(re|un|dis)?colou?r(?<=our)(s|ed|ful|less|ing)?": "color",
    r"grey(s|ed|ish|scale)?": "gray",
    r"(re|off|de|un)?cent(re|res|red|ring)": "center",
    r"(de|re|un)?(" + _VERBS + r")is(e|ed|es|er|ers|ing|able|ation|ations)": "-ize, -ization",
    r"neighbour(s|ed|ing|hood|hoods)?": "neighbor",
    r"(mis)?behaviour(s|al)?": "behavior",
    r"favour(s|ed|ite|ites|able|ably)?": "favor",
    r"(hon|lab|hum|rum|vap|harb|flav|arm|end?eav)our(s|ed|ing|able|y)?": "-or",
    r"licence(s|d)?": "license",
    r"(de|of)fence": "-ense",
    r"artefacts?": "artifact",
    r"(cata|ana|dia)logue(s|d)?": "-log",
    r"analys(e|ed|es|ing)": "analyze",
    r"(re)?label(led|ling)": "labeled, labeling",
    r"signal(led|ling)": "signaled, signaling",
    r"model(led|ling)": "modeled, modeling",
    r"cancelling": "canceling",
    r"travel(led|ling)": "traveled, traveling",
    r"(mis)?spelt|spoilt|learnt|whilst|amongst": "-ed, while, among",
    r"(milli|kilo|centi)?metres?": "meter",
    r"programmes?|judgement|ageing|fulfil|sceptic(al)?|mould|plough|cheque|tyres?": "American form",
}

DIALECT = {
    r"turn(s|ed|ing)?|unturned": "orient, rotate, transpose, convert, become",
    r"(un|mis)?place(s|d)?|placing": "device, index, offset, position, put",
    r"sounds?": "audio; valid, verified, intact",
    r"tells?|told|telling": "report, state, distinguish, pass",
    r"rooms?": "capacity, space",
    r"laps?": "pass (over the shard)",
    r"inks?": "CMYK",
    r"hopeless(ly)?|futile(ly)?": "useless: name the condition",
    r"leftovers?": "remainder, rest",
    r"sift(s|ed|ing)?": "filter, select",
    r"excuses?": "reason, message",
    r"troubles?": "error, fault",
    r"complain(s|ed|ing|t|ts)?": "error, report",
    r"(him|her)self": "itself",
    r"pretend(s|ed|ing)?": "simulated, stand-in",
    r"mend(s|ed|ing)?": "repair",
    r"heed(s|ed|ing)?": "respect, use",
    r"kin": "and similar",
    r"afresh|anew": "again",
    r"namesakes?": "of the same name",
}

RULES = [(re.compile(f"(?:{p})$"), advice) for p, advice in {**SPELLINGS, **DIALECT}.items()]

# Phrases in which a word above is right. Names of other libraries are given in full.
ALLOWED = re.compile(
    "|".join(
        (
            r"\bin place\b|\bin-place\b|\binplace\b",
            r"\bt(?:ake|akes|ook|aking) place\b",
            r"\bdecimal places?\b|\blast place\b",  # the unit in the last place
            r"\bin (?:its |their )?turns?\b",  # one after the other
            r"\b(?:SoundFile|sound files?)\b",  # the class of the package soundfile
            r"\.tell\(\)|\bdef tell\b",  # of Python's file objects
        )
    )
)

_IDENTIFIER = re.compile(r"[A-Za-z]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Finding(NamedTuple):
    """A word that should not be used."""

    path: str
    line: int
    word: str
    advice: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: '{self.word}': {self.advice}"


def advice_for(word: str) -> str | None:
    """What to write instead of a word, if it is not used."""
    for pattern, advice in RULES:
        if pattern.match(word):
            return advice
    return None


def parts_of(text: str) -> list[str]:
    """The words of a text in lower case, those inside of identifiers too."""
    return [part.lower() for found in _IDENTIFIER.findall(text) for part in _PARTS.findall(found)]


def check_text(text: str, path: str = "") -> list[Finding]:
    """The findings in a text, by line."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for word in parts_of(ALLOWED.sub(" ", line)):
            advice = advice_for(word)
            if advice is not None:
                found.append(Finding(path, number, word, advice))
    return found


def check_file(path: Path) -> list[Finding]:
    """The findings in a file and in its name."""
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    in_name = [found._replace(line=0) for found in check_text(name, name)]
    return in_name + check_text(path.read_text(encoding="utf-8"), name)


def tracked_files() -> list[Path]:
    """The text files under version control that the rules apply to."""
    command = [
        "git",
        "-C",
        str(ROOT),
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name and name not in EXEMPT]
    return [p for p in paths if p.is_file() and (p.suffix in SUFFIXES or p.name in NAMES)]


def main() -> int:
    paths = [Path(given).resolve() for given in sys.argv[1:]] or tracked_files()
    found = [finding for path in paths for finding in check_file(path)]
    for finding in found:
        print(finding)
    if found:
        print(f"{len(found)} words that docs/glossary.md replaces", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
