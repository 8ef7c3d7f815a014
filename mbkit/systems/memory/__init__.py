"""Memory of systems: frozen arrays, scratch memory of callers, slots of what is in Python."""
