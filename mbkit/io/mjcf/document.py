"""An MJCF file as data: as MuJoCo compiled it, before it is a mechanism."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any, final

import attrs

from mbkit.io.mjcf.build import build_mechanism

if TYPE_CHECKING:
    from mbkit.model import Mechanism


@final
@attrs.frozen
class MjcfActuator:
    """An actuator, as data: mechanisms have none, and efforts of a run stand for it.

    Attributes
    ----------
    name : str
        Empty where it has none.
    kind : str
        "motor", whose force is its control; "position" and "velocity", servos with a force of
        kp (control - length) - kv rate, or kv (control - rate); "general" for all others.
    transmission : str
        The kind of its target: "joint", "tendon", "site", "body" or "slidercrank".
    target : str
        The joint, as the mechanism calls it, or MuJoCo's name of another target.
    gear : tuple of float
        By which its force is multiplied; of a joint, one for each velocity.
    control_range, force_range : tuple of float, or None
        Limits. None where there are none.
    """

    name: str
    kind: str
    transmission: str
    target: str
    gear: tuple[float, ...]
    control_range: tuple[float, float] | None
    force_range: tuple[float, float] | None


@final
@attrs.frozen
class MjcfSensor:
    """A sensor, as data.

    Attributes
    ----------
    name : str
        Empty where it has none.
    kind : str
        MuJoCo's, such as "gyro", "jointpos".
    target : str
        MuJoCo's name of the object it measures, empty where it has none.
    """

    name: str
    kind: str
    target: str


@final
@attrs.frozen(eq=False)
class Mjcf:
    """The content of an MJCF file.

    Attributes
    ----------
    name : str
        Name of the model.
    source : str
        The file.
    actuators, sensors : tuple
        Of `MjcfActuator` and `MjcfSensor`: the actuators and sensors of the model, as data.
    warnings : tuple of str
        Elements that influence the motion in MuJoCo, except contacts, and that the mechanism lacks.
    notes : tuple of str
        Other elements of the file that the mechanism lacks.
    model : mujoco.MjModel
        The model as MuJoCo compiled it from the file.
    meshes : tuple of path or None
        The file of each mesh of `model`; None where it has none.

    Examples
    --------
    >>> import mbkit as mb
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pendulum.xml"
    >>> _ = path.write_text('''<mujoco model="pendulum"><worldbody><body name="rod">
    ...   <joint name="hinge" axis="0 1 0"/>
    ...   <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02"/>
    ... </body></worldbody><actuator><motor joint="hinge"/></actuator></mujoco>''')
    >>> mjcf = mb.read_mjcf(path)  # doctest: +SKIP
    >>> mjcf.mechanism()  # doctest: +SKIP
    <Mechanism 'pendulum': 1 body, 1 joint>
    >>> mjcf.actuators[0].kind, mjcf.actuators[0].target  # doctest: +SKIP
    ('motor', 'hinge')
    """

    name: str
    source: str
    actuators: tuple[MjcfActuator, ...]
    sensors: tuple[MjcfSensor, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    model: Any = attrs.field(repr=False)
    meshes: tuple[pathlib.Path | None, ...] = attrs.field(repr=False)

    def mechanism(self, *, armature: str = "rotors") -> Mechanism:
        """Return the mechanism.

        Parameters
        ----------
        armature : {"rotors", "ignore"}
            Treatment of the armature of joints; see `load_mjcf`.

        Returns
        -------
        Mechanism
            See `load_mjcf`.

        Raises
        ------
        UsageError
            If `armature` is neither of the two.
        """
        return build_mechanism(self, armature)
