"""Implicit steps: the equations of a step on the group, and Newton's method for them."""
