"""An elastic body in large motion beside Exudyn's floating frame of reference: the same motion, and the time of a step.

python -m benchmarks floating_frame    needs `python -m pip install exudyn`

A solid beam of 20 x 2 x 2 bricks, whose end faces are rigid, is reduced by both programs from the same matrices of 567
freedoms: six shapes of the second face with the first one held, and modes with both held. It starts undeformed with a
twist, and flies freely; a mass on its edge bends it. Exudyn integrates by the generalized-alpha method with Newton's
iterations, dockfmu by its exact steps of the modes. Masses are lumped, and those of the end faces small: a face that
dockfmu has as one node of six freedoms lacks the second order of its own rotation, 2e-3 of the deflection here with its
whole mass. Errors are those of the centre of the second face against the limit for short steps of the same program,
over its deflection; times are of the processor, the shortest of several.
"""

from __future__ import annotations

import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy import sparse

import dockfmu
from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.model import Model, MultibodyJoint, Port
from dockfmu.components.multibody.model.elastic import elastic_rigid_body
from tests.components.multibody.random_models import made

CELLS = (20, 2, 2)
SIZE = (2.0, 0.1, 0.1)
MODULUS, RATIO, DENSITY = 2e8, 0.3, 1200.0
DAMPING = 1e-3
"""Damping over stiffness, s: both damp out what the start excites in shapes faster than the step."""
FACE = 1e-2
"""Share of the mass of the end faces that is kept."""
LOAD = 5.0
"""Mass on an edge of the beam, at three quarters of its length, kg: what it pulls aside bends the beam."""
VELOCITY, SPIN = (0.3, -0.2, 0.1), (1.0, 3.0, 4.0)
END = 0.5
MODES = (2, 8, 24)
STEPS = (1e-3, 2.5e-4, 1.25e-4, 6.25e-5)
ROUNDS = 3


def main() -> None:
    """Print errors and times of steps, and the difference of the limits."""
    if find_spec("exudyn") is None:
        print("not run: python -m pip install exudyn")
        return
    model = beam()
    print("| modes | step, s | error, Exudyn | error, dockfmu | Exudyn, us a step | dockfmu, us a step | ratio |")
    print("|---|---|---|---|---|---|---|")
    limits = []
    for modes in MODES:
        theirs = [of_exudyn(*model, modes, step) for step in STEPS]
        ours = [of_dockfmu(*model, modes, step) for step in STEPS]
        deflection = np.linalg.norm(ours[-1][0][1])
        ends = [[end for end, _ in theirs], [end for (end, _), _ in ours]]
        # both methods have second order, and the last step is half the one before
        limit = [found[-1] + (found[-1] - found[-2]) / 3.0 for found in ends]
        for k, step in enumerate(STEPS):
            off = [np.linalg.norm(found[k] - at) / deflection for found, at in zip(ends, limit, strict=True)]
            spent = theirs[k][1], ours[k][1]
            print(
                f"| {modes} | {step:g} | {off[0]:.1e} | {off[1]:.1e} | {spent[0]:.1f} | {spent[1]:.1f} | "
                f"{spent[1] / spent[0]:.3f} |",
                flush=True,
            )
        limits.append((modes, 1e3 * deflection, np.linalg.norm(limit[1] - limit[0]), np.linalg.norm(limit[0])))
    for modes, deflection, apart, way in limits:
        print(f"\n{modes} modes: limits {apart:.1e} m apart after {way:.2f} m, deflected by {deflection:.2f} mm")


