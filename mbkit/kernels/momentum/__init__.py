"""Hamilton's equations: velocities and rates of momenta from momenta, without the mass matrix."""
