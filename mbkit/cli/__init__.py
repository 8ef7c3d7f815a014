"""The command ``mbkit``. Modules here import click only; the rest when a command runs."""
