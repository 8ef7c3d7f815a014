"""Integrators and representations of plugins are named in studies, with their parameters."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from tests.plugins.examples import added, plugin_module
from tests.studies.conftest import STUDY


@attrs.frozen
class Substeps(mb.Integrator):
    """Several steps of Heun's method for one."""

    count: int = 2

    order = 2

    def prepare(self, problem):
        h = problem.h / self.count
        inner = mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN).prepare(attrs.evolve(problem, h=h))
        assert problem.save_every == 1

        def advance(first, steps, rows):
            written = 0
            for k in range(first, first + steps):
                few = [np.empty((self.count, *part.shape[1:])) for part in rows]
                status, _, _ = inner(k * self.count, self.count, type(rows)(*few))
                if status != 0:
                    return status, k - first, written
                for part, found in zip(rows, few, strict=True):
                    part[written] = found[-1]
                rows.t[written] = problem.t0 + (k + 1) * problem.h
                written += 1
            return 0, steps, written

        return advance


@attrs.frozen
class OtherName(mb.Representation):
    """Body-fixed twists by another name."""

    name = "by_hand"
    kernel_package = "mbkit.kernels.body_fixed"

    def twist_map(self, C):
        return mb.BodyFixed().twist_map(C)

    def twist_map_rate(self, C, V_b):
        return mb.BodyFixed().twist_map_rate(C, V_b)


@pytest.fixture
def plugin(registry):
    return added(
        registry,
        plugin_module(
            mbkit_integrators={"substeps": Substeps},
            mbkit_representations={"by_hand": OtherName()},
        ),
    )


def study_with(folder, integrator, representation="hybrid"):
    path = folder / "swing.toml"
    text = STUDY.replace('tableau = "heun"', integrator).replace('"hybrid"', f'"{representation}"')
    path.write_text(text.replace("save_every = 10", ""))
    return path


def test_an_integrator_of_a_plugin_takes_its_parameters(plugin, study_folder):
    """Four steps of h/4 are one of h: the same numbers as with a quarter of the step."""
    path = study_with(study_folder, 'type = "substeps"\ncount = 4')
    run = mb.load_study(path).run()
    fine = mb.load_study(
        study_with(study_folder, 'tableau = "heun"'), {"h": 0.0025, "save_every": 4}
    ).run()
    np.testing.assert_allclose(run.q, fine.q, atol=1e-13)
    assert run.options["integrator"] == "Substeps(count=4)"


def test_faults_of_its_parameters_name_the_plugin(plugin, study_folder):
    path = study_with(study_folder, 'type = "substeps"\ncount = 1.5\n')
    with pytest.raises(mb.StudyFileError) as caught:
        mb.load_study(path)
    assert "integrator.count: must be an integer, got 1.5." in str(caught.value)
    assert str(caught.value).endswith("('type' is of the plugin 'sample 1.2'.)")


def test_a_run_with_an_integrator_of_a_plugin_goes_on(plugin, study_folder):
    """The study has it; mbkit.resume alone says that it must be given again."""
    path = study_with(study_folder, 'type = "substeps"')
    study = mb.load_study(path, {"output": "long/"})
    study.run(study.output)
    (study.output / "result.nc").unlink()
    with pytest.raises(mb.UsageError, match=r"give it again: mbkit\.resume\(\.\.\., integrator="):
        mb.resume(study.output)
    with pytest.raises(mb.ResultFileError, match="has no parts"):
        study.resume()


def test_a_representation_of_a_plugin(plugin, study_folder):
    run = mb.load_study(study_with(study_folder, 'tableau = "rk4"', "by_hand")).run()
    body_fixed = mb.load_study(study_with(study_folder, 'tableau = "rk4"', "body_fixed")).run()
    np.testing.assert_array_equal(run.q, body_fixed.q)
    assert run.options["representation"] == "by_hand"
