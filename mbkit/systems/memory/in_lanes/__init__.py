"""Memory for several samples at once, each in a lane of the registers."""
