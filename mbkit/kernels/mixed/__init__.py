"""Recursions in mixed twists."""
