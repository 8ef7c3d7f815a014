"""The table of contents for Sphinx, made of the headings and links of `docs/index.md`.

Links to folders, which a host of code lists, are text in built pages.
"""

from __future__ import annotations

import pathlib
import posixpath
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
PAGE = re.compile(r"\]\(([^)\s:#]+)\.(?:md|rst)(?:#[^)\s]*)?\)")

#: Pages whose links are the order in which other pages are read.
LISTS = ("docs/index", "docs/decisions/README")

#: What stands in built pages for a link to a file.
BUILT = {
    "mbkit/__init__.py": "build/reference/index.rst",
    "mbkit/cli/built_in.py": "build/reference/command-line.rst",
    "examples/gallery/GALLERY_HEADER.rst": "build/gallery/index.rst",
}

FRONT = (
    '<!doctype html><meta http-equiv="refresh" content="0; url={page}"><a href="{page}">mbkit</a>\n'
)


def sections(text: str) -> list[tuple[str, list[str]]]:
    """Return the headings of a page, each with the pages that are linked under it.

    A page that is linked several times counts where it is linked first.

    Parameters
    ----------
    text
        A page in Markdown.

    Returns
    -------
    list of (str, list of str)
        Titles, that of the text before the first heading empty, and links without their suffix.
    """
    titled = HEADING.split(text)
    seen: set[str] = set()
    found = []
    for title, body in zip(["", *titled[1::2]], titled[::2], strict=True):
        links = [link for link in dict.fromkeys(PAGE.findall(body)) if link not in seen]
        seen.update(links)
        if links:
            found.append((title, links))
    return found


def _add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    for file, built in BUILT.items():
        source[0] = re.sub(rf"\]\((?:\.\./)*{re.escape(file)}\)", f"](/{built})", source[0])
    if page not in LISTS:
        return
    folder = posixpath.dirname(page)
    listed = sections(source[0])
    for title, links in listed:
        # The list itself, and what another list has, is not below it.
        names = [posixpath.normpath(posixpath.join(folder, link)) for link in links]
        if page != LISTS[0]:
            names = [name for name in names if posixpath.dirname(name) == folder]
        options = [":hidden:", *([f":caption: {title}"] if title else [])]
        if names:
            lines = [
                "",
                "```{toctree}",
                *options,
                "",
                *("/" + name.lstrip("/") for name in names),
                "```",
                "",
            ]
            source[0] += "\n".join(lines)


def _folders(app: Sphinx, doctree: nodes.document) -> None:
    """Make text of links to folders."""
    page = pathlib.Path(app.srcdir, app.env.docname)
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link["reftype"] == "myst" and (page.parent / link["reftarget"]).is_dir():
            link.replace_self(link.children)


def _front_page(app: Sphinx, failure: Exception | None) -> None:
    if failure is None:
        page = app.builder.get_target_uri(app.config.root_doc)
        (pathlib.Path(app.outdir) / "index.html").write_text(FRONT.format(page=page))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the functions of this module to a build."""
    app.connect("source-read", _add_contents)
    app.connect("doctree-read", _folders)
    app.connect("build-finished", _front_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
