"""The variational step: RATTLE on the group."""
