"""Pictures of results: what is in the panels, and where they can be drawn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import mbkit as mb


def make_result(columns=3, instants=50, **changes):
    t = np.linspace(0.0, 2.0, instants)
    names = tuple(f"joint{k}" for k in range(columns))
    fields = {
        "t": t,
        "q": np.sin(t)[:, None] * np.arange(1, columns + 1),
        "v": np.cos(t)[:, None] * np.arange(1, columns + 1),
        "kinetic_energy": np.cos(t) ** 2,
        "potential_energy": np.sin(t) ** 2 + 1e-3 * t,
        "body_names": ("world", "body"),
        "joint_names": names,
        "position_names": names,
        "velocity_names": names,
    }
    return mb.Result(**fields | changes)


@pytest.fixture
def undrawn(monkeypatch):
    """Figures that are looked at only: to lay one out and draw it takes most of a second."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda self, path, **options: None)


def labels(panel):
    return [text.get_text() for text in panel.get_legend().get_texts()]


@pytest.mark.usefixtures("undrawn")
def test_panels_show_the_columns_by_name(tmp_path):
    """Each curve is the column that its label names."""
    run = make_result()
    positions, velocities, energies, drift = mb.plot(run, tmp_path / "run.png").axes
    assert labels(positions) == labels(velocities) == ["joint0", "joint1", "joint2"]
    np.testing.assert_array_equal(positions.lines[2].get_xydata(), np.c_[run.t, run.q[:, 2]])
    np.testing.assert_array_equal(velocities.lines[1].get_xydata(), np.c_[run.t, run.v[:, 1]])
    assert labels(energies) == ["kinetic", "potential", "total"]
    np.testing.assert_array_equal(energies.lines[2].get_ydata(), run.energy)
    np.testing.assert_array_equal(drift.lines[0].get_ydata(), run.energy_drift)
    assert drift.get_title() == "largest: 2.0e-03 of the peak kinetic energy"
    assert drift.get_xlabel() == "time t [s]"


@pytest.mark.usefixtures("undrawn")
def test_the_balance_is_drawn_where_energy_is_supplied_or_dissipated(tmp_path):
    """Not the drift, which is what motors do; and what is supplied and dissipated."""
    t = np.linspace(0.0, 2.0, 50)
    run = make_result(dissipated_energy=0.1 * t, supplied_energy=2.0 * t)
    *_, energies, balance = mb.plot(run, tmp_path / "run.png").axes
    assert labels(energies) == ["kinetic", "potential", "total", "dissipated", "supplied"]
    np.testing.assert_array_equal(energies.lines[4].get_ydata(), run.supplied_energy)
    np.testing.assert_array_equal(balance.lines[0].get_ydata(), run.energy_balance)
    assert np.abs(run.energy_balance - run.energy_drift).max() > 1.0
    assert balance.get_ylabel() == "error of the energy balance [J]"
    assert balance.get_title().startswith("largest: 3.8e+00 of")


@pytest.mark.usefixtures("undrawn")
def test_what_may_be_wrong_stands_above(tmp_path):
    text = "The energy balance has an error of up to 3 J. " * 5
    figure = mb.plot(make_result(warnings=(text, "A motion jumps.")), tmp_path / "run.png")
    assert figure.get_suptitle().split() == f"{text} A motion jumps.".split()
    assert figure.get_suptitle().endswith("\nA motion jumps.")
    assert max(map(len, figure.get_suptitle().splitlines())) <= 110


@pytest.mark.usefixtures("undrawn")
def test_units_have_panels_of_their_own(tmp_path):
    run = make_result(position_units=("rad", "m", "rad"))
    angles, lengths, *_ = mb.plot(run, tmp_path / "run.png").axes
    assert (angles.get_ylabel(), labels(angles)) == ("positions q [rad]", ["joint0", "joint2"])
    assert (lengths.get_ylabel(), labels(lengths)) == ("positions q [m]", ["joint1"])


@pytest.mark.usefixtures("undrawn")
def test_many_joints_keep_the_legend_short(tmp_path):
    positions = mb.plot(make_result(columns=30), tmp_path / "run.png").axes[0]
    assert len(positions.lines) == 30
    assert labels(positions) == [f"joint{k}" for k in range(10)]
    assert positions.get_legend().get_title().get_text() == "first 10 of 30"


