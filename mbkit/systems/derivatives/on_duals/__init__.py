"""Exact derivatives of forces and constraints on dual numbers, along several directions at once."""
