"""Symbolic sparsity: which rows of matrices meet, and in which order they are eliminated.

All of it is found once, when a system is assembled or a run prepared, from tables of integers;
kernels read what comes of it.
"""
