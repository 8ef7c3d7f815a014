"""Pictures and films by MuJoCo's renderer: what is where in them, and how long films are."""

from __future__ import annotations

import os
import pathlib
import runpy
import shutil
import subprocess
import sys

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.viz.animate import film_of
from mbkit.viz.film import Arrow, Film, Trace
from mbkit.viz.scene import scene_of
from mbkit.viz.viewers.mujoco_viewer import MujocoViewer

pytest.importorskip("mujoco")
Image = pytest.importorskip("PIL.Image")

SIZE = (240, 160)
ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def system():
    """Two rods in a plane that is tilted to the axes of the world."""
    mech = mb.Mechanism("swing", gravity=(0, 0, -9.81))
    for k, (low, high) in enumerate(
        [((0, 0, 0), (0.6, 0, 0.5)), ((0.6, 0, 0.5), (1.0, 0.1, -0.2))]
    ):
        middle = 0.5 * (np.array(low) + high)
        rod = mb.Body(
            f"rod{k}", mb.SpatialInertia.sphere(1.0, radius=0.1),
            pose=mb.spatial.translation(middle),
            frames={f"end{k}": mb.spatial.translation(np.array(high) - middle)},
        )  # fmt: skip
        joint = mb.RevoluteJoint(f"joint{k}", (0, 1, 0.2), low)
        mech.add_joint(joint, f"rod{k - 1}" if k else "world", mech.add_body(rod))
    return mech.assemble()


@pytest.fixture(scope="module")
def run(system):
    return mb.simulate(system, (0.0, 0.4), 0.01)


def drawn(tmp_path, film, name="picture.png"):
    """The images of a file, (frames, height, width, 3)."""
    MujocoViewer().write(attrs.evolve(film, size=SIZE), tmp_path / name)
    return read(tmp_path / name)[0]


def read(path):
    """Images of a file, how long each is seen [ms], and how often the film is repeated."""
    images, shown = [], []
    with Image.open(path) as film:
        for frame in range(getattr(film, "n_frames", 1)):
            film.seek(frame)
            shown.append(film.info.get("duration"))
            images.append(np.asarray(film.convert("RGB")).astype(float))
        return np.array(images), shown, film.info.get("loop")


def picture(system, q, **further):
    return Film(scene_of(system), np.zeros(1), np.atleast_2d(q), **further)


@pytest.mark.parametrize("q", [(0.0, 0.0), (0.7, -1.2), (-2.0, 0.4)])
def test_bodies_are_where_their_poses_say(tmp_path, system, q):
    """The pixel of the middle of a rod has the hue of the rod; what is beside both is white."""
    film = picture(system, q, layers={"joint names": False})
    (image,) = drawn(tmp_path, film)
    assert image.shape == (160, 240, 3)
    camera = film.scene.camera(film.q, aspect=1.5)
    parts = {part.name: part for part in film.scene.parts}
    for name in ("rod0", "rod1"):
        x, y = camera.project(system.pose(name, q)[:3, 3], SIZE)
        pixel, color = image[int(y), int(x)], np.array(parts[name].color[:3])
        hue = pixel / pixel.max()
        assert np.abs(hue - color / color.max()).max() < 0.25, name
    edge = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
    assert (edge == 255.0).all()
    assert (image < 250.0).any(axis=2).mean() > 0.01


def test_names_traces_arrows_and_frames_are_drawn(tmp_path, system):
    """Each of them where it is: the pixels that change are along its line."""
    plain = {"joint names": False}
    bare = drawn(tmp_path, picture(system, (0.0, 0.0), layers=plain))[0]
    camera = scene_of(system).camera(np.zeros((1, 2)), aspect=1.5)
    start, end = np.array([0.3, 0.0, 0.0]), np.array([0.7, 0.0, 0.1])
    lines = {
        "traces": (Trace("way", np.array([end])),),  # of one point: nothing yet
        "arrows": (Arrow("push", start[None], (end - start)[None]),),
    }
    film = picture(system, (0.0, 0.0), layers=plain, **lines)
    changed = drawn(tmp_path, film)[0] != bare
    x, y = camera.project(0.5 * (start + end), SIZE)
    assert changed[int(y), int(x)].any()
    # no further from the line than the head of the arrow is wide
    rows, columns = np.nonzero(changed.any(axis=2))
    a, b = camera.project(np.array([start, end]), SIZE)
    across = np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
    away = np.abs((np.stack([columns, rows], axis=1) + 0.5 - a) @ across)
    assert away.max() < 12.0
    for layers in ({"joint names": True}, {**plain, "frames": True}):
        film = picture(system, (0.0, 0.0), layers=layers)
        assert (drawn(tmp_path, film)[0] != bare).any()


