"""Steps of Runge-Kutta-Munthe-Kaas methods, linear about a run."""
