"""Calls of kernels: evaluations, arguments, batches, and exceptions for refused calls."""
