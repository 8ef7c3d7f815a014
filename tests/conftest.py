"""Settings of the whole test suite."""

from __future__ import annotations

import os

import hypothesis

# Pictures in tests never open a window.
os.environ["MPLBACKEND"] = "Agg"

# The same examples each time: a test that fails must fail again. No deadline, since the first
# example may load compiled code from the disk.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis.settings.load_profile("repeatable")
