"""Kinds of constraints: residual, rate and rows of each."""
