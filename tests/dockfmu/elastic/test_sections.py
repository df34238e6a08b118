"""Loads at sections of a reduced body by mode acceleration (flexible 3.2): statics, cuts, bad input."""

import json

import numpy as np
import pytest

import dockfmu
from dockfmu.components.physics.elastic.body import ElasticBodyError
from dockfmu.components.physics.elastic.sections import centrifugal, gyroscopic, products, turned_products
from tests.dockfmu.elastic import models

pytestmark = pytest.mark.quick

LADDER = """
name = "ladder"
[nodes]
1 = [0, 0, 0]
2 = [0, 1, 0]
3 = [3, 0, 0]
4 = [3, 1, 0]
5 = [6, 0, 0]
6 = [6, 1, 0]
[sections.s]
area = 1e-3
bending_y = 1e-6
bending_z = 2e-6
torsion = 1e-6
[materials.m]
modulus = "70000 MPa"
shear = "26000 MPa"
density = 2700
""" + "".join(
    f'[[beams]]\nnodes = {pair}\nsection = "s"\nmaterial = "m"\nelements = 3\n'
    for pair in ([1, 2], [3, 4], [5, 6], [1, 3], [2, 4], [3, 5], [4, 6])
)


def ladder(folder):
    file = folder / "ladder.toml"
    file.write_text(LADDER, encoding="utf-8")
    return file


def test_a_force_at_the_end_of_a_free_beam_is_carried_on_as_far_as_there_is_mass(tmp_path):
    """Closed forms of a uniform rod that a force accelerates: N = F x/L; across, Q and M by inertia relief."""
    cuts = {f"at{x}": [(22 + 2 * x - 1, 21)] for x in (2, 5, 7)}  # inner nodes are numbered from 22, 0.5 m apart
    body = dockfmu.reduce(models.beam(tmp_path), interface=[1, 21], modes=0, sections=cuts)
    own = body.sections
    assert own.place[:, 0] + 5.0 == pytest.approx([2.0, 5.0, 7.0])
    for k, x in enumerate((2.0, 5.0, 7.0)):
        at = x + 0.25  # lumped: the node of the section and its body are on the near side
        load = own.node[k, 1]
        assert load[0, 0] == pytest.approx(at / 10.0, rel=1e-9)
        # acceleration across F/m, turn F (L/2) / (m L^2 / 12): mass of the near side times its acceleration
        assert load[1, 1] == pytest.approx(at / 10.0 * (1.0 + 3.0 * (at - 10.0) / 10.0), abs=1e-9)
    assert np.abs(own.inertia).max() < 1e-9


def test_held_at_a_node_the_load_is_the_resultant_of_all_beyond(tmp_path):
    body = dockfmu.reduce(models.beam(tmp_path), interface=[1, 21], modes=0, frame=1, sections={"root": [(1, 21)]})
    load = body.sections.node[0, 1]
    expected = np.eye(6)
    expected[4, 2], expected[5, 1] = -10.0, 10.0
    assert load == pytest.approx(expected, abs=1e-9)
    assert body.sections.inertia[0, :3, :3] == pytest.approx(19.5 * np.eye(3), abs=1e-9)
    assert body.sections.inertia[0, 5, 5] == pytest.approx(20.0 * 100.0 / 3.0, rel=1e-4)
    # centrifugal: - m w^2 x_c, toward the root
    assert body.sections.spin[0, 0, 2] == pytest.approx(-99.9375, rel=1e-9)


def test_members_of_a_section_add_up_to_it(tmp_path):
    """Two ways of the load: each member by its own stiffness, both by the part beyond."""
    cuts = {"both": [(1, 3), (2, 4)], "one": [(1, 3)], "two": [(2, 4)]}
    for frame in ("mean", 1):
        body = dockfmu.reduce(ladder(tmp_path), interface=[1, 5], modes=6, frame=frame, sections=cuts)
        own = body.sections
        moved = np.eye(6)
        moved[5, 0], moved[3, 2] = -1.0, 1.0  # from the node of the second member, 1 m along y, to that of the first
        for name in ("modal", "displaced", "spin", "inertia"):
            whole, first, second = getattr(own, name)
            assert first.any() or name == "inertia"
            assert first + moved @ second == pytest.approx(whole, abs=1e-8 * max(np.abs(whole).max(), 1.0))
        node = own.node
        assert node[1] + np.einsum("ij,bjk->bik", moved, node[2]) == pytest.approx(node[0], abs=1e-9)


def test_the_statics_of_shapes_at_interface_nodes_are_exact_either_way(tmp_path):
    """With loads at interface nodes alone and no inertia forces, displacement gives what acceleration does."""
    body = dockfmu.reduce(
        ladder(tmp_path), interface=[1, 5], modes=0, frame=1, sections={"member": [(3, 5)], "cross": [(3, 4)]}
    )
    own = body.sections
    displaced = np.einsum("sih,kh->sik", own.displaced / body.frequency**2, body.shape[1])
    assert displaced == pytest.approx(own.node[:, 1], abs=1e-8)
    assert np.abs(own.node[1, 1]).max() > 0.05


