"""The algorithms that no representation changes, given the recursion in which each writes them."""