def beam() -> tuple[np.ndarray, sparse.csr_matrix, sparse.csr_matrix]:
    """Return (places, m; stiffness, N/m; mass, kg) of a beam of bricks along x, its first face about the origin."""
    counts = [n + 1 for n in CELLS]
    grid = np.stack(np.meshgrid(*(np.arange(n) for n in counts), indexing="ij"), axis=-1).reshape(-1, 3)
    edge = np.array(SIZE) / CELLS
    place = grid * edge - np.array([0.0, 0.5 * SIZE[1], 0.5 * SIZE[2]])
    number = {tuple(corner): k for k, corner in enumerate(grid)}
    corners = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    own_stiffness, own_mass = _brick(edge, corners)
    rows, columns, k_data, m_data = [], [], [], []
    for cell in np.ndindex(*CELLS):
        nodes = [number[tuple(np.array(cell) + corner)] for corner in corners]
        freedom = np.array([3 * node + c for node in nodes for c in range(3)])
        rows.append(np.repeat(freedom, 24))
        columns.append(np.tile(freedom, 24))
        k_data.append(own_stiffness.ravel())
        m_data.append(own_mass.ravel())
    at = np.concatenate(rows), np.concatenate(columns)
    n = 3 * len(place)
    stiffness, mass = (sparse.coo_matrix((np.concatenate(x), at), (n, n)).tocsr() for x in (k_data, m_data))
    lumped = np.asarray(mass.sum(axis=1)).reshape(-1, 3)
    lumped[np.concatenate(faces(place))] *= FACE
    lumped[number[3 * CELLS[0] // 4, CELLS[1], CELLS[2]]] += LOAD
    return place, stiffness, sparse.diags(lumped.ravel()).tocsr()


def _brick(edge: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return stiffness and consistent mass of a brick with linear shapes, by 2 x 2 x 2 points."""
    lame = MODULUS * RATIO / ((1.0 + RATIO) * (1.0 - 2.0 * RATIO))
    shear = MODULUS / (2.0 * (1.0 + RATIO))
    law = np.diag([2.0 * shear] * 3 + [shear] * 3)
    law[:3, :3] += lame
    stiffness, mass = np.zeros((24, 24)), np.zeros((24, 24))
    weight = np.prod(edge) / 8.0
    for point in np.array(np.meshgrid(*([(-1.0, 1.0)] * 3))).reshape(3, -1).T / np.sqrt(3.0):
        factor = 0.5 * (1.0 + (2.0 * corners - 1.0) * point)
        shape = factor.prod(axis=1)
        slope = np.array(
            [
                [(2.0 * c[i] - 1.0) / edge[i] * np.delete(f, i).prod() for i in range(3)]
                for c, f in zip(corners, factor, strict=True)
            ]
        )
        strain, moved = np.zeros((6, 24)), np.zeros((3, 24))
        for node, (x, y, z) in enumerate(slope):
            strain[:, 3 * node : 3 * node + 3] = [[x, 0, 0], [0, y, 0], [0, 0, z], [y, x, 0], [0, z, y], [z, 0, x]]
            moved[:, 3 * node : 3 * node + 3] = shape[node] * np.eye(3)
        stiffness += weight * strain.T @ law @ strain
        mass += weight * DENSITY * moved.T @ moved
    return stiffness, mass


def faces(place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes of the end faces."""
    return np.flatnonzero(place[:, 0] < 1e-9), np.flatnonzero(place[:, 0] > SIZE[0] - 1e-9)


def of_exudyn(place, stiffness, mass, modes: int, step: float) -> tuple[np.ndarray, float]:
    """Return (place of the centre of the second face at the end, m; time of a step, us)."""
    import exudyn as exu
    from exudyn.FEM import FEMinterface, HCBstaticModeSelection, ObjectFFRFreducedOrderInterface
    from exudyn.utilities import MarkerSuperElementPosition, SensorMarker

    first, second = faces(place)
    body = FEMinterface()
    body.nodes["Position"] = place
    body.stiffnessMatrix, body.massMatrix = stiffness, mass
    body.ComputeHurtyCraigBamptonModes(
        boundaryNodesList=[first.tolist(), second.tolist()],
        nEigenModes=modes,
        useSparseSolver=False,
        computationMode=HCBstaticModeSelection.RBE2,
    )
    best, end = np.inf, None
    for _ in range(ROUNDS):
        system = exu.SystemContainer()
        mbs = system.AddSystem()
        added = ObjectFFRFreducedOrderInterface(body).AddObjectFFRFreducedOrder(
            mbs, initialVelocity=list(VELOCITY), initialAngularVelocity=list(SPIN), stiffnessProportionalDamping=DAMPING
        )
        marker = mbs.AddMarker(
            MarkerSuperElementPosition(
                bodyNumber=added["oFFRFreducedOrder"],
                meshNodeNumbers=second.tolist(),
                weightingFactors=[1.0 / len(second)] * len(second),
            )
        )
        sensor = mbs.AddSensor(
            SensorMarker(markerNumber=marker, outputVariableType=exu.OutputVariableType.Position, writeToFile=False)
        )
        mbs.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = round(END / step)
        settings.timeIntegration.endTime = END
        settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = END
        start = time.process_time()
        mbs.SolveDynamic(settings)
        best = min(best, time.process_time() - start)
        end = np.array(mbs.GetSensorValues(sensor))
    return end, 1e6 * best * step / END


def reduced(place, stiffness, mass, modes: int):
    """Return the body that `dockfmu.reduce` makes of the matrices, with a node of six freedoms for each end face."""
    ends = faces(place)
    inner = np.setdiff1d(np.arange(len(place)), np.concatenate(ends))
    centres = [place[face].mean(axis=0) for face in ends]
    join = sparse.lil_matrix((3 * len(place), 12 + 3 * len(inner)))
    for k, (face, centre) in enumerate(zip(ends, centres, strict=True)):
        for node in face:
            x, y, z = place[node] - centre
            join[3 * node : 3 * node + 3, 6 * k : 6 * k + 6] = np.hstack(
                [np.eye(3), [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]]
            )
    for k, node in enumerate(inner):
        for c in range(3):
            join[3 * node + c, 12 + 3 * k + c] = 1.0
    join = join.tocsr()
    joined = [(join.T @ matrix @ join).toarray() for matrix in (stiffness, mass)]
    dof = [(k, c) for k in (1, 2) for c in range(1, 7)] + [(k + 3, c) for k in range(len(inner)) for c in range(1, 4)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "beam.npz"
        np.savez(
            file,
            K=0.5 * (joined[0] + joined[0].T),
            M=0.5 * (joined[1] + joined[1].T),
            nodes=np.arange(1, len(inner) + 3),
            x=np.concatenate([centres, place[inner]]),
            dof=np.array(dof),
        )
        return dockfmu.reduce(file, interface=[1, 2], modes=modes, frame=1, units="m,kg", rayleigh=(DAMPING, 0.0))


def of_dockfmu(place, stiffness, mass, modes: int, step: float):
    """Return ((place, deflection) of the second face at the end, m; time of a step, us)."""
    body = elastic_rigid_body("beam", reduced(place, stiffness, mass, modes))
    joint = MultibodyJoint("flight", "free", "base", "beam", rates=(*VELOCITY, *SPIN))
    model = Model("Flight", (body,), (joint,), ports=(Port("tip", "beam", (SIZE[0], 0.0, 0.0)),))
    component = made(model)
    best, end = np.inf, None
    for _ in range(ROUNDS):
        instance = Instance(component)
        stepping = instance.m.parameters.stepping
        stepping.micro_tolerance, stepping.micro_step, stepping.longest_micro_step = 0.0, step, step
        start = time.process_time()
        instance.step(0.0, END)
        best = min(best, time.process_time() - start)
        at = max(range(2), key=lambda k: instance.m.deflection[k].link)
        end = np.array(instance.m.port[0].position), np.array(instance.m.deflection[at].displacement)
    return end, 1e6 * best * step / END


if __name__ == "__main__":
    main()
