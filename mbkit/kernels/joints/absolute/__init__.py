"""The free joint in absolute coordinates: orientations, local coordinates, and their maps."""
