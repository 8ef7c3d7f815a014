"""Compiled joints: entries of the table of functions."""
