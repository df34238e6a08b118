// Objects of three.js for the shapes of a scene: solids with shaded faces.

import { tint } from './deformation.js';
import { AROUND } from './geometry.js';

export const PAINTS = { free: 0x3fbf6f, lit: 0xff5a4f, passive: 0x8fb0e0, line: 0xc9d4e6, thin: 0xa9b4c8, contact: 0xff5a4f, arrow: 0xffb347, other: 0xe58cff };
export const AXES = [['x', '#f0a030'], ['y', '#62c8f5'], ['z', '#d98fd0']]; // red is for what touches
const THICKEST = 0.1; // m, radius of rods without one of their own
const PATCH = 0.05; // radius of the patch of the largest contact, of the size of the view
const LONGEST = 0.75; // length of the longest arrow, of the size of the view
const CRAFT = [0xd8cfc0, 0x9db2d4, 0xc4d0b4, 0xd0b8cc]; // boxes of elements, in turn

// Makes and updates the objects; `number` gives each element its place among all.
export class Bodies {
  constructor(three) {
    this.three = three;
    this.units = {
      ball: new three.SphereGeometry(1, 32, 24),
      bar: new three.CylinderGeometry(1, 1, 1, 32).translate(0, 0.5, 0),
      tip: new three.ConeGeometry(1, 1, 32).translate(0, 0.5, 0),
      disc: new three.CircleGeometry(1, 28),
    };
  }

  material(paint, more = {}) {
    const { three } = this;
    return new three.MeshPhongMaterial({ color: paint, specular: 0x1a1e26, shininess: 18, ...more });
  }

  mesh(geometry, material) {
    const made = new this.three.Mesh(geometry, material);
    made.castShadow = made.receiveShadow = true;
    return made;
  }

  line(points, paint) {
    const { three } = this, geometry = new three.BufferGeometry().setFromPoints(points.map(point => new three.Vector3(...point)));
    return new three.Line(geometry, new three.LineBasicMaterial({ color: paint }));
  }

