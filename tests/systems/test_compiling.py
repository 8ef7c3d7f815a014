"""Messages about compilation at the first start of an installation."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.compiled


@pytest.mark.long
def test_compiling_is_told(tmp_path):
    """On the standard error stream; nothing where all is in the cache or logging is off."""
    code = textwrap.dedent(
        """
        import sys, logging
        import mbkit as mb
        if sys.argv[1:]:
            logging.getLogger("mbkit").setLevel(logging.ERROR)
        mech = mb.Mechanism("ball")
        ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(mb.PrismaticJoint("fall"), mech.world, ball)
        mech.assemble()
        from mbkit.kernels import configuration  # stands for what calls need
        assert configuration.retract.address and configuration.difference.address
        """
    )

    def said(cache: str, *arguments: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            capture_output=True, text=True, check=True,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / cache)},
        )  # fmt: skip
        assert done.stdout == ""
        return done.stderr.splitlines()

    line, *_ = said("first")
    assert line.startswith("mbkit compiles")
    assert "once per installation" in line
    assert said("first") == []
    assert said("second", "quiet") == []


@pytest.mark.long
def test_a_later_start_loads_kernels_alone():
    """And not what numba compiles with; a function of numpy that a user compiles is there then."""
    code = textwrap.dedent(
        """
        import sys
        import numpy as np
        import mbkit as mb
        mech = mb.Mechanism("ball")
        ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(mb.RevoluteJoint("swing", axis=(0, 1, 0)), mech.world, ball)
        system = mech.assemble()
        system.forward_dynamics([0.5], [0.0]), system.mass_matrix([0.5])
        mb.simulate(system, (0.0, 0.1), 1e-2)
        kept_away = {"numba.np.arraymath", "numba.np.arrayobj", "numba.cpython.unicode"}
        print(kept_away & set(sys.modules), "scipy.linalg" in sys.modules)
        import numba
        from numba.core.runtime import rtsys
        print(rtsys._init)
        square = numba.njit(lambda A: A @ A)
        print(square(np.full((2, 2), 0.5)).tolist())
        """
    )
    run = [sys.executable, "-c", code]
    subprocess.run(run, check=True, capture_output=True)  # whatever was to compile is there now
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["set() False", "False", "[[0.5, 0.5], [0.5, 0.5]]"]


def test_others_tell_it_themselves(caplog, monkeypatch):
    """Where the command line listens, nothing is said beside it; lines come now and then."""
    from mbkit.kernels.compiling import caching
    from mbkit.systems.calls import compiling_messages
    from mbkit.systems.calls.compiling_messages import tell_of_compiling

    before = caching._listeners[:]
    caching._listeners.clear()
    tell_of_compiling.cache_clear()
    try:
        tell_of_compiling()
        (tell,) = caching._listeners
        with caching.compilation_listener(lambda _: None):
            tell("kernel")
        assert caplog.messages == []
        tell("kernel")
        tell("kernel")
        assert len(caplog.messages) == 1
        monkeypatch.setattr(compiling_messages, "INTERVAL", 0.0)
        tell("other")
        assert caplog.messages[1:] == ["mbkit compiles: 4 kernels so far, now other."]
    finally:
        caching._listeners[:] = before
