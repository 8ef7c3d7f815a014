"""A process in which Python runs the kernels, so that numbers of other types go through them."""

from __future__ import annotations

import os
import sys

__all__ = ["answer_of"]


def answer_of(module: str, given: bytes) -> tuple[bytes | None, str]:
    """Return the answer of a module, run as a program, to its input, or why there is none."""
    import subprocess  # which `import mbkit` would load otherwise

    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", module], input=given, capture_output=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return done.stdout, ""
    last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return None, last[0] if last else "no reason is given"
