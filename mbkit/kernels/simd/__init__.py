"""Several numbers at once in vector registers (SIMD): sums, products, models of samples."""
