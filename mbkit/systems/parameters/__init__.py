"""Inertial and geometric parameters: regressors, and what of them can be known."""
