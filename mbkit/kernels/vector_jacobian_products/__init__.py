"""Vector-Jacobian products: weights times the derivatives of dynamics, O(bodies)."""
