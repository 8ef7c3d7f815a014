"""Pages in a real browser: films play and ask no host for anything, live pages move loops."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import signal
import subprocess
import sys
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from click.testing import CliRunner

import mbkit as mb
from mbkit.cli.main import main
from tests.viz.test_scene import PLACE, C, four_bar
from tests.viz.test_sliders import driven_four_bar
from tools.pages import requests

pytest.importorskip("viser")
sync_api = pytest.importorskip("playwright.sync_api")
Image = pytest.importorskip("PIL.Image")

CHROMIUM = pathlib.Path("/usr/bin/chromium")
#: WebGL in software: there is no graphics card where tests run.
FLAGS = [
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox",
    "--ignore-gpu-blocklist",
]  # fmt: skip
PATIENCE = 90_000  # the first picture takes seconds [ms]

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs chromium"),
    # of websockets and asyncio, at the end of pages
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield started
        started.close()


@contextlib.contextmanager
def opened(browser, url):
    """Return a page with its picture, and the addresses that it asks for."""
    page = browser.new_page(viewport={"width": 720, "height": 420})
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.goto(url)
    page.wait_for_selector("canvas", timeout=PATIENCE)
    try:
        yield page, asked
    finally:
        page.close()


def value_of(slider):
    return float(slider.get_attribute("aria-valuenow"))


def until(page, holds, limit=60.0):
    """Wait until something holds; return whether it does."""
    for _ in range(int(limit / 0.2)):
        if holds():
            return True
        page.wait_for_timeout(200)
    return False


def test_a_film_plays_pauses_scrubs_and_asks_no_host_for_anything(browser, tmp_path):
    system = four_bar()
    v = system.consistent_velocity({"A": 3.0}, system.reference_configuration())
    with pytest.warns(mb.RedundantConstraintsWarning):
        run = mb.simulate(system, (0.0, 4.0), 0.01, v=v, progress=False)
    path = tmp_path / "run.html"
    run.animate(path)
    with opened(browser, path.as_uri()) as (page, asked):
        assert page.title() == "four-bar"
        slider = page.locator("[role=slider]").last
        slider.wait_for(state="attached", timeout=PATIENCE)
        assert float(slider.get_attribute("aria-valuemax")) == pytest.approx(4.0, abs=1e-3)
        start = value_of(slider)
        assert until(page, lambda: abs(value_of(slider) - start) > 0.2)  # it plays by itself

        page.keyboard.press("Space")
        page.wait_for_timeout(500)
        here = value_of(slider)
        page.wait_for_timeout(1500)
        assert value_of(slider) == here  # it pauses
        page.wait_for_timeout(1500)

        def scrubbed_to(time, before=None):
            track = page.locator(".mantine-Slider-track").last.bounding_box()
            x, y = track["x"] + time / 4.0 * track["width"], track["y"] + track["height"] / 2
            page.mouse.click(x, y)
            assert until(page, lambda: abs(value_of(slider) - time) < 0.1)
            canvas = page.locator("canvas").first
            assert until(page, lambda: canvas.screenshot() != before)
            page.wait_for_timeout(1500)
            return canvas.screenshot()

        picture = scrubbed_to(0.4)  # it scrubs, forwards and back
        picture = scrubbed_to(2.0, picture)
        scrubbed_to(0.4, picture)

        page.locator("input.mantine-Select-input").last.click()  # its speed can be chosen
        page.get_by_role("option", name="4x").click()
        assert page.locator("input.mantine-Select-input").last.input_value() == "4x"

        page.keyboard.press("Escape")
    hosts = {
        urllib.parse.urlsplit(url).netloc for url in asked if url[:5] not in ("data:", "blob:")
    }
    assert hosts == {""}  # the file alone


def test_a_slider_of_the_live_page_moves_a_four_bar_with_its_loop_closed(browser):
    system = four_bar()
    weight = {"coupler": (0, 0, 0, 0, 0, -9.8)}
    live = mb.viz.show(system, port=0, traces=["coupler"], wrenches=weight)
    try:
        assert live.url.startswith("http://127.0.0.1:")
        before = live.q
        with opened(browser, live.url) as (page, asked):
            sliders = page.locator("[role=slider]")
            sliders.first.wait_for(state="attached", timeout=PATIENCE)
            others = [value_of(sliders.nth(k)) for k in (1, 2)]
            gaps = []
            for share in (0.55, 0.62, 0.7):
                last = live.q
                track = page.locator(".mantine-Slider-root").first.bounding_box()
                page.mouse.click(
                    track["x"] + share * track["width"], track["y"] + track["height"] / 2
                )
                assert until(page, lambda last=last: abs(live.q[0] - last[0]) > 0.05)
                gaps.append(gap_at_hinge(system, live.q))
            # what the page shows is what the mechanism does
            assert until(page, lambda: abs(value_of(sliders.nth(0)) - live.q[0]) < 1e-3)
            for k, other in zip((1, 2), others, strict=True):
                assert until(page, lambda k=k: abs(value_of(sliders.nth(k)) - live.q[k]) < 1e-3)
                assert abs(value_of(sliders.nth(k)) - other) > 0.05
        assert max(gaps) < 1e-9
        (way,) = live._trails.points.values()
        assert len(way) > 3  # it is where the coupler has been
        np.testing.assert_array_equal(way[0], system.pose("coupler", before)[:3, 3])
        np.testing.assert_array_equal(way[-1], system.pose("coupler", live.q)[:3, 3])
        (arrow,) = live._stage._arrows
        assert arrow.name == "force coupler"
        np.testing.assert_allclose(arrow.origins[0], way[-1])
        down = arrow.vectors[0] / np.linalg.norm(arrow.vectors[0])
        np.testing.assert_allclose(down, (0, 0, -1), atol=1e-12)
        assert abs(live.q - before).min() > 0.05
        hosts = {urllib.parse.urlsplit(url).hostname for url in asked}
        assert hosts <= {"127.0.0.1", None}
    finally:
        live.close()
    assert repr(live).endswith(": closed>")


def test_the_time_of_a_drive_has_a_slider_below_the_messages(browser):
    """A driven crank goes where its motion is, the loop follows, and what cannot be is told."""
    system = driven_four_bar("0.5*t")
    live = mb.viz.show(system, port=0, t_end=4.0)
    try:
        with opened(browser, live.url) as (page, _):
            time = page.locator("[role=slider]").first
            time.wait_for(state="attached", timeout=PATIENCE)
            assert float(time.get_attribute("aria-valuemax")) == 4.0
            track = page.locator(".mantine-Slider-root").first.bounding_box()
            page.mouse.click(track["x"] + 0.5 * track["width"], track["y"] + track["height"] / 2)
            assert until(page, lambda: live.t > 1.0)
            crank = system.position_slice("A")
            assert until(page, lambda: abs(live.q[crank][0] - 0.5 * live.t) < 1e-9)
            assert until(page, lambda: abs(value_of(time) - live.t) < 1e-2)
            assert live.posture.gap < 1e-9
            live.move(0, 99.0)
            told = page.get_by_text("cannot go to 99 rad")
            assert until(page, told.is_visible)
            assert told.bounding_box()["y"] < time.bounding_box()["y"]
            assert live._repr_html_().count(live.url) == 3
        live.move_to(1.0)
        assert (live.t, live.q[crank][0]) == (1.0, pytest.approx(0.5))
    finally:
        live.close()
    assert live._repr_html_() == "<p>&lt;LivePage of &#x27;four-bar&#x27;: closed&gt;</p>"


def test_the_live_page_follows_a_trolley_along_its_rail(browser):
    """Its blue box stays in the picture; who looks elsewhere is left alone."""
    mech = mb.Mechanism("crane", gravity=(0, 0, -9.81))
    box = mb.SpatialInertia.box(10.0, size=(0.4, 0.3, 0.2))
    trolley = mb.Body("trolley", box, shapes=[mb.BoxShape((0.4, 0.3, 0.2), color=(0, 0, 1))])
    rail = mb.PrismaticJoint("rail", axis=(1, 0, 0))
    mech.add_joint(rail, mech.world, mech.add_body(trolley), limits=mb.JointLimits(-6.0, 6.0))
    live = mb.viz.show(mech.assemble(), port=0)

    def blue(page):
        image = np.asarray(Image.open(io.BytesIO(page.locator("canvas").first.screenshot())))
        return float(((image[..., 2] > 150) & (image[..., 0] < 60)).mean())

    try:
        with opened(browser, live.url) as (page, _):
            page.locator("[role=slider]").first.wait_for(state="attached", timeout=PATIENCE)
            assert until(page, lambda: blue(page) > 0.01)
            start = blue(page)
            for x in (0.1, 2.0, 6.0, -6.0):
                live.move(0, x)
                assert until(page, lambda: abs(blue(page) - start) < 0.1 * start)
            (client,) = live._stage.server.get_clients().values()
            client.camera.look_at = (-6.0, 0.0, 9.0)
            assert until(page, lambda: blue(page) == 0.0)
            here = client.camera.position
            live.move(0, 5.0)
            page.wait_for_timeout(500)
            np.testing.assert_allclose(client.camera.position, here)
    finally:
        live.close()


@pytest.mark.parametrize("count", [8, 9])
def test_names_of_more_than_eight_joints_are_hidden_at_first(browser, count):
    """And the positions of joints at zero are zero without a sign."""
    mech, before = mb.Mechanism("chain"), "world"
    for k in range(count):
        link = mb.Body(f"link{k}", mb.SpatialInertia.sphere(1.0, radius=0.1))
        joint = mb.RevoluteJoint(f"joint{k}", (0, 1, 0), (0.2 * k, 0, 0))
        mech.add_joint(joint, before, mech.add_body(link))
        before = link.name
    live = mb.viz.show(mech.assemble(), np.full(count, -1e-17), port=0)
    try:
        with opened(browser, live.url) as (page, _):
            box = page.get_by_role("checkbox", name="joint names")
            page.locator("[role=slider]").first.wait_for(state="attached", timeout=PATIENCE)
            assert live._stage._groups["joint names"].visible == (count == 8)
            assert box.is_checked() == (count == 8)
            assert [value_of(page.locator("[role=slider]").nth(k)) for k in (0, 1)] == [0.0, 0.0]
            shown = page.locator("input.mantine-NumberInput-input").first.input_value()
            assert shown == "0"
            if count == 9:
                box.click()
                assert until(page, lambda: live._stage._groups["joint names"].visible)
        with pytest.raises(mb.UsageError, match="no joint of 'chain' is prescribed"):
            live.move_to(1.0)
    finally:
        live.close()


def test_what_a_live_page_cannot_show_is_named():
    system = four_bar()
    for options, told in (
        ({"t_end": 0.0}, "show: t_end must be a positive number"),
        ({"traces": ["couplr"]}, "show: traces: there is no body or frame 'couplr'"),
        ({"wrenches": [1.0]}, "show: wrenches must be arrays"),
        ({"wrenches": {"body": np.zeros(6)}}, "body"),
        ({"wrenches": {"coupler": ["x"]}}, "show: wrenches: that on 'coupler' must"),
        ({"wrenches": {"coupler": [1.0]}}, "show: wrenches: that on 'coupler' must have"),
    ):
        with pytest.raises(mb.MbkitError, match=told):
            mb.viz.show(system, port=0, **options)


def gap_at_hinge(system, q):
    """Return how far the ends of coupler and rocker are from each other. [m]."""
    start = system.reference_configuration()
    ends = []
    for body in ("coupler", "rocker"):
        on_body = np.linalg.inv(system.pose(body, start)) @ PLACE @ [*C, 1.0]
        ends.append((system.pose(body, q) @ on_body)[:3])
    return float(np.abs(ends[0] - ends[1]).max())


@pytest.mark.parametrize("kind", ["model", "result"])
def test_mbkit_view_serves_a_page_until_ctrl_c(kind, tmp_path):
    """A model with its sliders, or a run that plays; on this machine alone, and nothing else."""
    mech = mb.Mechanism("swing", gravity=(0, 0, -9.81))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    path = tmp_path / ("swing.toml" if kind == "model" else "swing.nc")
    if kind == "model":
        mb.save_model(mech, path)
    else:
        mb.simulate(mech.assemble(), (0.0, 0.2), 0.01, q={"hinge": 0.5}).save(path)
    start = ["--q", "hinge=0.5"] if kind == "model" else []
    command = [sys.executable, "-m", "mbkit", "view", str(path), "--port", "8420", *start]
    command += ["--trace", "bob"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as viewing:
        try:
            line = viewing.stdout.readline()
            url = re.fullmatch(
                rf"{path.name} is shown at (http://127\.0\.0\.1:\d+) until .*\n", line
            )
            with urllib.request.urlopen(url[1]) as answer:  # noqa: S310  # of this machine
                assert b"<html" in answer.read()[:2000].lower()
        finally:
            viewing.send_signal(signal.SIGINT)
        assert viewing.wait(20) == 0


def test_the_command_makes_the_film_of_a_saved_run(browser, tmp_path):
    """``mbkit animate RUN -o FILE``: of a result file alone."""
    with pytest.warns(mb.RedundantConstraintsWarning):
        run = mb.simulate(four_bar(), (0.0, 0.5), 0.01, progress=False)
    run.save(tmp_path / "run.nc")
    film = tmp_path / "film.html"
    command = ["animate", str(tmp_path / "run.nc"), "-o", str(film)]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    with opened(browser, film.as_uri()) as (page, _):
        assert page.title() == "four-bar"
        slider = page.locator("[role=slider]").last
        slider.wait_for(state="attached", timeout=PATIENCE)
        assert float(slider.get_attribute("aria-valuemax")) == pytest.approx(0.5, abs=1e-2)


def test_requests_of_built_pages_are_seen_when_their_scripts_run(tmp_path):
    """What a script fetches, which nobody reads in the page; files of the folder are its own."""
    (tmp_path / "own.js").write_text("document.title = 'run';")
    pages = {
        "quiet": "<script src='own.js'></script><img src='data:image/gif;base64,R0lGODlh'>",
        "asking": "<script>new Image().src = 'https:' + '//mbkit.invalid/count.gif';</script>",
        "reaching": "<script>new Image().src = '../other.gif';</script>",
        "failing": "<script>missing();</script>",
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(f"<!doctype html><title>{name}</title>{text}")
    with ThreadPoolExecutor(1) as other:  # here the browser of other tests has its event loop

        def faults(page):
            return other.submit(requests.faults, tmp_path, [page]).result()

        assert faults("quiet.html") == []
        (asked,) = faults("asking.html")
        assert asked == "asking.html: asks for https://mbkit.invalid/count.gif"
        (reached,) = faults("reaching.html")
        assert reached == f"reaching.html: asks for {(tmp_path.parent / 'other.gif').as_uri()}"
        (failed,) = faults("failing.html")
        assert "missing is not defined" in failed
        assert faults("none.html") == ["none.html: no page is there"]
