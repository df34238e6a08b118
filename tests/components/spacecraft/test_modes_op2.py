"""Modes from OP2 files as pyNastran writes them, grid points with coordinate systems of their own, and damage."""

import random
import struct

import numpy as np
import pytest

from dockfmu.components.spacecraft.modes import Beam, ModalModel, OP2Error, read_op2
from dockfmu.components.spacecraft.modes.declared import declared_modes
from dockfmu.components.spacecraft.modes.op2 import modal_model

pytestmark = pytest.mark.slow

BEAM = Beam.of_frequencies(20.0, 4e5, 2e6, bending_y=0.3, bending_z=0.5, axial=4.0, torsion=2.0)
MASSES = np.random.default_rng(8).uniform(0.5, 30.0, 12)


@pytest.fixture(scope="module")
def model():
    """The reference beam, its six modes of rigid motion before the lowest six elastic ones; numbers from 1001."""
    elastic = BEAM.modes()
    rigid = np.random.default_rng(5).normal(size=(len(elastic.point_ids), 6, 6))
    shape = np.concatenate([rigid, elastic.shape[:, :, :6]], axis=2)
    frequency = np.concatenate([np.full(6, 1e-4), elastic.frequency[:6]])
    return ModalModel(frequency, elastic.point_ids + 1000, shape, elastic.position)


@pytest.fixture(scope="module")
def written(model, tmp_path_factory):
    """The file as pyNastran writes it: tables LAMA and OUGV1, shapes of the generalized masses MASSES."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np, "in1d", np.isin, raising=False)  # pyNastran imports what numpy has dropped
        from pyNastran.op2.op2 import OP2
        from pyNastran.op2.tables.lama_eigenvalues.lama_objects import RealEigenvalues
        from pyNastran.op2.tables.oug.oug_eigenvectors import RealEigenvectorArray

        n = len(model.frequency)
        values = RealEigenvalues("", "LAMA", nmodes=n)
        values.mode[:] = values.extraction_order[:] = np.arange(1, n + 1)
        values.eigenvalues[:] = model.frequency**2
        values.radians[:], values.cycles[:] = model.frequency, model.frequency / (2.0 * np.pi)
        values.generalized_mass[:], values.generalized_stiffness[:] = MASSES, MASSES * model.frequency**2
        grids = np.column_stack([model.point_ids, np.ones(len(model.point_ids), int)])
        vectors = RealEigenvectorArray.add_modal_case(
            "OUGV1",
            grids,
            (model.shape * np.sqrt(MASSES)).transpose(2, 0, 1).astype(np.float32),
            1,
            list(range(1, n + 1)),
            (model.frequency**2).tolist(),
            (model.frequency / (2.0 * np.pi)).tolist(),
        )
        vectors.table_code = 7  # of eigenvectors; the writer's default is that of displacements
        # the writer takes the table of eigenvalues for one whose place in the file it does not know
        patch.setattr(OP2, "get_table_types", lambda _: ["eigenvectors"])
        whole = OP2(debug=False, log=None)
        whole.is_nx = True
        whole.eigenvalues[""] = values
        whole.eigenvectors[1] = vectors
        file = tmp_path_factory.mktemp("op2") / "station.op2"
        whole.write_op2(str(file), post=-1, endian=b"<")
    # NASTRAN's first record is a date, which the writer leaves out
    file.write_bytes(struct.pack("<8i", 4, 3, 4, 12, 11, 29, 26, 12) + file.read_bytes()[24:])
    return file


def test_op2_as_pynastran_writes_it(model, written):
    """Single precision; any generalized mass; without grid points no positions."""
    back = read_op2(written)
    assert np.array_equal(back.point_ids, model.point_ids)
    assert back.frequency == pytest.approx(model.frequency, rel=1e-6)
    assert back.shape == pytest.approx(model.shape, rel=2e-7, abs=1e-12)
    assert back.position is None


def test_units_and_a_declaration(model, written, tmp_path):
    """A model in mm and t: shapes per root of its mass, rotations per length; a TOML file names the OP2."""
    metres, millimetres = read_op2(written), read_op2(written, length=1e-3, mass=1e3)
    assert millimetres.shape[:, :3] * np.sqrt(1e3) == pytest.approx(metres.shape[:, :3], rel=1e-12)
    assert millimetres.shape[:, 3:] * np.sqrt(1e3) * 1e-3 == pytest.approx(metres.shape[:, 3:], rel=1e-12)
    declared = tmp_path / "station.toml"
    leaf = '= {{ value = {}, unit = "1", source = "test" }}\n'.format
    declared.write_text(f"file {leaf(repr(str(written)))}ports {leaf([1001])}thrusters {leaf([1011])}")
    assert declared_modes(str(declared)).frequency == pytest.approx(model.frequency[6:], rel=1e-6)


def tables(model, turns=None):
    """Return LAMA and OUGV1 as pyyeti gives them, displacements of each point turned by a matrix."""
    frames = pytest.importorskip("pandas")
    shape = model.shape
    if turns is not None:
        shape = np.concatenate([np.einsum("pij,pjn->pin", turns, part) for part in np.split(shape, 2, axis=1)], axis=1)
    hertz = model.frequency / (2.0 * np.pi)
    one = np.ones_like(hertz)
    number = np.arange(1.0, len(hertz) + 1)
    values = np.column_stack([number, number, model.frequency**2, model.frequency, hertz, one, model.frequency**2])
    index = frames.MultiIndex.from_product([model.point_ids, range(1, 7)])
    columns = frames.MultiIndex.from_tuples(list(enumerate(hertz, 1)))
    return values, frames.DataFrame(shape.reshape(-1, len(hertz)), index=index, columns=columns)


CARDS = """CORD2R  7               0.      0.      0.      0.      0.      1.
        0.6     0.8     0.
