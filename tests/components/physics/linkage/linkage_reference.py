"""The algorithms of kinematics section 8 and dynamics sections 5 to 10 as printed there, in body axes, with numpy.

A second implementation of what the `loop_*` kernels do in frame 0: the tests compare the two, and both with finite
differences of the bare geometry. The generated kernels of the product are compared with the loops.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dockfmu.components.core.record import Record
from tests.components.physics.linkage.loop_bodies import PRISMATIC_X, weigh
from tests.components.physics.linkage.loop_bodies import place as place_bodies
from tests.components.physics.linkage.loop_chain import accelerate as accelerate_chain
from tests.components.physics.linkage.loop_chain import chain, constrain, follow, react, reduce
from tests.components.physics.linkage.loop_closure import SERIAL, SERIAL_4, angle, close_crank, close_roll, close_strut

E = np.eye(3)


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def elementary(axis, angle):
    """alpha^x, alpha^y, alpha^z of conventions section 2."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    A = np.eye(3)
    A[i, i] = A[j, j] = c
    A[i, j], A[j, i] = s, -s
    return A


def euler(yaw, pitch, roll):
    return elementary(0, roll) @ elementary(2, pitch) @ elementary(1, yaw)


@dataclass
class Chain:
    """Data model of kinematics section 5; `I` is about the pole."""

    joints: tuple[int, ...]
    l0: np.ndarray
    lN: np.ndarray
    lL: np.ndarray
    mass: dict = field(default_factory=dict)  # body (from 0) -> (mass, d, I about its centre of mass)
    gamma0: np.ndarray = field(default_factory=lambda: np.eye(3))
    offsets: dict = field(default_factory=dict)  # joint -> l_{j-1}
    gL: np.ndarray = field(default_factory=lambda: np.eye(3))
    gN: np.ndarray = field(default_factory=lambda: np.eye(3))
    length: float = 0.0
    rod_length: float = 0.0
    gamma1: np.ndarray = field(default_factory=lambda: np.eye(3))

    @property
    def n(self):
        return len(self.joints)

    def gamma(self, j):
        return self.gamma0 if j == 0 else self.gamma1 if j == 1 else np.eye(3)

    def l(self, j):  # noqa: E743
        return self.l0 if j == 0 else self.offsets.get(j, np.zeros(3))

    def prismatic(self, j):
        return self.joints[j] >= PRISMATIC_X

    def axis(self, j):
        return self.joints[j] % 3

    def alpha(self, j, p):
        return np.eye(3) if self.prismatic(j) else elementary(self.axis(j), p[j])

    def t(self, j, p):
        return p[j] * E[0] if self.prismatic(j) else np.zeros(3)

    def body(self, j):
        """(m, c, I about the pole)"""
        m, d, J = self.mass.get(j, (0.0, np.zeros(3), np.zeros((3, 3))))
        return m, m * d, J - m * skew(d) @ skew(d)

    # geometry alone

    def frames(self, p):
        """[(point, rotation)] of each body, then the cut point."""
        tau, r, out = np.eye(3), np.zeros(3), []
        for j in range(self.n):
            theta = self.gamma(j) @ tau
            r = r + tau.T @ self.l(j) + theta.T @ self.t(j, p)
            tau = self.alpha(j, p) @ theta
            out.append((r, tau))
        return out, r + tau.T @ self.lL

    def residual(self, p, r_N, A_N):
        frames, end = self.frames(p)
        f = end - (r_N + A_N.T @ self.lN)
        if self.n == 3:
            return f
        e1 = (self.gL @ frames[-1][1])[1]
        e2 = (self.gN @ A_N)[2]
        return np.append(f, e1 @ e2)

    # kinematics section 8

    def jacobian(self, p, pd):
        """Algorithm K-J."""
        n = self.n
        tau, r, T, R = np.eye(3), np.zeros(3), np.zeros((3, n)), np.zeros((3, n))
        om, w, eps = np.zeros(3), np.zeros(3), np.zeros(3)
        for j in range(n):
            theta = self.gamma(j) @ tau
            rr = tau.T @ self.l(j) + theta.T @ self.t(j, p)
            a = theta.T[:, self.axis(j)]
            v_rel = a * pd[j] if self.prismatic(j) else np.zeros(3)
            om_rel = np.zeros(3) if self.prismatic(j) else a * pd[j]
            T = T - skew(rr) @ R
            if self.prismatic(j):
                T[:, j] += a
            w = w + skew(om) @ skew(om) @ rr + skew(eps) @ rr + 2 * skew(om) @ v_rel
            eps = eps + skew(om) @ om_rel
            if not self.prismatic(j):
                R[:, j] += a
            om, r, tau = om + om_rel, r + rr, self.alpha(j, p) @ theta
        lL = tau.T @ self.lL
        T_L = T - skew(lL) @ R
        w_L = w + skew(om) @ skew(om) @ lL + skew(eps) @ lL
        return T_L, R, w_L, eps, om, tau, r + lL

    def constraints(self, p, pd, A_N, om_N):
        """(C^i, C^d, c) of K-C for a free node with u = [v_N (frame 0), omega_N (node axes)]."""
        T_L, R, w_L, eps, om, tau, _ = self.jacobian(p, pd)
        T_N = np.hstack([np.eye(3), A_N.T @ skew(self.lN).T])
        w_N = A_N.T @ skew(om_N) @ skew(om_N) @ self.lN
        if self.n == 3:
            return T_N, T_L, w_N - w_L
        R_N = np.hstack([np.zeros((3, 3)), A_N.T])
        e1, e2, om_N0 = (self.gL @ tau)[1], (self.gN @ A_N)[2], A_N.T @ om_N
        n_R = np.cross(e1, e2)
        n_Rd = np.cross(np.cross(om, e1), e2) + np.cross(e1, np.cross(om_N0, e2))
        return (
            np.vstack([T_N, n_R @ R_N]),
            np.vstack([T_L, n_R @ R]),
            np.append(w_N - w_L, -n_R @ eps - n_Rd @ (om - om_N0)),
        )

    def newton(self, p, r_N, A_N):
        """Iteration (1.3.7)."""
        p = np.array(p, float)
        for _ in range(10):
            f = self.residual(p, r_N, A_N)
            if np.abs(f).max() < 1e-14:
                break
            T_L, R, _, _, _, tau, _ = self.jacobian(p, np.zeros(self.n))
            C = T_L
            if self.n == 4:
                n_R = np.cross((self.gL @ tau)[1], (self.gN @ A_N)[2])
                C = np.vstack([T_L, n_R @ R])
            p = p - np.linalg.solve(C, f)
        return p

    # dynamics sections 6 and 8

    def inertia(self, p):
        """D3, column by column."""
        n, A = self.n, np.zeros((self.n, self.n))
        beta = [self.alpha(j, p) @ self.gamma(j) for j in range(n)]
        r = [self.l(j) + self.gamma(j).T @ self.t(j, p) for j in range(n)]
        for j in range(n):
            f, mm = [None] * n, [None] * n
            e = E[self.axis(j)]
            vd, od = (e, np.zeros(3)) if self.prismatic(j) else (np.zeros(3), e)
            for i in range(j, n):
                if i > j:
                    vd, od = beta[i] @ (vd + np.cross(od, r[i])), beta[i] @ od
                m, c, J = self.body(i)
                f[i], mm[i] = m * vd + np.cross(od, c), J @ od + np.cross(c, vd)
            for i in range(n - 1, j - 1, -1):
                A[i, j] = A[j, i] = (f if self.prismatic(i) else mm)[i][self.axis(i)]
                if i > j:
                    fp = beta[i].T @ f[i]
                    f[i - 1] = f[i - 1] + fp
                    mm[i - 1] = mm[i - 1] + beta[i].T @ mm[i] + np.cross(r[i], fp)
        return A

    def bias(self, p, pd, g, om0, eps0, w0):
        """D4: b, and the inertia forces and moments without the qdd that D8 needs."""
        n = self.n
        beta = [self.alpha(j, p) @ self.gamma(j) for j in range(n)]
        r = [self.l(j) + self.gamma(j).T @ self.t(j, p) for j in range(n)]
        om, w, eps, f, mm, b = om0, w0, eps0, [], [], np.zeros(n)
        for j in range(n):
            e = E[self.axis(j)] * pd[j]
            v_rel, om_rel = (e, 0 * e) if self.prismatic(j) else (0 * e, e)
            omp = beta[j] @ om
            w = beta[j] @ (w + np.cross(eps, r[j]) + np.cross(om, np.cross(om, r[j]))) + 2 * np.cross(omp, v_rel)
            eps = beta[j] @ eps + np.cross(omp, om_rel)
            om = omp + om_rel
            m, c, J = self.body(j)
            f.append(-m * w - np.cross(eps, c) - np.cross(om, np.cross(om, c)))
            mm.append(-J @ eps - np.cross(c, w) - np.cross(om, J @ om))
        fn, mn = list(f), list(mm)
        for j in range(n - 1, -1, -1):
            b[j] = (f if self.prismatic(j) else mm)[j][self.axis(j)] + g[j]
            if j > 0:
                fp = beta[j].T @ f[j]
                f[j - 1] = f[j - 1] + fp
                mm[j - 1] = mm[j - 1] + beta[j].T @ mm[j] + np.cross(r[j], fp)
        return b, fn, mn

    def base_wrench(self, p, pdd, g, fn, mn, lam, n_R):
        """D8 with erratum D6: (f_0, m_0) about O_0."""
        n = self.n
        beta = [self.alpha(j, p) @ self.gamma(j) for j in range(n)]
        r = [self.l(j) + self.gamma(j).T @ self.t(j, p) for j in range(n)]
        tau = self.frames(p)[0][-1][1]
        vd, od, fI, mI = np.zeros(3), np.zeros(3), [], []
        for j in range(n):
            e = E[self.axis(j)] * pdd[j]
            vd = beta[j] @ (vd - np.cross(r[j], od)) + (e if self.prismatic(j) else 0)
            od = beta[j] @ od + (0 if self.prismatic(j) else e)
            m, c, J = self.body(j)
            fI.append(-m * vd - np.cross(od, c) + fn[j])
            mI.append(-np.cross(c, vd) - J @ od + mn[j])
        fS = tau @ lam[:3]
        mS = np.cross(self.lL, fS) + (tau @ n_R * lam[3] if n == 4 else 0)
        for j in range(n - 1, -1, -1):
            e = E[self.axis(j)]
            N = np.eye(3) - np.outer(e, e)
            f, m = fI[j] + fS, mI[j] + mS
            if self.prismatic(j):
                f = -e * g[j] + N @ f
            else:
                m = -e * g[j] + N @ m
            fS = beta[j].T @ f
            mS = beta[j].T @ m + np.cross(r[j], fS)
        return fS, mS


