"""A free joint in absolute coordinates, with its orientations and the coordinates of its steps."""
