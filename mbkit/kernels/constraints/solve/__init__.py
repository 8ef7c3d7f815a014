"""Equations of motion with constraints, solved for multipliers, and projections on constraints."""
