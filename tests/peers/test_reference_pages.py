"""Pages of the reference, which Sphinx makes of docstrings."""

from __future__ import annotations

import inspect
import re

import mbkit as mb
from tools.pages import contents, reference

#: An entry, and not the table of names.
ENTRY = re.compile(r"\.\. (?:auto(?!summary)\w+|py:data):: (.*)")


def test_every_public_name_has_an_entry():
    """By subject, each once, and in the text of its page."""
    found = reference.public_names()
    listed = [name for names in found.values() for name in names]
    assert len(listed) == len({*listed})
    public = {
        f"mbkit.{name}" for name in dir(mb)
        if not (name.startswith("_") or inspect.ismodule(getattr(mb, name)))
    }  # fmt: skip
    assert public <= {*listed}
    assert {"mbkit.testing.check_joint", "mbkit.spatial.rotation"} <= {*listed}
    pages = [reference.page(subject, names) for subject, names in found.items()]
    entries = [each for page in pages for each in ENTRY.findall(page)]
    assert sorted(entries) == sorted(listed)


def test_contents_are_the_headings_and_links_of_a_page():
    text = "[a](a.md#x)\n## One\n[b](b.md), [elsewhere](https://x.org/y.md), [a](a.md)\n## Two\n"
    assert contents.sections(text) == [("", ["a"]), ("One", ["b"])]