  make(shape, made, quantities, { other, number, clip }) {
    const { three, units } = this, group = new three.Group(), paint = PAINTS[other ? 'other' : shape.style ?? 'line'], { DoubleSide } = three;
    // closed bodies show their front alone: back faces would shine through at their edges
    const solid = (more = {}) => this.material(paint, other ? { transparent: true, opacity: 0.45, depthWrite: false, ...more } : more);
    const bars = lines => lines.forEach(line => line.slice(1).forEach(() => group.add(this.mesh(units.bar, solid()))));
    if (shape.shape === 'revolution') {
      const count = Math.round(quantities.count ?? quantities.x.length);
      const profile = Array.from({ length: count }, (_, k) => new three.Vector2(quantities.r[k], quantities.x[k]));
      const lathe = new three.LatheGeometry(profile, AROUND);
      lathe.rotateZ(-Math.PI / 2); // from about y to about x
      const clear = shape.style === 'passive', planes = clear && clip ? [clip] : null;
      const material = this.material(paint, { side: DoubleSide, flatShading: false, clippingPlanes: planes });
      if (other) Object.assign(material, { transparent: true, opacity: 0.35, depthWrite: false });
      group.add(this.mesh(lathe, material));
      for (const ring of made.lines.slice(0, -8)) {
        const line = this.line(ring, paint);
        line.material.clippingPlanes = planes;
        group.add(line);
      }
      group.userData.clear = clear && !other;
    } else if (shape.shape === 'contact') {
      const red = more => new three.MeshBasicMaterial({ color: other ? PAINTS.other : PAINTS.contact, depthTest: false, transparent: true, ...more });
      // contacts stay visible through what hides them: centre, patch, and arrow of the force
      group.add(new three.Mesh(units.ball, red()), new three.Mesh(units.disc, red({ opacity: 0.55, side: DoubleSide })), new three.Mesh(units.bar, red()), new three.Mesh(units.tip, red()));
      group.children.forEach(part => { part.renderOrder = 2; });
    } else if (made.wire) {
      const bar = new three.InstancedMesh(units.bar, this.material(other ? PAINTS.other : 0xffffff), made.lines.length);
      bar.userData.plain = other;
      bar.castShadow = bar.receiveShadow = true;
      bar.frustumCulled = false; // its bounds are those of one bar
      group.add(bar);
    } else if (made.circle || made.dot) {
      group.add(this.mesh(units.ball, this.material(paint)));
    } else if (made.box) {
      const size = made.box.half.map(half => Math.max(2 * half, 1e-4)), box = new three.BoxGeometry(...size).translate(...made.box.centre);
      const colour = other ? PAINTS.other : shape.shape === 'inertia_box' ? CRAFT[number % CRAFT.length] : paint;
      group.add(this.mesh(box, this.material(colour, other || shape.shape === 'inertia_box' ? { transparent: true, opacity: other ? 0.3 : 0.6, depthWrite: false } : {})));
      group.add(new three.LineSegments(new three.EdgesGeometry(box), new three.LineBasicMaterial({ color: other ? PAINTS.other : 0xdfe6f4 })));
    } else if (made.triangles) {
      const geometry = new three.BufferGeometry();
      geometry.setAttribute('position', new three.BufferAttribute(made.triangles.positions, 3));
      geometry.setIndex(new three.BufferAttribute(made.triangles.indices, 1));
      geometry.computeVertexNormals();
      group.add(this.mesh(geometry, this.material(other ? PAINTS.other : shape.style ? paint : CRAFT[number % CRAFT.length], { side: DoubleSide, flatShading: true })));
    } else if (made.cylinder) {
      const { radius, length, centre } = made.cylinder;
      group.add(this.mesh(new three.CylinderGeometry(radius, radius, length, AROUND).rotateZ(-Math.PI / 2).translate(...centre), solid()));
    } else if (shape.shape === 'polyline' || shape.shape === 'rod') {
      bars(made.lines);
      made.lines[0].forEach(() => group.add(this.mesh(units.ball, solid())));
    } else if (shape.shape === 'arrow') {
      const colour = this.material(other ? PAINTS.other : PAINTS.arrow, { emissive: 0x402800 });
      group.add(this.mesh(units.bar, colour), this.mesh(units.tip, colour));
    } else if (shape.shape === 'triad') {
      AXES.forEach(([, colour]) => group.add(this.mesh(units.bar, this.material(colour)), this.mesh(units.tip, this.material(colour))));
    } else {
      bars(made.lines);
      // a closed outline becomes a plate
      for (const points of made.lines) {
        if (points.length < 3) continue;
        const plate = new three.BufferGeometry().setFromPoints(points.map(point => new three.Vector3(...point)));
        plate.setIndex(points.slice(2).flatMap((_, k) => [0, k + 1, k + 2]));
        plate.computeVertexNormals();
        group.add(this.mesh(plate, solid({ side: DoubleSide })));
      }
    }
    group.matrixAutoUpdate = false;
    return group;
  }

  // A bar of this radius from one point to another, with a cone at its end if there is one.
  stretch(bar, from, to, radius, tip) {
    const { three } = this, start = new three.Vector3(...from), way = new three.Vector3(...to).sub(start), length = way.length();
    const head = tip ? Math.min(5 * radius, 0.5 * length) : 0;
    bar.visible = length > 1e-9;
    if (tip) tip.visible = bar.visible;
    if (!bar.visible) return;
    way.normalize();
    bar.position.copy(start);
    bar.scale.set(radius, length - head, radius);
    bar.quaternion.setFromUnitVectors(new three.Vector3(0, 1, 0), way);
    if (!tip) return;
    tip.position.copy(start).addScaledVector(way, length - head);
    tip.scale.set(2.2 * radius, head, 2.2 * radius);
    tip.quaternion.copy(bar.quaternion);
  }

