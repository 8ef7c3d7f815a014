"""Defaults of joints, from their poses: derivatives, wrenches, the nearest configuration."""
