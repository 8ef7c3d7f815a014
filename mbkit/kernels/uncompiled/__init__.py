"""Kernels for lanes where Python runs them: numbers, memory, and copies of kernels for these."""
