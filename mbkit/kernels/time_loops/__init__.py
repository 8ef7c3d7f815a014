"""Time loops: one file for each integrator, as in `mbkit.integrators`, and common functions."""
