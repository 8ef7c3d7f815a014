"""Inertial and geometric parameters: regressors and identifiable combinations."""
