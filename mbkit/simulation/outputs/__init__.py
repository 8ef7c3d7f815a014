"""Outputs of a run: what is computed at the rows that it saves, beside the states."""
