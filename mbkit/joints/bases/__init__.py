"""Bases of the joints of mbkit, and the fields that they have in common."""
