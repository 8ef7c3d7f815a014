"""Operators of recursions in spatial twists: at the origin of the world, in its axes.

The algorithms are in `mbkit.kernels.recursions`.
"""
