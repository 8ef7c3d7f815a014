"""Settings of the pages for Sphinx, which `make docs` builds into `build/docs`.

The source folder is the root of the project, so that links from pages to the README, to examples
and to modules are the same here and on a host of code. Code in pages is run by
`tests/project/test_documents.py`, and not a second time here.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools.pages import gallery  # noqa: E402 - which is found by this path

project = "mbkit"
author = "the maintainers of mbkit"
html_title = "mbkit"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "tools.pages.commands",
    "tools.pages.contents",
    "tools.pages.formulas",
    "tools.pages.reference",
]
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/**/*.md",
    "build/reference/*.rst",
    "build/gallery/*.rst",
]
exclude_patterns = [".*", "docs/**/__pycache__", "docs/studies/results"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 6  # the names that hosts of code give to headings

autosummary_generate = False  # tools/pages/reference.py writes the pages
autodoc_typehints = "none"  # docstrings say the types, with shapes
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
default_role = "code"
suppress_warnings = ["ref.footnote"]  # sources that a docstring lists and does not cite

sphinx_gallery_conf = gallery.SETTINGS

html_theme = "furo"
html_math_renderer = "mathtext"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
