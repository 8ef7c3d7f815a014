"""Steps of explicit integrators: stages, error control, dense output, exponentials, history."""
