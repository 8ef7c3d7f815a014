"""Compiled joints: rows of the table of functions."""
