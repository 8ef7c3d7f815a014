"""The algorithms that no representation changes, given the steps in which each writes them."""
