"""Bases of the forces of mbkit, and the fields that they have in common."""
