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
    return _failing("check_joint")


@pytest.fixture(scope="session")
def check_integrator() -> Any:
    """Return `mbkit.testing.check_integrator`, which here fails the test if a law is broken."""
    return _failing("check_integrator")


def _failing(name: str) -> Any:
    def check(subject: Any, **options: Any) -> Any:
        import mbkit.testing

        report = getattr(mbkit.testing, name)(subject, **options)
        if not report.holds:
            pytest.fail(str(report), pytrace=False)
        return report

    return check
