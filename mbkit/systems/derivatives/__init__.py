"""Derivatives of evaluations by states, efforts, time and parameters."""