def test_no_joints_and_one_instant(tmp_path):
    """The extremes are drawn: nothing that moves, and points where there is no curve."""
    figure = mb.plot(make_result(columns=0, instants=1), tmp_path / "run.png")
    assert figure.axes[0].texts[0].get_text() == "none"
    assert figure.axes[2].lines[0].get_marker() == "o"


@pytest.mark.usefixtures("undrawn")
def test_incomplete_runs_say_so(tmp_path):
    run = make_result(completed=False, message="Interrupted by the user after t = 2 s.")
    figure = mb.plot(run, tmp_path / "run.png")
    assert figure.get_suptitle() == "not completed: Interrupted by the user after t = 2 s."


@pytest.mark.some(2)
@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_the_suffix_is_the_format(tmp_path, suffix, start):
    path = tmp_path / f"run{suffix}"
    make_result().plot(path)
    assert path.read_bytes().startswith(start)


def test_pictures_that_cannot_be_written_are_named(tmp_path):
    with pytest.raises(mb.UsageError, match=r"run\.what' has a suffix .* Format 'what'"):
        mb.plot(make_result(), tmp_path / "run.what")
    with pytest.raises(mb.UsageError, match="directory that does not exist"):
        mb.plot(make_result(), tmp_path / "none" / "run.png")


def test_a_folder_that_takes_no_pictures_is_named(sealed_folder):
    """As the user named it."""
    with pytest.raises(mb.UsageError, match=r"'/proc/run\.png' cannot be written: No such file"):
        mb.plot(make_result(), f"{sealed_folder}/run.png")


def test_missing_matplotlib_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(mb.UsageError, match=r"pip install 'mbkit\[plot\]'"):
        mb.plot(make_result(), tmp_path / "run.png")


@pytest.mark.long
def test_files_are_written_without_pyplot(tmp_path):
    """A picture for a file opens no window and keeps no figure alive."""
    run = make_result()
    run.save(tmp_path / "run.nc")
    code = (
        "import sys, mbkit as mb\n"
        f"mb.load_result({str(tmp_path / 'run.nc')!r}).plot({str(tmp_path / 'run.png')!r})\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "run.png").stat().st_size > 10_000


def test_without_a_path_pyplot_has_the_figure():
    import matplotlib.pyplot as plt

    figure = make_result().plot()
    assert plt.gcf() is figure
    plt.close(figure)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.long
def test_outputs_have_a_panel_for_each_unit(tmp_path):
    """Here of a pendulum, whose outputs are recorded: metres, newtons and newton metres apart."""
    outputs = {"tip": "bob.position", "load": "axle.reaction", "own": lambda t, q, v: [t, -t]}
    run = pendulum_run(outputs=outputs)
    figure = run.plot(tmp_path / "run.png")
    panels = {axes.get_ylabel(): axes for axes in figure.axes}
    assert labels(panels["outputs [m]"]) == ["tip x", "tip y", "tip z"]
    turning = [f"load torque about {axis}" for axis in "xyz"]
    assert labels(panels["outputs [N m]"]) == turning
    assert labels(panels["outputs [N]"]) == [f"load force along {axis}" for axis in "xyz"]
    np.testing.assert_array_equal(panels["outputs [N]"].lines[2].get_ydata(), run["load"][:, 5])
    assert labels(panels["outputs"]) == ["own[0]", "own[1]"]  # a function says not what it is


def pendulum_run(h=0.01, **further):
    mech = mb.Mechanism("swing", gravity=(0, 0, -9.81))
    ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
    bob = mech.add_body(mb.Body("bob", ball, mb.spatial.translation((0, 0, -1))))
    mech.add_joint(mb.RevoluteJoint("axle", axis=(0, 1, 0)), "world", bob)
    return mb.simulate(mech.assemble(), (0.0, 0.2), h, q={"axle": 1.0}, **further)


@pytest.mark.long
def test_residuals_are_drawn_where_there_are_constraints(tmp_path):
    """On a logarithmic axis, and multipliers when they are asked for; zeros cannot be drawn."""
    residuals = np.full((50, 3), 1e-12) * (1.0, 10.0, 0.0)
    rows = {"constraint_names": ("pin[0]", "pin[1]"), "multipliers": np.ones((50, 2))}
    run = make_result(residuals=residuals, **rows)
    *_, panel = run.plot(tmp_path / "run.png").axes
    assert (panel.get_ylabel(), panel.get_yscale()) == ("residuals", "log")
    np.testing.assert_array_equal(panel.lines[1].get_ydata(), residuals[:, 1])
    multipliers, empty = run.plot(tmp_path / "run.png", panels=["multipliers", "outputs"]).axes
    assert (multipliers.get_ylabel(), labels(multipliers)) == (
        "multipliers [N]", ["pin[0]", "pin[1]"],
    )  # fmt: skip
    assert empty.texts[0].get_text() == "none"
    figure = make_result().plot(tmp_path / "run.png")
    assert all(axes.get_ylabel() != "residuals" for axes in figure.axes)


@pytest.mark.usefixtures("undrawn")
def test_panels_by_name(tmp_path):
    """A joint is its positions and velocities; a component what is called so; an output itself."""
    run = make_result(position_units=("rad", "m", "rad"), outputs={"load": np.ones((50, 2))})
    drawn = run.plot(tmp_path / "run.png", panels=["joint2", "load", "joint0", "balance"]).axes
    assert [axes.get_ylabel() for axes in drawn] == [
        "positions q [rad]", "velocities v [rad/s]", "outputs", "energy - initial [J]",
    ]  # fmt: skip
    assert labels(drawn[0]) == labels(drawn[1]) == ["joint2", "joint0"]
    assert labels(drawn[2]) == ["load[0]", "load[1]"]
    for panels, told in (("energy", "'energies'"), (["joint9"], "joint2"), (["body"], "is a body")):
        with pytest.raises(mb.NameUnknownError, match=told):
            run.plot(panels=panels)
    for panels in ([], 3, [3], {"energies": None}.values()):
        with pytest.raises(mb.UsageError, match="panels must name at least one"):
            run.plot(panels=panels)


@pytest.mark.usefixtures("undrawn")
def test_several_runs_have_a_panel_for_each_column(tmp_path):
    """A curve a run in each, by the step that tells them apart, with one legend beside."""
    fine, coarse = pendulum_run(0.01), pendulum_run(0.1)
    figure = mb.plot([fine, coarse], tmp_path / "runs.png")
    assert [axes.get_title() for axes in figure.axes] == [
        "axle [rad]", "velocity of axle [rad/s]", "total energy [J]",
        "error of the energy balance, size [J]",
    ]  # fmt: skip
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "h = 0.01 s", "h = 0.1 s",
    ]  # fmt: skip
    np.testing.assert_array_equal(figure.axes[1].lines[1].get_ydata(), coarse.v[:, 0])
    balance = figure.axes[3]
    assert balance.get_yscale() == "log"
    np.testing.assert_array_equal(balance.lines[1].get_ydata()[1:], abs(coarse.energy_balance[1:]))
    assert {line.get_color() for line in balance.lines} == {"#0072B2", "#D55E00"}


