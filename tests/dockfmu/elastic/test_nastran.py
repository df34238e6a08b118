"""NASTRAN files: a superelement that NASTRAN wrote, and matrices that pyyeti writes."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import dockfmu
from dockfmu.elastic.frame import read_frame
from tests.dockfmu.elastic import models

pytestmark = pytest.mark.quick

pyyeti = pytest.importorskip("pyyeti")
DATA = Path(pyyeti.__file__).parent / "tests" / "nas2cam_extseout"
IDS = (3, 11, 19, 27)


@pytest.fixture
def outboard(tmp_path):
    if not (DATA / "outboard.op4").is_file():
        pytest.skip("this pyyeti has no test data")
    for kind in ("op4", "asm", "pch"):
        shutil.copy(DATA / f"outboard.{kind}", tmp_path)
    return tmp_path / "outboard.op4"


def test_a_superelement_of_nastran_keeps_its_frequencies(outboard):
    """Against the eigenvalues of its own matrices, and the mass that NASTRAN's rigid-body check gives."""
    from pyyeti.nastran import op4

    body = dockfmu.reduce(outboard, interface=IDS, modes=22, units="m,kg")
    assert body.ok
    assert body.method == "reduced"
    assert len(body.frequency) == 40
    matrices = op4.read(str(outboard))
    values = np.sort(np.linalg.eigvals(np.linalg.solve(matrices["mxx"], matrices["kxx"])).real)[6:]
    assert body.frequency == pytest.approx(np.sqrt(values), rel=1e-6)
    assert body.invariants.mass == pytest.approx(1.59038380, rel=1e-8)
    # 600 by 300: the boundary is in the plane x = 600, node 11 in output coordinates of its own (CORD2R 10)
    assert body.place + body.origin == pytest.approx(
        np.array([[600.0, 0.0, 300.0], [600.0, 300.0, 300.0], [600.0, 300.0, 0.0], [600.0, 0.0, 0.0]]), abs=1e-9
    )


def test_modes_of_the_held_interface_are_those_that_nastran_printed(outboard):
    """`outboard.out` of pyyeti's test data, NX NASTRAN: cycles of the lowest 16 modes, before residual vectors."""
    from dockfmu.elastic.nastran import read_nastran
    from dockfmu.elastic.reduction import craig_bampton

    printed = [
        1.650001, 1.650249, 1.674265, 1.674687, 7.025350, 7.025411, 10.91274, 10.91454, 13.98578, 13.99172, 25.13473,
        25.13995, 42.17271, 42.19338, 46.71595, 46.89473,
    ]  # fmt: skip
    shapes = craig_bampton(read_nastran(outboard, None), list(IDS), 16, None, None)
    assert shapes.fixed / (2.0 * np.pi) == pytest.approx(printed, rel=1e-6)


def test_fewer_interface_nodes_and_modes_stay_above(outboard):
    full = dockfmu.reduce(outboard, interface=IDS, modes=22, units="m,kg")
    small = dockfmu.reduce(outboard, interface=[3, 27], modes=8, frame=27, units="m,kg")
    assert len(small.frequency) == 6 + 8
    assert small.ok
    found = models.errors(small)
    assert np.all(found > -1e-9)
    assert found[0] < 1e-4
    assert len(full.nodes) == 4


def test_units_are_converted(outboard):
    """Inches and pounds-force s2/in against SI: frequencies are the same, masses and lengths scale."""
    one = dockfmu.reduce(outboard, interface=[3, 27], modes=8, units="m,kg")
    two = dockfmu.reduce(outboard, interface=[3, 27], modes=8, units="0.0254m,175.126836kg")
    assert two.frequency == pytest.approx(one.frequency, rel=1e-9)
    assert two.invariants.mass == pytest.approx(one.invariants.mass * 175.126836, rel=1e-12)
    assert two.invariants.inertia == pytest.approx(one.invariants.inertia * 175.126836 * 0.0254**2, rel=1e-9, abs=1e-9)
    assert two.place == pytest.approx(one.place * 0.0254, abs=1e-12)


@pytest.mark.parametrize("binary", [True, False])
def test_op4_and_grid_cards(tmp_path, binary):
    from pyyeti.nastran import op4

    file = models.beam(tmp_path)
    _, full = read_frame(file)
    op4.write(str(tmp_path / "b.op4"), ["kgg", "mgg"], [full.stiffness, full.mass], binary=binary)
    cards = tmp_path / "b.bdf"
    grids = [
        f"GRID,{node},0,{x:.6f},{y:.6f},{z:.6f}" for node, (x, y, z) in zip(full.nodes, full.position, strict=True)
    ]
    cards.write_text("\n".join(["BEGIN BULK", *grids, "ENDDATA", ""]), encoding="ascii")
    read = dockfmu.reduce(tmp_path / "b.op4", interface=[1, 21], modes=4, frame=1, units="m,kg", nodes=cards)
    own = dockfmu.reduce(file, interface=[1, 21], modes=4, frame=1, mass="matrix")
    assert read.method == "matrix"
    assert read.frequency == pytest.approx(own.frequency, rel=1e-8)
    assert read.invariants.mass_matrix(np.zeros(10)) == pytest.approx(
        own.invariants.mass_matrix(np.zeros(10)), abs=1e-5
    )


