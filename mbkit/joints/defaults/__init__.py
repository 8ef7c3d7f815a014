"""Defaults of joints, from their poses: derivatives, wrenches, the nearest configuration.

And which of them a subclass gets that overrides methods.
"""
