"""Check of built pages: links within them lead somewhere, and nothing is fetched from other hosts.

Called by `make docs` as `python -m tools.pages.check build/docs`.
"""

from __future__ import annotations

import pathlib
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

#: Attributes whose address a browser fetches by itself.
FETCHED = {
    ("audio", "src"), ("embed", "src"), ("iframe", "src"), ("image", "href"), ("img", "src"),
    ("img", "srcset"), ("input", "src"), ("link", "href"), ("object", "data"), ("script", "src"),
    ("source", "src"), ("source", "srcset"), ("track", "src"), ("use", "href"), ("video", "poster"),
    ("video", "src"),
}  # fmt: skip

#: Relations of a `link` that name a page and fetch nothing.
NAMED = {"author", "canonical", "index", "license", "next", "prev", "search"}

STYLE = re.compile(r"""(?:url\(\s*['"]?|@import\s+['"])((?:https?:)?//[^'")\s]+)""")


class Page(HTMLParser):
    """What a page has: names to jump to, links, and what it fetches.

    Parameters
    ----------
    text
        The page.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: set[str] = set()
        self.fetched: set[str] = set(STYLE.findall(text))
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the names and addresses of an element."""
        given = {key: value for key, value in attrs if value is not None}
        self.names |= {given[key] for key in ("id", "name") if key in given}
        named = tag == "link" and NAMED & {*given.get("rel", "").split()}
        for key, address in given.items():
            if (tag, key) in FETCHED and not named:
                self.fetched.add(address)
            if key in ("href", "src"):
                self.links.add(address)


def foreign(address: str) -> bool:
    """Return whether an address is on another host."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in ("http", "https", "ftp")


def faults(root: pathlib.Path) -> list[str]:
    """Return what is wrong in a folder of pages, one line each.

    Parameters
    ----------
    root
        The folder.

    Returns
    -------
    list of str
        Empty where all links lead somewhere and nothing is fetched from elsewhere.
    """
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    found = [] if pages else [f"{root}: no page is there"]
    for path, page in pages.items():
        where = path.relative_to(root)
        found += [f"{where}: fetches {each}" for each in sorted(page.fetched) if foreign(each)]
        inside = (
            each for each in sorted(page.links) if not urlsplit(each).scheme and not foreign(each)
        )
        found += [
            f"{where}: {each} leads nowhere" for each in inside if not _there(path, each, pages)
        ]
    for path in sorted(root.rglob("*.css")):
        addresses = sorted({*STYLE.findall(path.read_text(encoding="utf-8"))})
        found += [f"{path.relative_to(root)}: fetches {each}" for each in addresses]
    return found


def _there(path: pathlib.Path, address: str, pages: dict[pathlib.Path, Page]) -> bool:
    parts = urlsplit(address)
    target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
    if not target.exists():
        return False
    return (
        not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].names
    )


def main(folder: str) -> int:
    """Print the faults of a folder; return 1 where there are some."""
    found = faults(pathlib.Path(folder).resolve())
    for line in found:
        print(line)  # noqa: T201 - a command
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
