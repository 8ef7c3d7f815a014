"""Outputs of a run: values computed at the rows that it saves, beside the states."""
