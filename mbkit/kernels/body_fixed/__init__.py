"""The recursions in body-fixed twists: V = (w, v) of the body's frame, resolved in it."""
