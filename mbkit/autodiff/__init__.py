"""Automatic differentiation of Python functions: traced on tapes, differentiated, compiled.

Derivatives of dynamics are in `mbkit.systems.derivatives` and `mbkit.kernels.derivatives`.
"""
