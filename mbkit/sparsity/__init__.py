"""Symbolic sparsity: coupled constraints and bodies, and the order of their elimination.

It is computed once, when a system is assembled or a run prepared, as tables of integers for the
kernels.
"""
