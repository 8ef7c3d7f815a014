"""Memory for dual numbers, by which joints, forces and constraints are differentiated."""
