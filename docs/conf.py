# SPDX-License-Identifier: Apache-2.0
"""The documentation site: `make docs`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import reference_pages  # noqa: E402

import daliesque  # noqa: E402

reference_pages.write_pages()

project = "daliesque"
author = "the daliesque developers"
copyright = author
version = release = daliesque.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
myst_enable_extensions = ["colon_fence", "deflist"]
# Addresses of headings inside of pages.
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "measured"]
nitpicky = True
# Aliases of types in signatures.
nitpick_ignore = [("py:class", "Function"), ("py:class", "MagnitudeRange")]

# Docstrings are in the style of NumPy; single backquotes hold code.
default_role = "code"
autodoc_typehints = "none"
# Nothing of it is needed to read docstrings.
autodoc_mock_imports = ["ray"]
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "pydata_sphinx_theme"
html_title = f"daliesque {release}"
html_static_path = ["_static"]
html_css_files = ["daliesque.css"]
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_copy_source = False
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True


def prepare_docstring(
    _app: Any, what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    """Bring docstrings to the form that napoleon reads as they are meant."""
    if what in ("attribute", "property", "data"):
        # They are described in sentences: the words before a colon are not their type.
        lines.insert(0, "\\ ")
    # Names of parameters that share an entry may take several lines.
    text = re.sub(r"(?<=\w),\n(?=\w+[,\n])", ", ", "\n".join(lines))
    lines[:] = reference_pages.with_imports(text).split("\n")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", prepare_docstring, priority=400)
