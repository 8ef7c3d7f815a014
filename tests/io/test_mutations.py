"""Malformed model files: each loads or is refused with file and line, and opens nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.io.mutations import MUTATIONS, ORIGINALS, ROOT, __file__ as program, mutant  # isort: skip

COUNT = 1000
SECONDS = 5.0  # for one file; the slowest takes 0.2 s on a quiet machine


def test_mutants_are_of_all_kinds_and_always_the_same():
    kinds = {(suffix, kind) for suffix, kind, _ in map(mutant, range(3 * len(MUTATIONS)))}
    assert len(kinds) == 3 * len(MUTATIONS)
    assert mutant(7) == mutant(7)
    assert len({data for _, _, data in map(mutant, range(COUNT))}) > 0.9 * COUNT


@pytest.mark.long
def test_malformed_files_are_refused_with_file_and_line(tmp_path):
    """No other exception, no crash, no hang, no file opened but themselves, nothing fetched."""
    command = [sys.executable, program, str(tmp_path), str(COUNT)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    report = json.loads(done.stdout)
    assert report["watched"], "an opened file was not seen: the watch does not work"
    assert report["opened"] == []
    assert report["wrong"] == []
    assert report["slowest"][0] < SECONDS
    outcomes = report["outcomes"]
    assert sum(outcomes.values()) == COUNT
    # most are refused; those that load have lost a blank, a digit, or what may be left out
    for suffix in ORIGINALS:
        assert outcomes[f"{suffix} refused"] > 0.8 * COUNT / len(ORIGINALS)
