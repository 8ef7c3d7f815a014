"""Compiled functions over arrays: numbers only. A module compiles its kernels when imported.

Dynamics of trees (RNEA, ABA, CRBA) are in `recursions`, their derivatives in `derivatives`, joints
in `joints`, constraints in `constraints`, steps of integrators in `time_loops`.
docs/architecture.md says where everything is.
"""
