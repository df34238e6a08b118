"""Models and files that cannot be reduced or read are refused, naming the file and what is wrong with it."""

import json
import zipfile

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

import dockfmu
from dockfmu.cli import main
from dockfmu.elastic.frame import read_frame
from dockfmu.elastic.neutral import read_market
from tests.dockfmu.elastic import models

pytestmark = pytest.mark.quick


@pytest.fixture
def full(tmp_path):
    return read_frame(models.beam(tmp_path, models.BEAM.replace("elements = 20", "elements = 4")))[1]


def npz(folder, full, **changes):
    file = folder / "model.npz"
    np.savez(file, **{"K": full.stiffness, "M": full.mass, "nodes": full.nodes, "x": full.position, **changes})
    return file


def refused(file, message, **options):
    with pytest.raises(dockfmu.DockfmuError, match=message) as caught:
        dockfmu.reduce(file, **{"interface": [1, 21], "modes": 2, "units": "m,kg", **options})
    assert str(file) in str(caught.value)


def test_matrices_that_are_wrong(tmp_path, full):
    K, M = full.stiffness.copy(), full.mass.copy()
    K[3, 9] += 1.0
    refused(
        npz(tmp_path, full, K=K),
        "stiffness is not symmetric: .* between node 1 component 4 and node 21 component 4|not symmetric",
    )
    M[8, 8] = -1.0
    refused(npz(tmp_path, full, M=M), "mass is not positive: -1 at node 21 component 3|mass is not positive")
    refused(npz(tmp_path, full, K=-full.stiffness), "stiffness is not positive")
    grounded = full.stiffness.copy()
    grounded[2, 2] += 100.0
    refused(npz(tmp_path, full, K=grounded), "the model is grounded: .* node 1 component 3")
    refused(npz(tmp_path, full, M=np.zeros_like(M)), "mass")
    refused(npz(tmp_path, full, K=full.stiffness * np.nan), "not finite")
    refused(npz(tmp_path, full, K=full.stiffness[:5, :5]), "stiffness is 5 x 5, but the nodes have 30")
    refused(npz(tmp_path, full, x=full.position[:2]), "entry 'x'")
    refused(npz(tmp_path, full, nodes=full.nodes * 0 + 1), "node 1 is given twice")
    refused(npz(tmp_path, full, nodes=np.array(["a"] * 5)), "whole numbers are expected")
    refused(npz(tmp_path, full, x=full.position * 1000.0), "grounded")  # positions in mm, matrices in m


def test_options_that_are_wrong(tmp_path, full):
    file = npz(tmp_path, full)
    refused(file, "never guessed", units="")
    refused(file, "units 'mm,stone'", units="mm,stone")
    refused(file, "units 'mm,s'", units="mm,s")
    refused(file, "interface node 77 is no node of the model, which has 1, 21, 22", interface=[77])
    refused(file, "frame node 5 is no node", frame=5)
    refused(file, "frame 'hub' must be", frame="hub")
    refused(file, "no interface node", interface=[])
    refused(file, "number of fixed-interface modes, or a cut-off", modes=None)
    refused(file, "has no element masses", mass="bodies")
    refused(tmp_path / "none.npz", "no such file")
    (tmp_path / "a.op2").write_bytes(b"x")
    refused(tmp_path / "a.op2", "OP2 and .f06 have no matrices")


def test_millimetres_and_tonnes_are_converted(tmp_path, full):
    L, m = 1e-3, 1e3
    scale = np.where(full.freedom[:, 1] > 3, 1.0 / L, 1.0)
    outer = np.outer(scale, scale) / m
    file = npz(tmp_path, full, K=full.stiffness * outer, M=full.mass * outer, x=full.position / L)
    own = dockfmu.reduce(npz(tmp_path / "..", full), interface=[1, 21], modes=2, units="m,kg", frame=1)
    body = dockfmu.reduce(file, interface=[1, 21], modes=2, units="mm,t", frame=1)
    assert body.frequency == pytest.approx(own.frequency, rel=1e-9)
    w = np.linspace(0.1, 0.8, 8)
    assert body.invariants.mass_matrix(w) == pytest.approx(own.invariants.mass_matrix(w), rel=1e-6, abs=1e-6)


