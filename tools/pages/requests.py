"""Requests of built pages in a browser: Chromium opens some, and each request is noted.

`tools.pages.check` reads what pages have; what their scripts fetch shows only when they run.
"""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: The browser of Debian, which `.ci/run` installs.
CHROMIUM = pathlib.Path("/usr/bin/chromium")

#: Pages of each kind: of text with formulas, with pictures, of the gallery with films, of the
#: reference; the start page first, from which a browser goes on to the contents.
OPENED = (
    "index.html", "docs/tutorials/*.html", "docs/theory/*.html", "docs/studies/*.html",
    "docs/pictures.html", "build/gallery/*.html", "build/reference/*.html", "search.html",
)  # fmt: skip


#: Pages of one kind that are opened: they share their scripts, and each takes half a second.
MOST = 8


def missing() -> str:
    """Return what is missing to open pages; nothing where they can be opened."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright (the extra 'browser')"
    return "" if CHROMIUM.exists() else f"chromium ({CHROMIUM})"


def faults(root: pathlib.Path, patterns: Iterable[str] = OPENED) -> list[str]:
    """Return what pages ask for beyond the folder, and scripts that fail, one line each.

    Parameters
    ----------
    root
        The folder of pages.
    patterns
        Which pages are opened.

    Returns
    -------
    list of str
        Empty where pages ask for files of the folder alone.
    """
    from playwright.sync_api import sync_playwright

    found: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        for pattern in patterns:
            paths = sorted(root.glob(pattern))[:MOST]
            found += [] if paths else [f"{pattern}: no page is there"]
            for path in paths:
                asked, failed = _opened(browser, path.as_uri())
                where = path.relative_to(root)
                found += [f"{where}: asks for {each}" for each in asked if not _within(root, each)]
                found += [f"{where}: {each}" for each in failed]
        browser.close()
    return found


def _opened(browser: Browser, address: str) -> tuple[list[str], list[str]]:
    """Return what a page asks for, and the errors of its scripts."""
    page = browser.new_page()
    asked: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(address, wait_until="load")
    page.wait_for_timeout(100)  # for scripts that begin when the page is there [ms]
    page.close()
    return asked, failed


def _within(root: pathlib.Path, address: str) -> bool:
    """Return whether an address is a file of a folder, or stands in the page itself."""
    parts = urlsplit(address)
    if parts.scheme == "file":
        return not parts.netloc and pathlib.Path(unquote(parts.path)).is_relative_to(root)
    return parts.scheme in ("about", "blob", "data")


def main(folder: str) -> int:
    """Print the faults of a folder; return 1 where there are some."""
    if missing():
        print(f"Pages were not opened in a browser: {missing()} is not there.", file=sys.stderr)  # noqa: T201
        return 0
    found = faults(pathlib.Path(folder).resolve())
    for line in found:
        print(line)  # noqa: T201 - a command
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
