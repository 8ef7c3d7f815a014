"""Second derivatives of inverse dynamics."""
