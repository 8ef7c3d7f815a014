"""The command ``mbkit``: its groups and options.

Modules here import click, `mbkit.errors` and each other at their tops. The library's other parts,
and whatever is heavy, are imported when a command runs.
"""
