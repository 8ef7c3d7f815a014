"""Forms of the equations of motion: Newton's and Euler's, Hamilton's, Binet's."""
