"""The files of compiled kernels."""

from __future__ import annotations

import pickle
import sys

import pytest

from mbkit.kernels.compiling.caching import _Files


class Moved:
    """A class that is nowhere when its pickle is read."""


@pytest.mark.parametrize("damage", ["a class that is gone", "half of a file", "no pickle"])
def test_an_index_that_cannot_be_read_is_empty(tmp_path, monkeypatch, damage):
    """After an update, names in it may be nowhere; what is compiled then replaces it."""
    files = _Files(cache_path=str(tmp_path), filename_base="kernel", source_stamp="old")
    monkeypatch.setattr(Moved, "__module__", "mbkit.kernels.moved")
    with monkeypatch.context() as before:
        before.setitem(sys.modules, "mbkit.kernels.moved", sys.modules[__name__])
        index = pickle.dumps(files._version) + pickle.dumps(("old", {Moved: "kernel.1.nbc"}))
    path = tmp_path / "kernel.nbi"
    path.write_bytes({"half of a file": index[:-9], "no pickle": b"x"}.get(damage, index))
    assert files.load("key") is None
    files.save("key", b"machine code")
    assert files.load("key") == b"machine code"
