"""The compilation of kernels by numba: their cache, their links to each other, rules of fusing."""
