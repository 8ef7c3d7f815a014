"""Small motions around a state: equilibria, linear models, modes, compliance."""
