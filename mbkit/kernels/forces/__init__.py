"""Compiled forces: entries of a table of functions, and the pass that calls them."""
