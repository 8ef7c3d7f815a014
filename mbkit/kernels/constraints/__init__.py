"""Constraints: loops that are closed again, and their multipliers."""