def test_names_of_many_joints_are_drawn_if_they_are_asked_for(tmp_path):
    """A chain of nine: without a word its picture is that without names."""
    mech, before = mb.Mechanism("chain"), "world"
    for k in range(9):
        link = mb.Body(f"link{k}", mb.SpatialInertia.sphere(1.0, radius=0.1))
        joint = mb.RevoluteJoint(f"joint{k}", (0, 1, 0), (0.2 * k, 0, 0))
        mech.add_joint(joint, before, mech.add_body(link))
        before = link.name
    chain = mech.assemble()
    plain, without, named = (
        drawn(tmp_path, picture(chain, np.zeros(9), layers=layers))[0]
        for layers in ({}, {"joint names": False}, {"joint names": True})
    )
    np.testing.assert_array_equal(plain, without)
    assert (named != without).any()


def test_traces_grow_with_the_film(tmp_path, system, run):
    rows = [0, 20, 40]
    points = run.q[rows] * 0.0 @ np.zeros((2, 3)) + [[0.1, 0, -0.2], [0.3, 0, -0.3], [0.5, 0, -0.2]]
    film = Film(scene_of(system), run.t[rows], run.q[rows], traces=(Trace("way", points),))
    bare = Film(scene_of(system), run.t[rows], run.q[rows])
    with_way, without = (drawn(tmp_path, each, "film.gif") for each in (film, bare))
    counts = (np.abs(with_way - without).max(axis=3) > 60.0).sum(axis=(1, 2))
    assert counts[0] == 0
    assert 10 < counts[1] < counts[2]


def test_traces_have_all_saved_states_up_to_each_frame(system, run, monkeypatch):
    """Not those of frames alone, of which a film that plays fast has few; of long runs some."""
    whole = system.pose("end1", run.q)[:, :3, 3]
    film = film_of(run, traces=["end1"], frame_rate=10.0)
    assert len(film.t) == 5
    (trace,) = film.traces
    np.testing.assert_array_equal(trace.points, whole)
    for frame, t in enumerate(film.t):
        np.testing.assert_array_equal(trace.until(frame), whole[: np.searchsorted(run.t, t) + 1])
    monkeypatch.setattr("mbkit.viz.animate._MOST_POINTS", 10)
    (trace,) = film_of(run, traces=["end1"], frame_rate=10.0).traces
    assert 5 < len(trace.points) <= 10 + 5
    np.testing.assert_array_equal(
        trace.points[trace.counts - 1], system.pose("end1", film.q)[:, :3, 3]
    )


@pytest.mark.parametrize("suffix", [".gif", ".png"])
def test_films_last_as_long_as_the_motion(tmp_path, run, suffix):
    """At the speed that is asked for; the last frame stays."""
    path = tmp_path / f"run{suffix}"
    run.animate(path, speed=0.5)
    images, shown, loop = read(path)
    assert len(images) > 10
    assert sum(shown[:-1]) == pytest.approx(800.0, abs=10.0)
    assert shown[-1] == pytest.approx(1000.0)
    assert loop == 0
    assert (images[0] != images[-1]).any()
    assert (images[:, 0, 0] == 255.0).all()


FFMPEG = """#!{python}
import pathlib, sys
target = pathlib.Path(sys.argv[-1])
if target.name == "broken.mp4":
    sys.stderr.write("Unknown encoder\\n")
    sys.exit(1)
target.write_bytes(sys.stdin.buffer.read())
target.with_suffix(".txt").write_text(" ".join(sys.argv[1:]))
"""


