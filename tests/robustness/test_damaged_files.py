"""A small run of the kit of damaged files; ``make fuzz`` runs it for long."""

from __future__ import annotations

import pytest

from tests.robustness.damaged_files import CASES, fuzz

COUNT = 300


@pytest.mark.long
@pytest.mark.slow
def test_damaged_files_are_read_as_they_were_or_refused():
    """No crash, no other exception, no other number, and no more memory than the files take."""
    outcomes, faults = fuzz(600.0, seed=1, count=COUNT)
    assert not faults, "\n\n".join(faults)
    assert sum(outcomes.values()) == COUNT
    refused = sum(count for outcome, count in outcomes.items() if "refused" in outcome)
    assert refused > 0.7 * COUNT
    assert outcomes["damaged_result: refused"] > 0.9 * COUNT / len(CASES)
