"""Systems on traced numbers: copies of their kernels, which leave a tape."""
