"""Memory of systems: frozen arrays, scratch memory of callers, slots of Python objects."""