def record_of(c: Chain, node: int = 6):
    """The same chain as a record of `loop_chain`."""
    m = Record(chain("chain", c.n, node)).memory().chain
    fill(m, c)
    return m


def fill(m, c: Chain):
    b = m.bodies
    for j in range(c.n):
        b.offset[j], b.mounting[j] = c.l(j), c.gamma(j)
        mass, d, J = c.mass.get(j, (0.0, np.zeros(3), np.zeros((3, 3))))
        b.mass[j], b.centre[j], b.inertia[j] = mass, d, J - mass * skew(np.asarray(d)) @ skew(np.asarray(d))
    m.end_point[:], m.end_axes[:] = c.lL, c.gL
    m.node_point[:], m.node_axes[:] = c.lN, c.gN
    m.length, m.rod_length = c.length, c.rod_length


def rows(A):
    return tuple(map(tuple, np.asarray(A, float)))


def close(m, c: Chain, r_N, A_N):
    """Closed-form coordinates, placement and constraints of the record `m`."""
    parents = SERIAL if c.n == 3 else SERIAL_4
    r = tuple(r_N + A_N.T @ c.lN - c.l0)
    crank = c.rod_length > 0.0
    assert (close_crank if crank else close_strut)(m, r)
    for j in range(3 if crank else 2):
        m.bodies.q[j] = angle(m.bodies, j)
    if c.n == 4:
        place_bodies(m.bodies, parents, c.joints)
        assert close_roll(m, 3 if crank else 2, rows(A_N))
    place_bodies(m.bodies, parents, c.joints)
    assert constrain(m, rows(A_N))


