"""Registries of plugins that end with their test."""

from __future__ import annotations

import pytest

from mbkit.cli import group
from mbkit.plugins import registry as the_registry


def forget():
    the_registry.cache_clear()
    group.registry.cache_clear()


@pytest.fixture
def registry():
    """The registry of the process, new, with what comes with mbkit alone until it is asked."""
    forget()
    yield the_registry()
    forget()
