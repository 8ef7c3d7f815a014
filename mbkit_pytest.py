"""Fixtures of mbkit for pytest.

It stands outside the package, so that pytest starts as fast as ever: mbkit is imported by the first
test that asks for a fixture.
"""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session")
def check_joint() -> Any:
    """Return `mbkit.testing.check_joint`, which here fails the test if a law is broken."""

    def check(joint: Any, **options: Any) -> Any:
        from mbkit.testing import check_joint as look_at

        report = look_at(joint, **options)
        if not report.holds:
            pytest.fail(str(report), pytrace=False)
        return report

    return check
