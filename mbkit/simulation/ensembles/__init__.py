"""Many runs of one system at once."""
