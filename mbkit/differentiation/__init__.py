"""Derivatives of Python functions of floats: traced once, differentiated, compiled to Python."""
