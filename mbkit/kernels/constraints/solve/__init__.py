"""Equations of motion with constraints, solved for multipliers, and projections on constraints.

`dynamics` calls for multipliers; `schur_complement`, `minimum_norm` and `null_space` find them,
and `rank` decides which rows count.
"""