CORD2C  8               0.      0.      0.      0.      0.      1.
        1.      0.      0.
"""


def test_displacements_are_turned_to_the_basic_axes(model, tmp_path):
    """Points in basic axes, in axes turned by 53 degrees about z, and in cylindrical axes; places with their unit."""
    bulk = pytest.importorskip("pyyeti.nastran.bulk")
    count = len(model.point_ids)
    places = model.position + np.column_stack([np.zeros(count), np.linspace(0.5, 2.5, count), np.zeros(count)])
    systems = [(0, 7, 8)[k % 3] for k in range(count)]
    grids = "".join(
        f"GRID    {number:<8d}        {x:<8.4f}{y:<8.4f}{z:<8.4f}{system or '':<8}\n"
        for number, (x, y, z), system in zip(model.point_ids, places, systems, strict=True)
    )
    (tmp_path / "points.bdf").write_text(CARDS + grids)
    uset = bulk.bulk2uset(str(tmp_path / "points.bdf"))[0]
    turns = []
    for (x, y, _), system in zip(places, systems, strict=True):
        c, s = {0: (1.0, 0.0), 7: (0.6, 0.8), 8: (x / np.hypot(x, y), y / np.hypot(x, y))}[system]
        turns.append([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    back = modal_model(tmp_path / "a.op2", *tables(model, np.array(turns)), uset, length=0.5)
    # GRID cards have four digits behind the point: the direction of a radius is off by 1e-4 of 0.5 m
    scaled = model.shape * np.array([1.0] * 3 + [2.0] * 3)[:, None]
    assert back.shape == pytest.approx(scaled, rel=1e-3, abs=2e-4 * np.abs(scaled).max())
    assert back.position == pytest.approx(0.5 * places, abs=5e-5)
    assert back.nearest(0.5 * places[3]) == model.point_ids[3]


def refused(what, *arguments, **options):
    with pytest.raises(OP2Error, match=what):
        modal_model(*arguments, **options)


def test_tables_that_do_not_fit_are_refused(model, tmp_path):
    values, vectors = tables(model)
    file = tmp_path / "a.op2"
    refused(r"a\.op2: OUGV1 has 11 modes, LAMA 12", file, values, vectors.iloc[:, 1:], None)
    refused("different frequencies", file, values * np.array([1, 1, 1, 1, 1.01, 1, 1]), vectors, None)
    massless = values.copy()
    massless[3, 5] = 0.0
    refused("mode 4 has generalized mass 0", file, massless, vectors, None)
    broken = vectors.copy()
    broken.loc[(1001, 2), :] = np.inf
    refused("not finite", file, values, broken, None)
    refused("without all six components", file, values, vectors.drop(index=(1001, 2)), None)


def test_files_that_are_no_op2(written, tmp_path):
    """Cut off, foreign and with random bytes changed: read, or refused by name."""
    data = written.read_bytes()
    for name, content in (("empty", b""), ("text", b"1  MSC NASTRAN\n" * 50), ("cut", data[: len(data) // 2])):
        (tmp_path / f"{name}.op2").write_bytes(content)
        with pytest.raises(OP2Error, match=rf"{name}\.op2"):
            read_op2(tmp_path / f"{name}.op2")
    with pytest.raises(OP2Error, match=r"none\.op2: there is no such file"):
        read_op2(tmp_path / "none.op2")
    choose = random.Random(4)
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(choose.choice((1, 3, 20))):
            damaged[choose.randrange(len(damaged))] = choose.randrange(256)
        (tmp_path / "damaged.op2").write_bytes(damaged)
        try:
            found = read_op2(tmp_path / "damaged.op2")
        except OP2Error:
            continue
        assert np.all(np.isfinite(found.shape))
