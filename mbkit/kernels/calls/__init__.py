"""Calls of kernels from Python: of one sample, of many, and of many in lanes."""