def test_files_that_are_hostile_or_cut_off(tmp_path, full):
    good = npz(tmp_path, full).read_bytes()
    bad = tmp_path / "bad.npz"
    for content in (b"", b"no zip", good[:200], good[:-30]):
        bad.write_bytes(content)
        refused(bad, "cannot be read as .npz|damaged")
    np.savez(bad, K=np.array([{"a": 1}], dtype=object))
    refused(bad, "cannot be read as .npz")
    with (
        zipfile.ZipFile(bad, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("K.npy", "w", force_zip64=True) as out,
    ):
        for _ in range(1100):
            out.write(bytes(1 << 20))
    refused(bad, "at most")


def test_matrix_market(tmp_path, full):
    mmwrite(tmp_path / "k.mtx", sparse.coo_array(full.stiffness))
    mmwrite(tmp_path / "m.mtx", sparse.coo_array(full.mass))
    lines = [f"{node}, {x!r}, {y!r}, {z!r}" for node, (x, y, z) in zip(full.nodes, full.position.tolist(), strict=True)]
    (tmp_path / "n.csv").write_text("\n".join(["node,x,y,z", *lines]), encoding="utf-8")
    files = {"mass_file": tmp_path / "m.mtx", "nodes": tmp_path / "n.csv"}
    body = dockfmu.reduce(tmp_path / "k.mtx", interface=[1, 21], modes=2, units="m,kg", **files)
    own = dockfmu.reduce(npz(tmp_path, full), interface=[1, 21], modes=2, units="m,kg")
    assert body.frequency == pytest.approx(own.frequency, rel=1e-9)
    refused(tmp_path / "k.mtx", "needs --mass-file FILE.mtx and --nodes FILE.csv")
    text = (tmp_path / "k.mtx").read_text()
    (tmp_path / "k.mtx").write_text(text[: len(text) // 2])
    refused(tmp_path / "k.mtx", "cannot be read as MatrixMarket", **files)
    (tmp_path / "n.csv").write_text("1, 2, 3\n")
    with pytest.raises(dockfmu.ElasticBodyError, match=r"n\.csv:1: '1, 2, 3' must be a node number and x, y, z"):
        dockfmu.reduce(tmp_path / "m.mtx", interface=[1], modes=2, units="m,kg", **files)


@pytest.mark.parametrize(
    ("text", "matrix"),
    [
        ("coordinate real general\n% a comment\n\n2 2 3\n1 1 4\n2 1 -1e0\n2 1 0.5\n", [[4.0, 0.0], [-0.5, 0.0]]),
        ("coordinate integer symmetric\n2 2 2\n1 1 4\n2 1 -1\n", [[4.0, -1.0], [-1.0, 0.0]]),
        ("array real general\n2 2\n1\n2\n3\n4\n", [[1.0, 3.0], [2.0, 4.0]]),
        ("array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", [[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]]),
        ("coordinate real general\n2 2 0\n", [[0.0, 0.0], [0.0, 0.0]]),
        ("coordinate complex general\n2 2 1\n1 1 1 1\n", "is coordinate complex general; real matrices are read"),
        ("coordinate pattern general\n2 2 1\n1 1\n", "is coordinate pattern general; real matrices are read"),
        ("array real skew-symmetric\n2 2\n1\n", "is array real skew-symmetric; real matrices are read"),
        ("coordinate real general\n2 3 1\n1 1 1\n", "is 2 x 3 with 1 entries"),
        ("coordinate real general\n2 2 99999999999\n", "is 2 x 2 with 99999999999 entries"),
        ("coordinate real general\n2 2 2\n1 1 1\n", "it has 1 entries of 2"),
        ("coordinate real general\n2 2 1\n1 1 1\n2 2 1\n", "it has 2 entries of 1"),
        ("coordinate real general\n2 2 1\n0 1 1\n", "rows or columns that are not from 1 to 2"),
        ("coordinate real general\n2 2 1\n1 3 1\n", "rows or columns that are not from 1 to 2"),
        ("coordinate real general\n2 2 1\n1 1.5 1\n", "rows or columns that are not from 1 to 2"),
        ("coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n", "entries on both sides of the diagonal"),
        ("coordinate real general\n2 2 1\n1 1 \0\n", "cannot be read as MatrixMarket"),
        ("coordinate real general\n2 2\n", "is no size of a matrix"),
        ("coordinate real general\n-2 -2 1\n1 1 1\n", "is no size of a matrix"),
        ("coordinate real", "is no header"),
    ],
)
def test_matrix_market_as_it_is_specified(tmp_path, text, matrix):
    """Read by dockfmu itself: zero bytes in such a file end the process in the reader of scipy 1.17."""
    file = tmp_path / "k.mtx"
    file.write_text(f"%%MatrixMarket matrix {text}")
    if isinstance(matrix, str):
        with pytest.raises(dockfmu.ElasticBodyError, match=matrix):
            read_market(file)
    else:
        found = read_market(file)
        assert np.array_equal(found.toarray() if sparse.issparse(found) else found, matrix)


def test_bytes_that_are_zero_in_a_matrix_are_refused_and_do_not_end_the_process(tmp_path, full):
    """Fuzz seed 900005: a segmentation fault."""
    mmwrite(tmp_path / "k.mtx", sparse.coo_array(full.stiffness))
    data = (tmp_path / "k.mtx").read_bytes()
    for place in range(60, len(data), 37):
        (tmp_path / "k.mtx").write_bytes(data[:place] + b"\0" + data[place + 1 :])
        with pytest.raises(dockfmu.ElasticBodyError):
            read_market(tmp_path / "k.mtx")


def test_numbers_out_of_range_are_refused(tmp_path, full):
    """Units and matrices that leave the range of double precision: no error of a solver, no infinite body."""
    file = npz(tmp_path, full)
    refused(file, "stiffness has entries that are not finite", units="1e150m,1e150kg")
    refused(npz(tmp_path, full, K=full.stiffness * 0.0), "cannot be reduced in double precision")
    refused(npz(tmp_path, full, dof=np.full((30, 2), [1, 1])), "component 1 of node 1 is given twice")
    points = np.column_stack([np.arange(30), np.zeros(30, int)])
    refused(npz(tmp_path, full, dof=points), "cannot be reduced in double precision")
    refused(npz(tmp_path, full), "cannot be reduced in double precision", modes=None, cut_off=1e300)
    for frame in ("5" * 5000, "\u0662\u0661"):
        refused(file, "must be the number of a node", frame=frame)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("nodes = [1, 21]", "nodes = [1, 7]", "node 7 is no node"),
        ("nodes = [1, 21]", "nodes = [1, 1]", "at one place"),
        ('section = "s"', 'section = "t"', "section"),
        ('modulus = "100 MPa"', 'modulus = "100 kg"', "another quantity"),
        ("density = 2.0", "density = -2.0", "must be a positive quantity"),
        ("elements = 20", "elements = 20\nup = [1, 0, 0]", "up is along the beam"),
        ("elements = 20", "elements = 0", "elements"),
        ("[nodes]", "[nodes]\n5 = [1, 2, 3]", "node 5 is at no beam"),
        ("[nodes]", "[nodes]\n5 = [1, 2]", "must be a list of 3 quantities"),
        ("[nodes]", "[nodes]\nroot = [1, 2, 3]", "must be a positive number"),
        ("elements = 20", "elements = 20\n[[masses]]\nnode = 1\nmass = 1\ninertia = [-1, 1, 1]", "not positive"),
        ("elements = 20", "elements = 20\ndamping = 3", "there is no entry"),
    ],
)
def test_frames_that_are_wrong(tmp_path, old, new, message):
    assert old in models.BEAM
    refused(models.beam(tmp_path, models.BEAM.replace(old, new)), message)


def test_a_round_trip_of_the_file(tmp_path):
    body = dockfmu.reduce(models.beam(tmp_path), interface=[1, 21], modes=4, frame=1)
    read = dockfmu.ElasticBody.load(body.write(tmp_path / "body.npz"))
    for name in (
        "origin",
        "nodes",
        "place",
        "shape",
        "frequency",
        "damping",
        "residual",
        "points",
        "point_shape",
        "lines",
    ):
        assert np.array_equal(getattr(read, name), getattr(body, name))
    for name, value in vars(body.invariants).items():
        assert np.array_equal(getattr(read.invariants, name), value)
    assert (read.checks, read.source, read.name, read.frame, read.method) == (
        body.checks, body.source, body.name, body.frame, body.method,
    )  # fmt: skip
    assert list(read.table()) == list(body.table())


def test_bodies_that_are_damaged(tmp_path):
    body = dockfmu.reduce(models.beam(tmp_path), interface=[1, 21], modes=1, frame=1)
    good = dict(np.load(body.write(tmp_path / "body.npz"), allow_pickle=False))
    about = json.loads(str(good["about"]))

    def load(message, **changes):
        content = {name: value for name, value in {**good, **changes}.items() if value is not None}
        np.savez(tmp_path / "bad.npz", **content)
        with pytest.raises(dockfmu.ElasticBodyError, match=message) as caught:
            dockfmu.ElasticBody.load(tmp_path / "bad.npz")
        assert "bad.npz" in str(caught.value)

    load("is no elastic body", about=None)
    load("'about' is damaged", about=np.array("[]"))
    load("its format is", about=np.array(json.dumps({**about, "format": "other"})))
    load("has no entry 'shape'", shape=None)
    load("entry 'shape' is", shape=good["shape"][:1])
    load("entry 'frequency' is", frequency=good["frequency"].astype(complex))
    load("not finite", damping=good["damping"] * np.inf)
    load("must be positive", frequency=-good["frequency"])
    load("'lines' names points", lines=good["lines"] + 100)
    load("entry 'points' is", points=np.array(3.0))
    with pytest.raises(dockfmu.ElasticBodyError, match="no such file"):
        dockfmu.ElasticBody.load(tmp_path / "none.npz")


def test_the_command(tmp_path, capsys):
    file, out = models.beam(tmp_path), tmp_path / "body.npz"
    picture = tmp_path / "shapes.png"
    words = ["reduce", str(file), "--interface", "1,21", "--cut-off", "20", "--frame", "1", "--rayleigh", "1e-4,0.01"]
    assert main([*words, "-o", str(out), "--figure", str(picture)]) == 0
    assert "static exactness" in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")
    body = dockfmu.ElasticBody.load(out)
    assert body.damping == pytest.approx(1e-4 * body.frequency**2 + 0.01)
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["method"] == "bodies"
    assert all(check["ok"] for check in told["checks"])
    assert main([*words[:2], "--interface", "5", "--modes", "1"]) == 2
    assert "interface node 5 is no node" in capsys.readouterr().err
