"""Requests that do not fit into memory are refused by name, before anything is computed."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mbkit as mb
from benchmarks.absolute import absolute, hanging_chain, row_of_four_bars
from mbkit import memory
from mbkit.memory import available_memory, check_memory

COUNT = 40

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return what lets the machine have memory for so many numbers; all arrays are looked at."""

    def let(numbers: float) -> None:
        monkeypatch.setattr(memory, "LARGE", 0)
        monkeypatch.setattr(memory, "available_memory", lambda: 8.0 * numbers)

    return let


@pytest.fixture
def chain(only: Callable[[float], None]) -> mb.System:
    """Return a chain where there is memory for less than half of its mass matrix."""
    only(0.4 * COUNT**2)
    return hanging_chain(COUNT).assemble()


def test_results_that_grow_with_squares(chain: mb.System) -> None:
    q, v = chain.reference_configuration(), np.zeros(COUNT)
    assert np.isfinite(chain.forward_dynamics(q, v, v)).all()
    assert np.isfinite(chain.mass_action(q, v)).all()
    for compute in (
        lambda: chain.mass_matrix(q),
        lambda: chain.mass_matrix(q, on_error="nan"),
        lambda: chain.inverse_dynamics_derivatives(q, v, v),
        lambda: chain.force_derivatives(q, v),
    ):
        with pytest.raises(mb.NoMemoryError, match=r"(40|80) x 40 numbers.*mass_action"):
            compute()
    for order in (1, 2):
        with pytest.raises(mb.NoMemoryError, match=f"order {order} of the mass matrix of 40"):
            chain.inverse_mass_matrix_derivatives(q, order)
    with pytest.raises(mb.NoMemoryError, match="Second derivatives of 40 efforts, of 1 states"):
        chain.inverse_dynamics_second_derivatives(q, v, v)
    with pytest.raises(mb.NoMemoryError, match=r"mass matrix of 40 velocities.*use mass_action"):
        chain.mass_factor(q)
    with pytest.raises(mb.NoMemoryError, match="derivatives of accelerations"):
        chain.forward_dynamics_derivatives(q, v, v)


def test_an_array_that_is_given_is_written_to(chain: mb.System) -> None:
    out = np.empty((COUNT, COUNT))
    assert chain.mass_matrix(chain.reference_configuration(), out=out) is out


@pytest.mark.compiled
def test_batches(chain: mb.System) -> None:
    q, v = chain.reference_configuration(), np.zeros(COUNT)
    with pytest.raises(mb.NoMemoryError, match=r"'vdot' \(20 x 40 numbers\).*fewer samples"):
        chain.forward_dynamics(np.tile(q, (20, 1)), v, v)
    # 10^10 samples of two arrays of 10^5
    samples = np.broadcast_to(q, (10**5, 1, COUNT)), np.broadcast_to(v, (1, 10**5, COUNT)), v
    with pytest.raises(mb.NoMemoryError, match=r"batch axes \(100000, 100000\)"):
        chain.forward_dynamics(
            *(
                np.lib.stride_tricks.as_strided(
                    np.zeros(COUNT), each.shape, (0,) * (each.ndim - 1) + (8,)
                )
                for each in samples
            )
        )


IMPLICIT: list[Any] = [mb.GeneralizedAlpha(), mb.BLieDF(2), mb.RATTLie()]


@pytest.mark.parametrize("method", IMPLICIT, ids=lambda method: type(method).__name__)
def test_implicit_steps(chain: mb.System, method: Any, tmp_path: pathlib.Path) -> None:
    """Nothing is on the disk either."""
    for output in (None, tmp_path / "run"):
        with pytest.raises(mb.NoMemoryError, match=r"40 velocities and 0 rows.*AbsoluteCoord"):
            mb.simulate(chain, (0.0, 0.01), 1e-3, integrator=method, output=output, progress=False)
    assert not (tmp_path / "run").exists()


def test_strategies_for_constraints(only: Callable[[float], None]) -> None:
    system = absolute(row_of_four_bars(8)).with_constraint_solver(mb.NullSpace())
    q, v = system.reference_configuration(), np.zeros(system.nv)
    only(system.nv * system.num_velocity_constraints)
    with pytest.raises(mb.NoMemoryError, match="NullSpace of 102 velocities and 125 rows"):
        system.forward_dynamics(q, v, v)
    with pytest.raises(mb.NoMemoryError, match="diagnosis of 125 rows of constraints on 102"):
        system.diagnose(q)


def test_constraints_that_share_a_joint(only: Callable[[float], None]) -> None:
    """Forty distances from one body: each is coupled with each, and the pattern is refused."""
    mech = hanging_chain(2)
    mech.add_body(mb.Body("far", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.FreeJoint("flight"), "world", "far")
    for k in range(COUNT):
        ends = {"point_a": (0.0, 0.0, 0.1 * k), "point_b": (0.0, 0.0, 0.1 * k)}
        mech.add_constraint(mb.Distance(f"d{k}", "bar1", "far", length=1.0, **ends))
    only(1e4)
    with pytest.raises(mb.NoMemoryError, match="40 constraints on one joint or body"):
        mech.assemble()


def test_saved_states(chain: mb.System) -> None:
    with pytest.raises(mb.NoMemoryError, match=r"1002 saved states.*takes.*save_every"):
        mb.simulate(chain, (0.0, 1.0), 1e-3, progress=False)


def test_what_there_is_is_known_and_small_arrays_do_not_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert 0.0 < available_memory() < 2.0**60
    with pytest.raises(mb.NoMemoryError, match=r"^All of it takes 9.31e\+08 GiB of memory, and"):
        check_memory(1.25e17, "All of it", "take less")
    monkeypatch.setattr(memory, "available_memory", None)
    check_memory(1000, "Little", "")


#: A chain whose dense matrices take 81 MB, in a process that may take 50 more.
LIMITED = """
import pathlib, resource
import mbkit as mb
from benchmarks.absolute import hanging_chain
from mbkit import memory

def refused():
    try:
        mb.simulate(system, (0, 1e-3), 1e-3, integrator=mb.GeneralizedAlpha(), progress=False)
    except mb.NoMemoryError as error:
        return str(error)

system = hanging_chain(1300).assemble()
there, memory.available_memory = memory.available_memory, lambda: 0.0
assert refused()  # all that is compiled or loaded before is there now
memory.available_memory = there
used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 50_000_000,) * 2)
print(refused())
"""


@pytest.mark.long
@pytest.mark.compiled
def test_a_process_with_a_limit() -> None:
    root = pathlib.Path(mb.__file__).parents[1]
    said = subprocess.run(
        [sys.executable, "-c", LIMITED], cwd=root, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr[-500:]
    assert "a matrix of 1300 x 1300," in said.stdout
    assert "of memory, and 0.0" in said.stdout
