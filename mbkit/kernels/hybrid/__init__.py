"""Operators of recursions in hybrid twists: at the body's frame, in the axes of the world.

Pinocchio calls these LOCAL_WORLD_ALIGNED. The algorithms are in `mbkit.kernels.recursions`.
"""
