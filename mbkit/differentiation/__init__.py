"""Derivatives of Python functions of floats: traced once, differentiated, compiled to Python.

Those of dynamics are in `mbkit.systems.derivatives` and `mbkit.kernels.derivatives`.
"""
