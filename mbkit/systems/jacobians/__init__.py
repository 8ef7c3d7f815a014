"""The Jacobian of all bodies, its factors and its rates."""
