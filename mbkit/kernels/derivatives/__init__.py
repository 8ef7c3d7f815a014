"""Derivatives of the functions of a system by configuration and velocity."""
