"""Configuration of Sphinx: `make docs` builds the site to build/docs, with warnings as errors.

A page that is read fetches nothing from a network: MathJax is copied into the site from the PyPI package
sphinx-mathjax-offline, as one file that draws equations as SVG and needs no fonts; the theme brings everything else.
`tests/docs` checks it.
"""

import os
import re
import sys
from importlib import metadata
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"  # kernels are plain functions then, with signature and docstring

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "_extensions"), str(DOCS.parent)]

project = "dockfmu"
author = "the authors of dockfmu"
copyright = "the authors of dockfmu, MIT licence"
release = version = metadata.version("dockfmu")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "declarations",
    "folding",
    "gallery",
    "parameter_status",
]
exclude_patterns = ["_extensions"]

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # the outputs that the notebook holds are shown; tests/docs/test_notebook.py runs it

autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autosummary_generate = False
highlight_language = "text"
default_role = "literal"
napoleon_google_docstring = False
python_use_unqualified_type_names = True
viewcode_line_numbers = True

_MATHJAX = "static/mathjax/tex-svg-full.js"
mathjax_path = Path(_MATHJAX).name
mathjax3_config = {"svg": {"fontCache": "local"}, "options": {"enableMenu": False}}

html_theme = "pydata_sphinx_theme"
html_title = f"dockfmu {release}"
html_static_path = [
    "_static",
    str(metadata.distribution("sphinx-mathjax-offline").locate_file(f"sphinx-mathjax-offline/{_MATHJAX}")),
]
html_css_files = ["site.css"]
# pages without a section
html_sidebars = {"changelog": [], "contents": [], "gallery": [], "getting-started": [], "index": [], "limits": []}
html_search_scorer = str(DOCS / "_static" / "scorer.js")
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "dockfmu"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def plain_bars(_app, _what, _name, _object, _options, lines: list[str]) -> None:
    """Escape the bars of docstrings, |phi|, outside backticks and code; reStructuredText has a meaning of its own."""
    for number, line in enumerate(lines):
        if not line.startswith("    ") and ">>>" not in line:
            lines[number] = re.sub(r"(`[^`]*`)|\|", lambda match: match[1] or r"\|", line)


def setup(app):
    app.connect("autodoc-process-docstring", plain_bars)