def test_dmig_cards(tmp_path):
    from pyyeti.nastran import bulk

    file = models.beam(tmp_path, models.BEAM.replace("elements = 20", "elements = 4").replace("21", "9"))
    _, full = read_frame(file)
    cards = tmp_path / "b.pch"
    with cards.open("w", encoding="ascii") as stream:
        for node, (x, y, z) in zip(full.nodes, full.position, strict=True):
            stream.write(f"GRID,{node},0,{x:.6f},{y:.6f},{z:.6f}\n")
        import pandas as pd

        index = pd.MultiIndex.from_tuples([tuple(map(int, row)) for row in full.freedom], names=["id", "dof"])
        frames = {"kaax": full.stiffness, "maax": full.mass}
        bulk.wtdmig(stream, {name: pd.DataFrame(m, index=index, columns=index) for name, m in frames.items()})
    read = dockfmu.reduce(cards, interface=[1, 9], modes=4, frame=1, units="m,kg")
    own = dockfmu.reduce(file, interface=[1, 9], modes=4, frame=1, mass="matrix")
    assert read.frequency == pytest.approx(own.frequency, rel=1e-6)


def test_damaged_and_foreign_files_are_named(outboard, tmp_path):
    def refused(file, message, **options):
        with pytest.raises(dockfmu.ElasticBodyError, match=message) as caught:
            dockfmu.reduce(file, interface=[3], modes=4, **{"units": "m,kg", **options})
        assert str(file) in str(caught.value) or str(options.get("nodes")) in str(caught.value)

    content = outboard.read_bytes()
    (tmp_path / "op2.op4").write_bytes(b"\x04\0\0\0\x03\0\0\0\x04\0\0\0")
    refused(tmp_path / "op2.op4", "record 1 is no header")
    for size in (100, 2000, 30000, len(content) - 3):
        outboard.write_bytes(content[:size])
        refused(outboard, r"record \d+ at byte \d+ is cut off")
    outboard.write_bytes(content[:32] + b"\x07" + content[33:])
    refused(outboard, "record 2 at byte 32 is damaged|record 2 at byte 32 is cut off")
    outboard.write_bytes(content)
    refused(outboard, "units of the model are not told", units="")
    refused(outboard, "interface node 99 is no node|frame node 99 is no node", frame=99)
    (tmp_path / "empty.op4").write_bytes(b"")
    refused(tmp_path / "empty.op4", "has 0 bytes")
    (tmp_path / "text.dat").write_text("GRID,1,,0.,0.,0.\n", encoding="ascii")
    refused(tmp_path / "text.dat", "has no DMIG card")
    outboard.with_suffix(".asm").write_text("$ nothing\n", encoding="ascii")
    refused(outboard, "cannot be read|degrees of freedom")
    outboard.with_suffix(".asm").unlink()
    refused(outboard, "--nodes FILE")


def test_a_matrix_that_is_too_large_or_has_another_name_is_refused_before_it_is_read(tmp_path):
    from pyyeti.nastran import op4
    from scipy import sparse

    file = tmp_path / "large.op4"
    one = sparse.coo_array(([1.0], ([0], [0])), shape=(50_000, 50_000)).tocsc()
    op4.write(str(file), ["kxx", "mxx"], [one, one])
    with pytest.raises(dockfmu.ElasticBodyError, match="KXX is 50000 x 50000; square up to 5000"):
        dockfmu.reduce(file, interface=[3], modes=2, units="m,kg")
    op4.write(str(file), ["kxx", "other"], [np.eye(3), np.eye(3)])
    with pytest.raises(dockfmu.ElasticBodyError, match=r"no matrix MXX or .* it has KXX, OTHER"):
        dockfmu.reduce(file, interface=[3], modes=2, units="m,kg")


def test_boundary_nodes_without_all_components_are_refused(tmp_path):
    for kind in ("op4", "asm", "pch"):
        shutil.copy(DATA / f"reduced_bset_notall6.{kind}", tmp_path)
    with pytest.raises(dockfmu.ElasticBodyError, match="has not all of its six components"):
        dockfmu.reduce(tmp_path / "reduced_bset_notall6.op4", interface=[3], modes=2, units="m,kg")
