// Shapes of a scene as lines and circles in their frame: what a projection draws.

export const AROUND = 72; // corners of a circle

// Keys of a shape that are no quantities, and what the page keeps with it.
export const PLAIN = new Set(['shape', 'frame', 'to_frame', 'label', 'lit', 'style', 'shown', 'positions', 'indices', 'edges', 'deformations', 'triangles', 'wire', 'kept']);

const turn = ([x, r, t = 0], azimuth) =>
  [x, r * Math.cos(azimuth) - t * Math.sin(azimuth), r * Math.sin(azimuth) + t * Math.cos(azimuth)];

const chunks = (flat, size) => Array.from({ length: flat.length / size }, (_, k) => flat.slice(k * size, (k + 1) * size));

function revolution(q) {
  const count = Math.round(q.count ?? q.x.length), profile = Array.from({ length: count }, (_, k) => [q.x[k], q.r[k]]);
  const rings = profile.filter(([, r]) => r > 0).map(([x, r]) =>
    Array.from({ length: AROUND + 1 }, (_, k) => turn([x, r], 2 * Math.PI * k / AROUND)));
  const meridians = Array.from({ length: 8 }, (_, k) => profile.map(point => turn(point, Math.PI * k / 4)));
  return { lines: [...rings, ...meridians] };
}

function radial(q, shape) {
  const sizes = shape.points.map(point => Array.isArray(point) ? point.length : 2);
  const count = Math.round(q.count ?? 1);
  let first = 0;
  const points = sizes.map(size => q.points.slice(first, first += size));
  return {
    lines: Array.from({ length: count }, (_, k) =>
      points.map(point => turn(point, (q.azimuth ?? 0) + 2 * Math.PI * k / count))),
  };
}

// Edges of the homogeneous cuboid of this mass and inertia.
function inertiaBox(q) {
  const [xx, yy, zz] = [q.inertia[0], q.inertia[4], q.inertia[8]];
  return box([yy + zz - xx, zz + xx - yy, xx + yy - zz].map(s => Math.sqrt(Math.max(6 * s / q.mass, 0)) / 2), q.centre);
}

function box(half, centre = [0, 0, 0]) {
  const corner = k => half.map((h, axis) => centre[axis] + (k >> axis & 1 ? h : -h));
  const lines = [];
  for (let k = 0; k < 8; k++) for (const bit of [1, 2, 4]) if (!(k & bit)) lines.push([corner(k), corner(k | bit)]);
  return { lines, box: { half, centre } };
}

// A cylinder about x.
function cylinder(q) {
  const centre = q.centre ?? [0, 0, 0], ends = [-q.length / 2, q.length / 2];
  const place = (x, azimuth) => turn([x, q.radius], azimuth).map((part, k) => part + centre[k]);
  const rings = ends.map(x => Array.from({ length: AROUND + 1 }, (_, k) => place(x, 2 * Math.PI * k / AROUND)));
  const sides = Array.from({ length: 8 }, (_, k) => ends.map(x => place(x, Math.PI * k / 4)));
  return { lines: [...rings, ...sides], cylinder: { radius: q.radius, length: q.length, centre } };
}

const bytesOf = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer;

// Triangles of a file, with the edges of their bounding box as lines.
function mesh(q, shape) {
  shape.triangles ??= { positions: new Float32Array(bytesOf(shape.positions)), indices: new Uint32Array(bytesOf(shape.indices)) };
  const { positions } = shape.triangles, ends = [0, 1, 2].map(() => [Infinity, -Infinity]);
  positions.forEach((x, k) => { const end = ends[k % 3]; end[0] = Math.min(end[0], x); end[1] = Math.max(end[1], x); });
  const { lines } = box(ends.map(([low, high]) => (high - low) / 2), ends.map(([low, high]) => (high + low) / 2));
  return { lines, triangles: shape.triangles };
}

function wireOf(shape) {
  shape.wire ??= { rest: new Float32Array(bytesOf(shape.positions)), ways: new Float32Array(bytesOf(shape.deformations)), edges: chunks([...new Uint32Array(bytesOf(shape.edges))], 2) };
  return shape.wire;
}

// An elastic body: its points, displaced by the shapes times the coordinates, and how far each of them is displaced, m.
function wireframe(q, shape) {
  const { rest, ways, edges } = wireOf(shape), coordinates = [q.coordinates].flat(), moved = new Float32Array(rest.length);
  coordinates.forEach((coordinate, h) => { for (let k = 0; k < rest.length; k++) moved[k] += coordinate * ways[h * rest.length + k]; });
  const points = rest.map((x, k) => x + moved[k]), far = chunks(moved, 3).map(way => Math.hypot(...way));
  const at = k => [points[3 * k], points[3 * k + 1], points[3 * k + 2]];
  return { lines: edges.map(([a, b]) => [at(a), at(b)]), wire: { points, edges, far } };
}

// How far any point of an elastic body is displaced in the rows `first` to `last`, or `least` if that is more, m.
// `columns` are its coordinates over the rows.
export function farthest(shape, columns, first, last, least) {
  const { rest, ways } = wireOf(shape), lengths = columns.map((_, h) => {
    let longest = 0;
    for (let k = h * rest.length; k < (h + 1) * rest.length; k += 3) longest = Math.max(longest, Math.hypot(ways[k], ways[k + 1], ways[k + 2]));
    return longest;
  });
  // only rows that can have it are looked at
  const bound = row => columns.reduce((sum, column, h) => sum + Math.abs(column[row]) * lengths[h], 0);
  const rows = Array.from({ length: last - first }, (_, k) => [bound(first + k), first + k]).filter(([most]) => most > least).sort((a, b) => b[0] - a[0]);
  let largest = least;
  for (const [most, row] of rows) {
    if (!(most > largest)) break;
    for (let k = 0; k < rest.length; k += 3) {
      const way = [0, 1, 2].map(axis => columns.reduce((sum, column, h) => sum + column[row] * ways[h * rest.length + k + axis], 0));
      largest = Math.max(largest, Math.hypot(...way));
    }
  }
  return largest;
}

function arrow(q) {
  const origin = q.origin ?? [0, 0, 0], length = q.value * q.scale;
  const tip = origin.map((x, k) => x + q.along[k] * length);
  return { lines: [[origin, tip]], arrow: true };
}

const MAKERS = {
  revolution,
  radial,
  inertia_box: inertiaBox,
  box: q => box(q.size.map(x => x / 2), q.centre),
  cylinder,
  mesh,
  wireframe,
  arrow,
  rod: q => ({ lines: [[q.origin ?? [0, 0, 0], q.to]] }),
  polyline: q => ({ lines: [chunks(q.points, 3)] }),
  sphere: q => ({ lines: [], circle: { centre: q.centre ?? [0, 0, 0], radius: q.radius } }),
  triad: q => ({ lines: [0, 1, 2].map(axis => [[0, 0, 0], [0, 1, 2].map(k => k === axis ? q.length : 0)]) }),
  point: q => ({ lines: [], dot: q.centre ?? [0, 0, 0] }),
  contact: q => ({ lines: [], dot: q.position }),
};

// Lines, circle and dot of a shape in its frame from the values of its quantities.
export const geometry = (shape, quantities) => MAKERS[shape.shape](quantities, shape);
