"""Time loops: one file an integrator, as in `mbkit.integrators`, and what all of them call."""
