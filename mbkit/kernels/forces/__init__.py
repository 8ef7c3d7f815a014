"""Compiled forces: rows of a table of functions, and the pass that calls them."""