  // Update an object to the present geometry of its shape; return where its number stands, if it has one.
  place(object, shape, made, quantities, { size, full }, contact) {
    const parts = object.children, thin = Math.min(0.006 * size, 0.05);
    if (made.wire) return this.wire(parts[0], made, thin, full);
    if (shape.shape === 'contact') return this.contact(parts, made.dot, quantities, size, contact);
    if (made.circle || made.dot) {
      parts[0].position.set(...(made.circle?.centre ?? made.dot));
      parts[0].scale.setScalar(made.circle ? made.circle.radius : 0.01 * size);
    } else if (shape.shape === 'polyline' || shape.shape === 'rod') {
      const [line] = made.lines, thick = quantities.radius ?? Math.min(0.014 * size, THICKEST);
      line.slice(1).forEach((end, k) => this.stretch(parts[k], line[k], end, thick));
      line.forEach((point, k) => {
        parts[line.length - 1 + k].position.set(...point);
        parts[line.length - 1 + k].scale.setScalar((quantities.radius ? 1.18 : 1) * thick);
      });
    } else if (shape.shape === 'arrow') {
      const [from, to] = made.lines[0], length = Math.hypot(...to.map((x, k) => x - from[k])), share = Math.min(1, LONGEST * size / length);
      const end = from.map((x, k) => x + share * (to[k] - x));
      if (length > 1e-4) this.stretch(parts[0], from, end, thin, parts[1]);
      else parts.forEach(part => { part.visible = false; });
      return length > 1e-4 ? end : undefined;
    } else if (shape.shape === 'triad') {
      made.lines.forEach(([from, to], k) => this.stretch(parts[2 * k], from, to, 0.6 * thin, parts[2 * k + 1]));
    } else if (shape.shape === 'radial') {
      let k = 0;
      for (const line of made.lines) line.slice(1).forEach((end, j) => this.stretch(parts[k++], line[j], end, 0.8 * thin));
    }
    return undefined;
  }

  // The bars of an elastic body, in the colours of how far they are displaced; `full` is the end of their scale.
  wire(bars, { lines, wire }, thin, full) {
    const { three } = this, one = new three.Object3D(), colour = new three.Color();
    lines.forEach(([from, to], k) => {
      this.stretch(one, from, to, 1.2 * thin);
      one.updateMatrix();
      bars.setMatrixAt(k, one.matrix);
      const [a, b] = wire.edges[k];
      if (!bars.userData.plain) bars.setColorAt(k, colour.setRGB(...tint((wire.far[a] + wire.far[b]) / 2 / full)));
    });
    bars.instanceMatrix.needsUpdate = true;
    if (bars.instanceColor) bars.instanceColor.needsUpdate = true;
    return undefined;
  }

  // A contact: `normal` is perpendicular to the surface there, where that is known; sizes grow with the root of the force.
  contact([ball, disc, bar, tip], at, { force }, size, { normal, largest }) {
    const { three } = this, share = Math.sqrt(Math.min(Math.abs(force) / (largest || 1), 1));
    ball.position.set(...at);
    ball.scale.setScalar(0.012 * size);
    disc.visible = bar.visible = tip.visible = Boolean(normal);
    if (!normal) return at;
    disc.position.set(...at);
    disc.scale.setScalar(PATCH * size * (0.3 + 0.7 * share));
    disc.quaternion.setFromUnitVectors(new three.Vector3(0, 0, 1), new three.Vector3(...normal));
    const end = at.map((x, k) => x + normal[k] * size * (0.1 + 0.4 * share));
    this.stretch(bar, at, end, 0.006 * size, tip);
    return end;
  }
}

// Unit vector perpendicular to a surface of revolution about x at a point near it, on the side of the axis.
export function normalOf({ x, r, count }, [px, py, pz]) {
  const radius = Math.hypot(py, pz), last = Math.round(count ?? x.length);
  let nearest = Infinity, found;
  for (let k = 1; k < last; k++) {
    const dx = x[k] - x[k - 1], dr = r[k] - r[k - 1], length = dx * dx + dr * dr;
    if (!length) continue;
    const share = Math.min(Math.max(((px - x[k - 1]) * dx + (radius - r[k - 1]) * dr) / length, 0), 1);
    const apart = Math.hypot(px - x[k - 1] - share * dx, radius - r[k - 1] - share * dr);
    if (apart >= nearest) continue;
    nearest = apart;
    // to the axis, and for a bottom toward the open end
    const size = Math.sqrt(length), normal = [dr / size, -dx / size], inward = Math.abs(normal[1]) > 1e-9 ? -Math.sign(normal[1]) : -Math.sign(normal[0]);
    found = normal.map(part => part * inward);
  }
  if (!found) return undefined;
  const around = radius > 1e-9 ? [py / radius, pz / radius] : [1, 0];
  return [found[0], found[1] * around[0], found[1] * around[1]];
}
