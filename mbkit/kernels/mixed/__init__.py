"""Operators of recursions in mixed twists: angular in the axes of the body, linear in the world's.

iDynTree calls hybrid twists mixed. The algorithms are in `mbkit.kernels.recursions`.
"""