@pytest.mark.usefixtures("undrawn")
def test_runs_of_different_mechanisms_share_panels_by_name(tmp_path):
    """What one of them has not is drawn without it, and a wrong name is one that none has."""
    two = {"large": make_result(columns=3), "small": make_result(columns=1)}
    figure = mb.plot(two, tmp_path / "runs.png", panels=["positions", "joint2"])
    assert [len(axes.lines) for axes in figure.axes] == [2, 1, 1, 1]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["large", "small"]
    with pytest.raises(mb.NameUnknownError, match="joint9"):
        mb.plot(two, panels=["joint9"])


@pytest.mark.long
def test_many_columns_and_runs_are_said_to_be_more(tmp_path):
    figure = mb.plot([make_result(columns=30)] * 20, tmp_path / "runs.png")
    assert len(figure.axes) == 10 + 10 + 2
    (legend,) = figure.legends
    assert legend.get_title().get_text().startswith("40 more columns")
    names = [text.get_text() for text in legend.get_texts()]
    assert (len(names), names[0], names[-1]) == (8, "run 1", "run 20")


@pytest.mark.usefixtures("undrawn")
def test_ensembles_are_drawn_by_sample(tmp_path):
    mech = mb.Mechanism("drum")
    mech.add_joint(
        mb.RevoluteJoint("axle"),
        "world",
        mech.add_body(mb.Body("drum", mb.SpatialInertia.sphere(1.0, radius=0.1))),
    )
    runs = mb.simulate(mech.assemble(), (0.0, 0.1), 0.1, v=[[1.0], [2.0]])
    figure = runs.plot(tmp_path / "runs.png", panels="axle")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["sample 0", "sample 1"]
    np.testing.assert_allclose(figure.axes[0].lines[1].get_ydata(), [0.0, 0.2], rtol=1e-14)


