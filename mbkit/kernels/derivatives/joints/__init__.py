"""Joints in derivatives: changes of pose, S and S-dot v along their steps and by their numbers."""
