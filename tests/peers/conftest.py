"""Comparisons with other programs."""

from __future__ import annotations


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "peers: compares with another program, which must be installed (`make peers`)"
    )
