"""The four representations, for tests that hold in each."""

from collections.abc import Mapping
from typing import Any

import pytest

from mbkit.representations import REPRESENTATIONS as BY_NAME

REPRESENTATIONS = tuple(BY_NAME.values())

each_representation = pytest.mark.parametrize(
    "representation", REPRESENTATIONS, ids=[each.name for each in REPRESENTATIONS]
)


def in_turn(cases: Mapping[str, Any], others: Mapping[str, Any]) -> list[Any]:
    """Return all pairs of a case and another thing, by name: one in turn of these for each case.

    The pairs that are left are tests of `make long`. For laws in which neither of the two knows the
    other, as mechanisms and representations.
    """
    return [
        pytest.param(
            cases[case],
            others[other],
            id=f"{case}-{other}",
            marks=[] if k == j % len(others) else pytest.mark.long,
        )
        for j, case in enumerate(cases)
        for k, other in enumerate(others)
    ]


def representations_in_turn(name: str, cases: Mapping[str, Any]) -> pytest.MarkDecorator:
    """Parametrize by cases, each in one representation in turn; the others are in `make long`."""
    return pytest.mark.parametrize((name, "representation"), in_turn(cases, BY_NAME))
