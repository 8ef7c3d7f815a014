"""Operators of recursions in body-fixed twists: V = (w, v) of the body's frame, in its axes.

The algorithms are in `mbkit.kernels.recursions`.
"""
