"""Joints whose motion is given: a function of the time, or one that a model file can hold."""
