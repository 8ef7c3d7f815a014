"""How steps end beside the statuses of kernels."""

#: The user has pressed Ctrl-C.
INTERRUPTED = -1

#: An event has ended the run.
TERMINAL = -2

#: Code in Python has raised an exception.
FAILED = -3
