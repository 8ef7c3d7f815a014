"""Linear algebra: LU and complete orthogonal factors of dense matrices, orders of their pivots."""
