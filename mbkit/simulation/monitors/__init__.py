"""Monitors of a run: findings that its numbers may be wrong, and what shows them."""