def evaluate(m, c: Chain, r_N, A_N, u, ud, g, base):
    """Everything of one chain for node rates u and accelerations ud with angular parts in node axes.

    Returns (dI_N, dm_N) of the six node coordinates in frame 0.
    """
    om0, eps0, w0 = (tuple(x) for x in base)
    close(m, c, r_N, A_N)
    u0 = np.concatenate([u[:3], A_N.T @ u[3:]])
    ud0 = np.concatenate([ud[:3], A_N.T @ ud[3:]])
    follow(m, SERIAL if c.n == 3 else SERIAL_4, u0)
    m.force[:] = g
    inertia, force = np.zeros((6, 6)), np.zeros(6)
    reduce(m, om0, eps0, w0, inertia, force)
    accelerate_chain(m, ud0)
    react(m)
    return inertia, force


def random_chains(rng):
    """One chain of each spatial type with every body heavy and every offset non-trivial."""
    from tests.components.physics.linkage.loop_closure import RSU, RUS, UCU, UPS

    def mass(n):
        out = {}
        for j in range(n):
            a = rng.normal(size=(3, 3))
            out[j] = (rng.uniform(0.5, 3), rng.uniform(-0.2, 0.2, 3), 0.01 * (a @ a.T + np.eye(3)))
        return out

    def turn(scale):
        return euler(*rng.uniform(-scale, scale, 3))

    base, node = np.array([0.0, 0.65, 0.0]), np.array([0.0, 0.5, 0.1])
    crank = np.array([[0, -1.0, 0], [1, 0, 0], [0, 0, 1]])
    strut = {"l0": base, "lN": node + rng.uniform(-0.05, 0.05, 3), "lL": np.array([0.6, 0, 0]), "length": 0.6}
    rods = {"l0": base, "lN": node, "length": 0.35, "rod_length": 0.55, "offsets": {1: np.array([0.35, 0, 0])}}
    end = {"gL": elementary(0, 0.3), "gN": turn(0.2)}
    return {
        "UPS": Chain(UPS, mass=mass(3), gamma0=turn(0.3), **strut),
        "UCU": Chain(UCU, mass=mass(4), gamma0=turn(0.3), **strut, **end),
        "RUS": Chain(RUS, mass=mass(3), gamma0=crank, gamma1=turn(0.2), lL=np.array([0.55, 0, 0]), **rods),
        "RSU": Chain(RSU, mass=mass(4), gamma0=crank, gamma1=turn(0.2), lL=np.array([0.55, 0, 0]), **rods, **end),
    }


__all__ = ["Chain", "close", "euler", "evaluate", "random_chains", "record_of", "rows", "skew", "weigh"]
