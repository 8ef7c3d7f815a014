"""Fixtures of mbkit for pytest, and what they could not decide at the end of its output.

It stands outside the package, so that pytest starts as fast as ever: mbkit is imported by the first
test that asks for a fixture.
"""

from __future__ import annotations

from typing import Any

import pytest

#: Reports with laws that are undecided; of a worker of pytest-xdist they go to the main process.
_UNDECIDED = pytest.StashKey[list[str]]()
_OUTPUT = "mbkit_undecided"


@pytest.fixture(scope="session")
def check_joint(pytestconfig: pytest.Config) -> Any:
    """Return `mbkit.testing.check_joint`, which here fails the test if a law is broken."""
    return _failing("check_joint", pytestconfig)


@pytest.fixture(scope="session")
def check_integrator(pytestconfig: pytest.Config) -> Any:
    """Return `mbkit.testing.check_integrator`, which here fails the test if a law is broken.

    Laws that are undecided are shown when all tests are over.
    """
    return _failing("check_integrator", pytestconfig)


def _failing(name: str, config: pytest.Config) -> Any:
    def check(subject: Any, **options: Any) -> Any:
        import mbkit.testing

        report = getattr(mbkit.testing, name)(subject, **options)
        if not report.holds:
            pytest.fail(str(report), pytrace=False)
        if report.undecided:
            lines = (report.headline, *(f"  {line}" for line in report.undecided))
            config.stash.setdefault(_UNDECIDED, []).append("\n".join(lines))
        return report

    return check


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand over what a worker of pytest-xdist has found."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_OUTPUT] = session.config.stash.get(_UNDECIDED, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take what a worker of pytest-xdist has found; one that crashed hands over nothing."""
    found = getattr(node, "workeroutput", {}).get(_OUTPUT, [])
    node.config.stash.setdefault(_UNDECIDED, []).extend(found)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show the laws that are neither kept nor broken, as far as can be seen."""
    found = config.stash.get(_UNDECIDED, [])
    if found:
        terminalreporter.section("undecided laws of mbkit")
        terminalreporter.write_line("\n".join(found))
