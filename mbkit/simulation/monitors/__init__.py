"""Monitors of a run: warnings that its numbers may be wrong, and their tests."""
