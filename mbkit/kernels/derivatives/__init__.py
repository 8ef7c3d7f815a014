"""Derivatives of what a system computes, with respect to configuration and velocity."""
