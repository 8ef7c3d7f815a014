"""Sums and products of several numbers at once, in the instructions of vector units (SIMD)."""
