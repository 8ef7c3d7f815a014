"""Integrators of mbkit in runs that are continued, in files, and in studies."""

import json

import numpy as np
import pytest

import mbkit as mb
from mbkit.integrators import INTEGRATORS
from mbkit.integrators.bliedf import BackwardDifferences
from mbkit.integrators.description import described, from_description
from tests.simulation.long_runs import SPAN, STEP, assert_same, ball_and_hinge, start

T = mb.tableaus
METHODS = [
    mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE5),
    mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE5, rtol=1e-7, atol=1e-9),
    mb.RungeKuttaMuntheKaas(T.VERNER6, truncation=4),
    mb.CrouchGrossman(T.CROUCH_GROSSMAN4),
    mb.CommutatorFree(mb.COMMUTATOR_FREE3),
    mb.MultistepMuntheKaas(4),
    mb.LocalVectorSpace("RK45"),
    mb.LocalVectorSpace("RK23", rtol=1e-6),
    mb.QuaternionVectorSpace("RK45"),
    mb.QuaternionVectorSpace("RK45", norm="constrained"),
]


def test_whole_numbers_of_any_kind_are_taken():
    """Those of numpy too, as loops over arrays give them; not what is no whole number."""
    assert mb.MultistepMuntheKaas(np.int64(3)) == mb.MultistepMuntheKaas(3)
    assert type(mb.MultistepMuntheKaas(np.int64(3)).steps) is int
    assert mb.RungeKuttaMuntheKaas(T.RK4, truncation=np.int32(2)).order == 4
    assert BackwardDifferences(np.int64(2)) == BackwardDifferences(2)
    for wrong in (3.0, True, "3"):
        with pytest.raises(mb.UsageError, match="steps"):
            mb.MultistepMuntheKaas(wrong)


@pytest.fixture(scope="module")
def system():
    return ball_and_hinge().assemble()


class Stop(Exception):
    pass


def run(system, method, path=None):
    span = (SPAN[0], SPAN[0] + 0.5)
    return mb.simulate(
        system, span, STEP, output=path, integrator=method, save_every=7, **start(system)
    )


@pytest.mark.some(12)
@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_run_goes_on_with_its_integrator(system, method, tmp_path, monkeypatch):
    """From the directory alone, after Ctrl-C in the middle, bit for bit."""
    monkeypatch.setattr("mbkit.simulation.stepping.chunks.CHUNK", 1e-4)
    kind = type(method)
    prepare = kind.prepare

    def stopping(self, problem):
        inner = prepare(self, problem)

        def advance(first, steps, rows):
            if first >= 300:
                raise KeyboardInterrupt
            return inner(first, min(steps, 100), rows)

        return advance

    with monkeypatch.context() as patched:
        patched.setattr(kind, "prepare", stopping)
        assert not run(system, method, tmp_path / "run").completed
    went_on = mb.resume(tmp_path / "run", progress=False)
    assert went_on.options["integrator"] == repr(method)
    assert_same(went_on, run(system, method))


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_description_says_all(method):
    """Through a file and back."""
    text = json.dumps(described(method))
    again = from_description(json.loads(text))
    assert again == method
    assert repr(again) == repr(method)


def test_what_is_not_mbkits_has_no_fields():
    class Mine(mb.Integrator):
        order = 1

        def prepare(self, problem):
            raise NotImplementedError

    assert described(Mine()) == {"class": described(Mine())["class"]}
    assert from_description(described(Mine())) is None


def test_every_integrator_is_known_by_name():
    from mbkit.plugins import registry

    for name, kind in INTEGRATORS.items():
        assert registry().find("integrator", name) is kind
        assert from_description(described(kind())) == kind()


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"tableau": "verner6", "rtol": 1e-6}, mb.RungeKuttaMuntheKaas(T.VERNER6, rtol=1e-6)),
        ({"truncation": 2}, mb.RungeKuttaMuntheKaas(truncation=2)),
        (
            {"type": "crouch_grossman", "tableau": "crouch_grossman4"},
            mb.CrouchGrossman(T.CROUCH_GROSSMAN4),
        ),
        (
            {"type": "commutator_free", "composition": "commutator_free3"},
            mb.CommutatorFree(mb.COMMUTATOR_FREE3),
        ),
        ({"type": "multistep_munthe_kaas", "steps": 3}, mb.MultistepMuntheKaas(3)),
        ({"type": "local_vector_space", "method": "RK45"}, mb.LocalVectorSpace("RK45")),
        (
            {"type": "quaternion_vector_space", "norm": "constrained", "rtol": 1e-8},
            mb.QuaternionVectorSpace(norm="constrained", rtol=1e-8),
        ),
    ],
)
def test_studies_name_them(table, expected):
    from mbkit.io.toml.faults import Faults
    from mbkit.studies.study_tables import _integrator

    faults = Faults()
    assert _integrator(table, 1e-3, faults) == expected
    assert not faults.found


def test_a_composition_that_is_not_there_is_refused():
    from mbkit.io.toml.faults import Faults
    from mbkit.studies.study_tables import _integrator

    faults = Faults()
    _integrator({"type": "commutator_free", "composition": "commutator_free5"}, 1e-3, faults)
    assert "there is no composition 'commutator_free5'" in str(faults.found)
