"""The code of pages about other programs and pictures, whose packages `make peers` installs."""

from __future__ import annotations

import pathlib

import pytest

from tests.project.conftest import ROOT, WITH_PEERS
from tests.project.test_documents import run_code


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")  # of peers
@pytest.mark.filterwarnings("error::mbkit.errors.ForceDerivativeWarning")
@pytest.mark.parametrize("page", WITH_PEERS)
def test_code_runs(page, tmp_path, monkeypatch):
    run_code(pathlib.Path(ROOT, page), tmp_path, monkeypatch)
