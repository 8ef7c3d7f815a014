"""Runs with a directory: written part by part while they go, and continued."""
