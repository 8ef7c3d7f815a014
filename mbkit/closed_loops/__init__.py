"""Closed loops: configurations that close them, all assemblies, and consistent velocities."""