@pytest.mark.usefixtures("undrawn")
def test_phase_portraits(tmp_path):
    """Velocity over position, by joint; joints without as many of both have none."""
    run = make_result(position_units=("rad", "m", "rad"))
    figure = run.plot(tmp_path / "phase.png", phase=["joint1", "joint0"])
    length, angle = figure.axes
    np.testing.assert_array_equal(length.lines[0].get_xydata(), np.c_[run.q[:, 1], run.v[:, 1]])
    np.testing.assert_array_equal(length.lines[1].get_xydata(), [[run.q[0, 1], run.v[0, 1]]])
    assert (angle.get_xlabel(), angle.get_ylabel()) == (
        "joint0 [rad]", "velocity of joint0 [rad/s]",
    )  # fmt: skip
    assert len(mb.plot([run, run], tmp_path / "phase.png", phase="joint1").axes[0].lines) == 4
    without = make_result(position_units=("", "m", "rad")).plot(phase="joint0")
    assert without.axes[0].get_xlabel() == "joint0 [1]"
    ball = make_result(
        columns=3, joint_names=("ball",), position_names=[f"ball[{k}]" for k in range(4)],
        q=np.zeros((50, 4)), velocity_names=[f"ball[{k}]" for k in range(3)],
    )  # fmt: skip
    with pytest.raises(mb.UsageError, match="'ball' has 4 positions and 3 velocities"):
        ball.plot(phase="ball")
    with pytest.raises(mb.NameUnknownError, match="joint7"):
        run.plot(phase="joint7")
    for phase in ([], True, [2]):
        with pytest.raises(mb.UsageError, match="phase must name at least one joint"):
            run.plot(phase=phase)
    with pytest.raises(mb.UsageError, match="pictures of their own"):
        run.plot(phase="joint0", panels="energies")


def test_what_is_no_result_is_refused():
    for runs in ("run.nc", 3, None, [], {}, [make_result(), 3]):
        with pytest.raises(mb.UsageError, match="runs must be a result"):
            mb.plot(runs)
    with pytest.raises(mb.UsageError, match=r"mbkit\.plot\(\[one, other\]\)"):
        make_result().plot(make_result())


@pytest.mark.long
def test_names_are_drawn_letter_by_letter(tmp_path):
    """Two dollar signs are no formula, which would not be one."""
    names = ("a$^$", "b")
    run = make_result(columns=2, joint_names=names, position_names=names, velocity_names=names)
    figure = run.plot(tmp_path / "run.png")
    assert figure.axes[0].get_legend().get_texts()[0].get_text() == r"a\$^\$"
    mb.plot([run, run], tmp_path / "run.png")


@pytest.mark.long
def test_no_legend_covers_a_curve(tmp_path):
    """Legends stand beside the panels, whole: of one run and of several."""
    run = make_result(columns=12)
    for figure in (run.plot(tmp_path / "a.png"), mb.plot([run] * 9, tmp_path / "b.png")):
        figure.draw_without_rendering()
        legends = [axes.get_legend() for axes in figure.axes] + figure.legends
        for legend in filter(None, legends):
            box = legend.get_window_extent()
            assert figure.bbox.x1 >= box.x1
            assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes)


@pytest.mark.parametrize(
    ("orientation", "words"),
    [
        (mb.UnitQuaternion(), "wxyz"),
        (mb.RotationVector(), ["turn x", "turn y", "turn z"]),
        (mb.EulerAngles("zyx"), ["angle z", "angle y", "angle x"]),
    ],
)
def test_legends_of_absolute_coordinates_say_what_the_entries_are(orientation, words):
    mech = mb.Mechanism("arm")
    mech.add_body(mb.Body("rod", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("hinge", (0, 1, 0), (0, 0, 1)), mech.world, "rod")
    system = mech.assemble(mb.AbsoluteCoordinates(orientation))
    figure = mb.simulate(system, (0.0, 0.02), 0.01).plot(panels=["positions", "velocities"])
    shown = [text.get_text() for axes in figure.axes for text in axes.get_legend().get_texts()]
    parts = [*words, "x", "y", "z"]
    rates = [f"{how} {axis}" for how in ("about", "along") for axis in "xyz"]
    expected = [f"rod (free)[{k}] {part}" for k, part in enumerate(parts)]
    assert shown == expected + [f"rod (free)[{k}] {part}" for k, part in enumerate(rates)]
