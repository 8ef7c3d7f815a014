"""Calls of kernels: evaluations, arguments, batches, and exceptions for what is refused."""
