"""Pictures of results; every module here imports matplotlib when it is called, not before."""
