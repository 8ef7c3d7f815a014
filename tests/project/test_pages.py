"""Built pages of documentation: what the check of `make docs` finds in them."""

from __future__ import annotations

import re

import pytest

from tests.project.conftest import ROOT
from tools.pages import check

HERE = '<h1 id="top">Here</h1><a href="#top">up</a> <a href="other.html#part">there</a>'
THERE = '<h2 id="part">There</h2><a href="https://example.org/">elsewhere, if the reader asks</a>'


def faults(tmp_path, more="", css=""):
    (tmp_path / "index.html").write_text(HERE + more)
    (tmp_path / "other.html").write_text(THERE)
    (tmp_path / "page.css").write_text(css)
    return check.faults(tmp_path)


def test_links_to_pages_and_to_other_hosts_are_no_faults(tmp_path):
    (tmp_path / "a b.png").touch()
    assert not faults(tmp_path, '<img src="a%20b.png"><img src="data:image/png;base64,AA==">')


@pytest.mark.parametrize(
    "link", ["missing.html", "other.html#missing", "#missing", "images/no.png"]
)
def test_a_link_that_leads_nowhere_is_named(tmp_path, link):
    assert faults(tmp_path, f'<a href="{link}">x</a>') == [f"index.html: {link} leads nowhere"]


@pytest.mark.parametrize(
    "element",
    [
        '<script src="{}"></script>',
        '<link rel="stylesheet" href="{}">',
        '<link rel="preload" href="{}">',
        '<img src="{}">',
        '<iframe src="{}"></iframe>',
        "<style>@import '{}';</style>",
        '<p style="background: url({})">x</p>',
    ],
)
@pytest.mark.parametrize("address", ["https://example.org/x", "//example.org/x"])
def test_whatever_a_page_fetches_from_another_host_is_named(tmp_path, element, address):
    expected = [f"index.html: fetches {address}"]
    assert faults(tmp_path, element.format(address)) == expected


def test_styles_that_fetch_fonts_are_named(tmp_path):
    css = "@font-face { src: url('https://example.org/font.woff') }"
    assert faults(tmp_path, css=css) == ["page.css: fetches https://example.org/font.woff"]


def test_a_folder_without_pages_is_no_success(tmp_path):
    assert check.faults(tmp_path)


def test_the_list_of_pages_names_every_page():
    """Sphinx refuses a page that stands in no menu; this tells of it without building any."""
    docs = ROOT / "docs"
    lists = {docs / "index.md": docs, docs / "decisions" / "README.md": docs / "decisions"}
    listed = set()
    for path, folder in lists.items():
        links = re.findall(r"\]\(([^)#:]+\.md)", path.read_text(encoding="utf-8"))
        listed |= {(folder / link).resolve() for link in links}
    results = docs / "studies" / "results"  # what `mbkit run` leaves there
    pages = {page for page in docs.rglob("*.md") if results not in page.parents}
    assert not pages - listed - {*lists}
