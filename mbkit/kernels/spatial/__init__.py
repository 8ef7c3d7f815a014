"""Recursions in spatial twists."""
