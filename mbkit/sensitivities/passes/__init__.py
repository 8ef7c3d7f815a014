"""One pass over the bodies at each state, which the adjoints of integrators share."""
