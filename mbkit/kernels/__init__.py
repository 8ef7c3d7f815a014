"""Compiled functions over arrays: numbers only. A module compiles its kernels when imported."""