def test_products_of_the_angular_velocity():
    random = np.random.default_rng(4)
    w, p, root = random.normal(size=3), random.normal(size=3), random.normal(size=(3, 3))
    inertia, turn = root @ root.T, np.linalg.qr(root)[0]
    assert centrifugal(p) @ products(w) == pytest.approx(np.cross(w, np.cross(w, p)))
    assert gyroscopic(inertia) @ products(w) == pytest.approx(np.cross(w, inertia @ w))
    assert turned_products(turn) @ products(w) == pytest.approx(products(turn @ w))


def test_the_file_keeps_the_sections(tmp_path):
    body = dockfmu.reduce(models.beam(tmp_path), interface=[1, 21], modes=2, sections={"mid": [(31, 21)]})
    read = dockfmu.ElasticBody.load(body.write(tmp_path / "beam.npz"))
    assert read.sections.names == ("mid",)
    for name in read.sections.shapes(0, 0):
        assert np.array_equal(getattr(read.sections, name), getattr(body.sections, name))
    assert any("mid" in line for line in read.table())
    with np.load(tmp_path / "beam.npz") as content:
        arrays = dict(content)
    arrays["sections.modal"] = arrays["sections.modal"][:, :3]
    np.savez(tmp_path / "cut.npz", **arrays)
    with pytest.raises(ElasticBodyError, match=r"cut.npz: entry 'sections.modal' is float64 \(1, 3, 8\), expected"):
        dockfmu.ElasticBody.load(tmp_path / "cut.npz")


def test_the_command_takes_sections(tmp_path, capsys):
    from dockfmu.cli import main

    arguments = ["reduce", str(ladder(tmp_path)), "--interface", "1,5", "--modes", "2", "--section", "both=1-3,2-4"]
    assert main([*arguments, "-o", str(tmp_path / "ladder.npz")]) == 0
    assert "both" in capsys.readouterr().out
    assert dockfmu.ElasticBody.load(tmp_path / "ladder.npz").sections.names == ("both",)
    with pytest.raises(SystemExit):
        main([*arguments, "--section", "both=1"])
    assert "is no section, such as truss=12-13" in capsys.readouterr().err
    assert main([*arguments, "--section", "both=1-2"]) == 2
    assert "a name is given twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cuts", "told"),
    [
        ({"s": [(1, 99)]}, "section s: node 99 is no node of the model"),
        ({"s": [(1, 1)]}, "section s: cuts between node 1 and itself"),
        ({f"s{k}": [(1, 3)] for k in range(60)}, "60 sections; up to 50"),
    ],
)
def test_what_is_wrong_with_a_section_is_told(tmp_path, cuts, told):
    with pytest.raises(ElasticBodyError, match=told):
        dockfmu.reduce(ladder(tmp_path), interface=[1, 5], modes=2, sections=cuts)


def test_matrices_are_parted_or_refused(tmp_path):
    """Refuse a section of a matrix alone that leaves a way around; a whole one is that of the frame model."""
    from dockfmu.elastic.frame import read_frame

    full, _ = read_frame(ladder(tmp_path))
    lines = full.nodes[full.lines]
    np.savez(tmp_path / "ladder.npz", K=full.stiffness, M=full.mass, nodes=full.nodes, x=full.position, lines=lines)
    options = {"interface": [1, 5], "modes": 2, "units": "m,kg"}
    both = {"both": [(1, 3), (2, 4)]}
    body = dockfmu.reduce(tmp_path / "ladder.npz", sections=both, **options)
    own = dockfmu.reduce(ladder(tmp_path), sections=both, interface=[1, 5], modes=2)
    assert body.sections.node == pytest.approx(own.sections.node, abs=1e-9)
    with pytest.raises(ElasticBodyError, match="section one: the model does not part when it is cut at 1-"):
        dockfmu.reduce(tmp_path / "ladder.npz", sections={"one": [(1, 3)]}, **options)


def test_json_has_the_places_of_the_sections(tmp_path, capsys):
    from dockfmu.cli import main

    main(["reduce", str(ladder(tmp_path)), "--interface", "1,5", "--modes", "2", "--section", "s=1-3", "--json"])
    assert set(json.loads(capsys.readouterr().out)) == {"name", "method", "frequency", "checks", "sections"}


def test_the_mobility_of_all_shapes_is_that_of_the_whole_model(tmp_path):
    """With all fixed-interface modes kept the shapes are complete: the block of the inverse mass matrix."""
    from dockfmu.elastic.frame import read_frame

    full, _ = read_frame(ladder(tmp_path))
    body = dockfmu.reduce(ladder(tmp_path), interface=[1, 5], modes=200)
    inverse = np.linalg.inv(full.mass)
    for node in (1, 5):
        rows = full.rows_of(node)
        object.__setattr__(body, "residual", np.zeros(len(body.frequency), bool))
        assert body.mobility(node) == pytest.approx(inverse[np.ix_(rows, rows)], rel=1e-6, abs=1e-9)
    rigid = dockfmu.reduce(ladder(tmp_path), interface=[1, 5], cut_off=0.01)
    assert rigid.residual.all()
    # without shapes that vibrate: that of the rigid body
    arm = full.rigid(rigid.origin)[full.rows_of(1)]
    block = full.rigid(rigid.origin).T @ full.mass @ full.rigid(rigid.origin)
    assert rigid.mobility(1) == pytest.approx(arm @ np.linalg.solve(block, arm.T), rel=1e-9, abs=1e-12)
    with pytest.raises(ElasticBodyError, match="node 3 is no interface node; there are 1, 5"):
        rigid.mobility(3)
