"""Exponential and Cayley maps of SO(3), Sp(1) and SE(3), and their differentials.

Helpers take and return tuples: vectors of three, quaternions (w, x, y, z), 3x3 matrices of nine,
row by row. ``over_*`` modules hold kernels that run a helper down the rows of arrays.

Every differential dpsi is right-trivialised, (D psi(X)[Y]) psi(X)^-1 = dpsi_X Y, so that
V^s = dpsi_X Xdot and V^b = dpsi_-X Xdot. "Mueller (n)" is equation n of A. Mueller,
"Singularity-free Lie group integration and geometrically consistent evaluation of multibody system
models described in terms of standard absolute coordinates", J. Comput. Nonlinear Dyn. 17, 2022.
"""