def test_films_for_ffmpeg_have_even_steps_in_time(tmp_path, run, monkeypatch):
    """30 images a second in bytes, whatever instants the run has; a program in place of ffmpeg."""
    program = tmp_path / "bin" / "ffmpeg"
    program.parent.mkdir()
    program.write_text(FFMPEG.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    run.animate(tmp_path / "run.mp4")
    images = np.frombuffer((tmp_path / "run.mp4").read_bytes(), np.uint8).reshape(-1, 480, 720, 3)
    assert len(images) == 13
    command = (tmp_path / "run.txt").read_text()
    assert "-s 720x480 -r 30 -i -" in command
    assert (images[0] != images[-1]).any()
    with pytest.raises(mb.UsageError, match=r"broken\.mp4' could not be written .*Unknown encoder"):
        run.animate(tmp_path / "broken.mp4")


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")
def test_ffmpeg_writes_a_film_that_it_reads_again(tmp_path, run):
    """h264 at 30 frames a second, whose images are those of the run but for what it compresses."""
    path = tmp_path / "run.mp4"
    run.animate(path, size=(242, 161), layers={"joint names": False})  # sides that h264 cannot have
    ask = ["ffmpeg", "-loglevel", "error", "-i", str(path)]
    told = subprocess.run([*ask[:1], *ask[3:]], capture_output=True, text=True, check=False).stderr
    assert "Video: h264" in told
    assert "242x162" in told
    assert "30 fps" in told
    command = [*ask, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    data = subprocess.run(command, capture_output=True, check=True).stdout
    films = np.frombuffer(data, np.uint8).reshape(-1, 162, 242, 3)[:, :161].astype(float)
    assert len(films) == 13
    run.animate(tmp_path / "run.png", size=(242, 161), layers={"joint names": False})
    first, *_, last = read(tmp_path / "run.png")[0]
    for film, picture, other in ((films[0], first, last), (films[-1], last, first)):
        assert np.abs(film - picture).mean() < 2.0  # of 255
        assert np.abs(film - other).mean() > 2.0 * np.abs(film - picture).mean()


def test_missing_programs_and_packages_are_named(tmp_path, run, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        mb.UsageError, match=r"ffmpeg, which is not found; install .*or write a \.gif"
    ):
        run.animate(tmp_path / "run.mp4")
    for package in ("mujoco", "PIL"):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, package, None)
            with pytest.raises(mb.UsageError, match=r"pip install 'mbkit\[pictures\]'"):
                run.animate(tmp_path / "run.gif")
    assert not [*tmp_path.iterdir()]
    with pytest.raises(mb.UsageError, match="directory that does not exist"):
        run.animate(tmp_path / "none" / "run.gif")


def test_pictures_need_no_screen(tmp_path, run):
    """In a process of its own, to which nothing says how to draw."""
    run.save(tmp_path / "run.nc")
    code = f"import mbkit as mb; mb.load_result({str(tmp_path / 'run.nc')!r}).animate('run.gif')"
    told = ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL", "PYOPENGL_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in told}
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, env=environment)
    assert len(read(tmp_path / "run.gif")[0]) > 5


def test_options_of_films(tmp_path, system, run):
    """Size, layers and traces; what they cannot be is named before anything is drawn."""
    run.animate(
        tmp_path / "run.gif", size=(200, 100), traces=["end1", "rod0"], speed=2.0,
        layers={"joint names": False, "frames": True},
    )  # fmt: skip
    images, shown, _ = read(tmp_path / "run.gif")
    assert images.shape[1:] == (100, 200, 3)
    assert sum(shown[:-1]) == pytest.approx(200.0, abs=10.0)
    for options, told in (
        ({"traces": ["end2"]}, "no body or frame 'end2'; did you mean 'end1'"),
        ({"traces": 3}, "traces must be names"),
        ({"traces": [3]}, "traces must be names"),
        ({"layers": {"frame": True}}, "no layer 'frame'; did you mean 'frames'"),
        ({"layers": ["frames"]}, "layers must say what is shown"),
        ({"layers": {"frames": 2}}, "layers: frames"),
        ({"size": (0, 100)}, "size must be the width"),
        ({"size": 100}, "size must be the width"),
        ({"speed": -1}, "speed must be a positive number"),
    ):
        with pytest.raises(mb.MbkitError, match=told):
            run.animate(tmp_path / "none.gif", **options)


def test_pictures_of_configurations(tmp_path, system):
    """`System.draw` writes at once what `Picture.save` writes later."""
    picture = system.draw([0.3, -0.2], tmp_path / "one.png")
    picture.save(tmp_path / "two.png")
    one, two = (read(tmp_path / name)[0] for name in ("one.png", "two.png"))
    assert one.shape == (1, 480, 720, 3)
    np.testing.assert_array_equal(one, two)
    with pytest.raises(mb.UsageError, match=r"No viewer writes files like .*x\.what"):
        system.draw(path=tmp_path / "x.what")
    with pytest.raises(mb.UsageError, match="path must be the name of a picture"):
        system.draw(path=3)


def test_pictures_of_the_readme_are_written_by_their_script(tmp_path):
    """Small ones; and the pen of the linkage goes on a straight line for half a turn."""
    script = runpy.run_path(str(ROOT / "tools" / "write_pictures.py"))
    script["main"](tmp_path)
    for name in ("linkage.gif", "pendulum.png"):
        committed = ROOT / "docs" / "images" / name
        assert committed.stat().st_size < 300_000
        assert read(committed)[0].shape == read(tmp_path / name)[0].shape
    system = script["linkage"]().assemble()
    with pytest.warns(mb.RedundantConstraintsWarning, match="planar"):
        run = mb.simulate(system, (0.0, 1.0), 0.01)
    x, y, z = system.pose("pen", run.q)[:, :3, 3].T
    assert np.ptp(z) < 0.005 * np.ptp(x)
    assert np.abs(y).max() < 1e-12
