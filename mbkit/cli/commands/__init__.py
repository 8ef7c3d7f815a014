"""The commands of `mbkit`, one a file."""
