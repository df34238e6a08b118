"""Where modes come from: synthetic beams, NASTRAN print-outs, neutral files."""

import numpy as np
import pytest

from dockfmu.components import spacecraft
from dockfmu.components.core.component import Instance
from dockfmu.components.spacecraft.modes import ASSUMED_BANDS, Beam, F06Error, ModalModel, Modes, read_f06

REFERENCE = Beam(length=10.0, density=2.0, bending_y=4e4, bending_z=8e4, axial=1e8, torsion=2e4, polar=0.02)


def test_spec11_oracle_o01_frequencies_of_a_free_beam():
    frequencies = REFERENCE.modes().frequency[:8]
    expected = [31.64067, 44.74667, 87.21996, 123.34765, 170.99381, 241.82176, 282.69130, 314.48235]
    assert frequencies == pytest.approx(expected, abs=1e-5)
    # Euler-Bernoulli: consistent masses come from above
    assert frequencies[:4] == pytest.approx([31.64060, 44.74657, 87.21854, 123.34565], rel=3e-5)


def test_modes_are_mass_normalised_and_orthogonal_to_rigid_motion():
    K, M = REFERENCE.matrices()
    model = REFERENCE.modes()
    shapes = model.shape.reshape(-1, model.shape.shape[2])
    assert shapes.T @ M @ shapes == pytest.approx(np.eye(shapes.shape[1]), abs=1e-9)
    stiffness = shapes.T @ K @ shapes / np.outer(model.frequency, model.frequency)
    assert stiffness == pytest.approx(np.eye(shapes.shape[1]), abs=1e-7)
    x = REFERENCE.nodes
    rigid = np.zeros((len(x), 6, 6))
    rigid[:] = np.eye(6)
    rigid[:, 1, 5], rigid[:, 2, 4] = x, -x  # turns about z and y through the centre
    rigid = rigid.reshape(-1, 6)
    assert np.abs(K @ rigid).max() < 1e-6 * np.abs(K).max()
    assert np.abs(shapes.T @ M @ rigid).max() < 1e-7
    assert rigid[:, 0] @ M @ rigid[:, 0] == pytest.approx(20.0)


def test_tip_of_a_free_beam_moves_by_twice_the_mean():
    """The bending shape of a free beam is 2 / sqrt(m) at its ends; its slope there is beta L / L (1 -+ ...) of it."""
    model = REFERENCE.modes()
    first = model.shape[:, :, 0]  # bending in z, about y
    assert np.abs(first[[0, -1], 2]) == pytest.approx(2 / np.sqrt(20.0), rel=1e-4)
    # slope at the end over displacement: 0.982502 beta for the first mode, and rotation about y is minus dz/dx
    assert first[0, 4] / first[0, 2] == pytest.approx(0.982502 * 4.730041 / 10.0, rel=1e-3)


def test_beam_of_given_frequencies():
    beam = Beam.of_frequencies(54.0, 4e5, 1.2e8, bending_y=0.3, bending_z=0.4, axial=2.0, torsion=0.8)
    hertz = beam.modes().frequency / (2 * np.pi)
    for wanted in (0.3, 0.4, 2.0, 0.8):
        assert np.min(np.abs(hertz - wanted)) < 1e-3 * wanted


def test_selection_of_points_bands_and_frequencies():
    model = REFERENCE.modes()
    chosen = model.select([1, (5.0, 0.0, 0.0)], [(0.1, 0.0, 0.0)], below=30.0)
    assert np.array_equal(chosen.port[1], model.shape[20][:, : len(chosen.frequency)])
    assert np.array_equal(chosen.thruster[0], model.shape[10][:3, : len(chosen.frequency)])
    assert np.array_equal(chosen.control, model.shape[10][:, : len(chosen.frequency)])
    assert chosen.frequency.max() <= 30.0 * 2 * np.pi
    assert set(chosen.decrement) == {0.05, 0.1}
    with pytest.raises(ValueError, match="no grid point 99"):
        model.select([99, 1], [1])
    with pytest.raises(ValueError, match="no mode lies between 1e-09 and 1e-06 Hz"):
        model.select([1, 2], [1], above=1e-9, below=1e-6)
    with pytest.raises(ValueError, match="no damping band contains"):
        model.select([1, 2], [1], bands=((0.0, 1.0, 0.03),))


def test_modes_refuse_what_does_not_fit():
    zeros = np.zeros((2, 6, 1))
    with pytest.raises(ValueError, match="drop the rigid-body modes"):
        Modes(np.array([0.0]), np.array([0.1]), zeros, np.zeros((1, 3, 1)))
    with pytest.raises(ValueError, match="port has shape"):
        Modes(np.array([1.0, 2.0]), np.array([0.1, 0.1]), zeros, np.zeros((1, 3, 2)))
    modes = Modes(np.array([1.0]), np.array([0.1]), zeros, np.zeros((1, 3, 1)))
    with pytest.raises(ValueError, match="given at 2 ports and 1 thrusters, but the spacecraft has 1 and 1"):
        spacecraft.component(modes, ports=1)


