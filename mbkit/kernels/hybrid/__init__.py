"""Recursions in hybrid twists."""
