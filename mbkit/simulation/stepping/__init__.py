"""The loop around steps of an integrator: chunks, events within steps, output times, failures."""