def test_neutral_file_keeps_everything(tmp_path):
    model = REFERENCE.modes()
    model.write(tmp_path / "beam.npz")
    back, bands = ModalModel.read(tmp_path / "beam.npz")
    assert list(bands) == list(ASSUMED_BANDS)
    for name in ("frequency", "point_ids", "shape", "position"):
        assert np.array_equal(getattr(back, name), getattr(model, name))
    (tmp_path / "bad.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"bad\.npz"):
        ModalModel.read(tmp_path / "bad.npz")


def written_by_pynastran(file, model, masses, monkeypatch):
    """An .f06 with the tables as pyNastran's own writer prints them, shapes of the given generalized masses."""
    monkeypatch.setattr(np, "in1d", np.isin, raising=False)  # pyNastran imports what numpy has dropped
    from pyNastran.op2.tables.lama_eigenvalues.lama_objects import RealEigenvalues
    from pyNastran.op2.tables.oug.oug_eigenvectors import RealEigenvectorArray

    n = len(model.frequency)
    values = RealEigenvalues("", "LAMA", nmodes=n)
    values.mode[:] = np.arange(1, n + 1)
    values.extraction_order[:] = values.mode
    values.eigenvalues[:] = model.frequency**2
    values.radians[:] = model.frequency
    values.cycles[:] = model.frequency / (2 * np.pi)
    values.generalized_mass[:] = masses
    values.generalized_stiffness[:] = masses * model.frequency**2
    grids = np.column_stack([model.point_ids, np.ones(len(model.point_ids), int)])
    data = (model.shape * np.sqrt(masses)).transpose(2, 0, 1)
    vectors = RealEigenvectorArray.add_modal_case(
        "OUGV1", grids, data, 1, np.arange(1, n + 1), model.frequency**2, model.frequency / (2 * np.pi)
    )
    with file.open("w") as out:
        header = ["1    STATION MODES                         MARCH  1, 2024  MSC Nastran\n", " \n", "0\n"]
        values.write_f06(out, header, "1   PAGE %s\n")
        vectors.write_f06(out, header, "1   PAGE %s\n")


@pytest.mark.slow
def test_f06_as_pynastran_writes_it(tmp_path, monkeypatch):
    """Seven printed digits; any generalized mass; modes of rigid motion are read, and dropped by `select`."""
    model = REFERENCE.modes()
    rng = np.random.default_rng(5)
    rigid = np.concatenate([rng.normal(size=(21, 6, 6)), model.shape[:, :, :12]], axis=2)
    whole = ModalModel(np.concatenate([np.full(6, 1e-4), model.frequency[:12]]), model.point_ids + 1000, rigid)
    file = tmp_path / "station.f06"
    written_by_pynastran(file, whole, rng.uniform(0.5, 30.0, 18), monkeypatch)
    back = read_f06(file)
    assert np.array_equal(back.point_ids, whole.point_ids)
    assert back.frequency == pytest.approx(whole.frequency, rel=1e-6)
    assert back.shape == pytest.approx(whole.shape, rel=2e-6, abs=1e-12)
    chosen = back.select([1001, 1021], [1011])
    assert chosen.frequency == pytest.approx(model.frequency[:12], rel=1e-6)
    component = spacecraft.component(chosen)
    body = Instance(component)
    body.m.port[0].force[:] = [1.0, 2.0, 3.0]
    body.step(0.0, 1e-3)
    assert body.m.audit.stored_energy > 0.0


PRINTED = """1    FREE-FREE SATELLITE                                                      MAY   4, 2020  MSC NASTRAN  1/ 2/19   PAGE     9

0
                                              R E A L   E I G E N V A L U E S
   MODE    EXTRACTION      EIGENVALUE            RADIANS             CYCLES            GENERALIZED         GENERALIZED
    NO.       ORDER                                                                       MASS              STIFFNESS
        1         1        6.158494E+07        7.847607E+03        1.248985E+03        4.000000E+00        2.463398E+08
1    FREE-FREE SATELLITE                                                      MAY   4, 2020  MSC NASTRAN  1/ 2/19   PAGE    10

0
      EIGENVALUE =  6.158494E+07
          CYCLES =  1.248985E+03         R E A L   E I G E N V E C T O R   N O .          1

      POINT ID.   TYPE          T1             T2             T3             R1             R2             R3
             1      G      2.547245E-17  -6.388945E-101  2.292728E+00  -1.076928-120   2.579163E-17   4.0
1    FREE-FREE SATELLITE                                                      MAY   4, 2020  MSC NASTRAN  1/ 2/19   PAGE    11

0
      EIGENVALUE =  6.158494E+07
          CYCLES =  1.248985E+03         R E A L   E I G E N V E C T O R   N O .          1

      POINT ID.   TYPE          T1             T2             T3             R1             R2             R3
          2002      G     -6.382321E-17  -1.556607E-15   3.242408E+00  -6.530917E-16   1.747180E-17   0.0
          2003      S      1.0
"""  # noqa: E501


def test_f06_pages_scalar_points_exponents_and_units(tmp_path):
    """A vector continued on a new page, an exponent without E, and a model in mm and t."""
    file = tmp_path / "two_pages.f06"
    file.write_text(PRINTED)
    model = read_f06(file, length=1e-3, mass=1e3)
    assert list(model.point_ids) == [1, 2002]
    assert model.frequency == pytest.approx([7847.607])
    root = np.sqrt(4.0 * 1e3)
    assert model.shape[:, 2, 0] == pytest.approx([2.292728 / root, 3.242408 / root])
    assert model.shape[0, 3, 0] == pytest.approx(-1.076928e-120 / root / 1e-3)
    assert model.shape[0, 5, 0] == pytest.approx(4.0 / root / 1e-3)


def test_declared_station_beam():
    component = spacecraft.component("station_beam")
    assert component.name == "ElasticSpacecraft"
    assert len(component.resources["modes.f64"]) == 30 * (4 + 2 * 6 + 3 + 6)
    assert Instance(component).m.modes.frequency[0] == pytest.approx(2 * np.pi * 0.6, rel=1e-4)


DECLARED = """
description = "the model of the test"
file = { value = "two_pages.f06", unit = "1", source = "test" }
length_unit = { value = 1e-3, unit = "m", source = "test" }
mass_unit = { value = 1e3, unit = "kg", source = "test" }
ports = { value = [2002], unit = "1", source = "test" }
thrusters = { value = [1, 2002], unit = "1", source = "test" }
bands = { value = [[1e3, 2e3, 0.02]], unit = "1", source = "test" }
"""


def test_declared_nastran_file(tmp_path):
    (tmp_path / "two_pages.f06").write_text(PRINTED)
    file = tmp_path / "modes.toml"
    file.write_text(DECLARED)
    component = spacecraft.component(str(file))
    body = Instance(component)
    assert (len(body.m.port), len(body.m.thruster)) == (1, 2)
    assert body.m.modes.decrement == pytest.approx([0.02])
    assert body.m.modes.port[0, 0, 2] == pytest.approx(3.242408 / np.sqrt(4e3))
    model = read_f06(tmp_path / "two_pages.f06", length=1e-3, mass=1e3)
    model.write(tmp_path / "same.npz", bands=((0.0, 1e4, 0.02),))
    kept = [line for line in DECLARED.replace("two_pages.f06", "same.npz").splitlines() if "bands" not in line]
    file.write_text("\n".join(kept))
    assert np.array_equal(spacecraft.component(str(file)).resources["modes.f64"], component.resources["modes.f64"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("two_pages", "three_pages", r"modes\.toml: .*three_pages\.f06"),
        ("ports =", "harbours =", r"modes\.toml: unknown key harbours; known are file, length_unit"),
        ('ports = { value = [2002], unit = "1", source = "test" }', "", r"modes\.toml: ports = .* is missing"),
        ("[2002]", "[[1.0, 2.0]]", "neither the number of a grid point nor a position"),
        ("[2002]", "[2003]", "no grid point 2003"),
        ("[2002]", "[[1.0, 2.0, 3.0]]", "select points by their numbers"),
        ("[2002]", "[2002", r"modes\.toml: "),
    ],
)
def test_declarations_that_cannot_be_read_are_named(tmp_path, old, new, message):
    (tmp_path / "two_pages.f06").write_text(PRINTED)
    file = tmp_path / "modes.toml"
    file.write_text(DECLARED.replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        spacecraft.component(str(file))
    with pytest.raises(ValueError, match="no modes named 'nowhere': use station_beam"):
        spacecraft.component("nowhere")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("E I G E N V A L U E S", ""), "no table REAL EIGENVALUES"),
        (lambda text: text[:700], "no table REAL EIGENVECTOR"),
        (lambda text: text.replace("N O .          1", "N O .          2"), "mode 2 has an eigenvector but no"),
        (lambda text: text.replace("4.000000E+00", "0.000000E+00"), "generalized mass 0"),
        (lambda text: text.replace("3.242408E+00", "*.******"), r"two_pages\.f06, line 23"),
    ],
)
def test_f06_damage_is_named(tmp_path, change, message):
    file = tmp_path / "two_pages.f06"
    file.write_text(change(PRINTED))
    with pytest.raises(F06Error, match=message):
        read_f06(file)
