"""Steps of the generalized-alpha method, linear about a run."""
