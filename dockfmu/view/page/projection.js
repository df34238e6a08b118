// The contact scene in two projections, and the scene of all craft: wire frames, so that hidden contacts are visible.

import { arrowText, evaluate, forceText } from './source.js';
import { pointBetween, pointIn, pointOf, poses, IDENTITY } from './frames.js';
import { geometry, PLAIN } from './geometry.js';
import { cssTint, drawScale } from './deformation.js';

export const COLOURS = {
  free: '#3fbf6f', lit: '#ff5a4f', passive: '#7f9bc4', line: '#c9d4e6', thin: '#6d7890', contact: '#ff5a4f',
  arrow: '#ffb347', text: '#d7deea', axis: '#39435a', other: '#e58cff', ground: '#171d2c',
};
const NEAR = 7; // distance from a line, in units, within which the pointer is on it
const LABELLED = 44; // least length of a rod with room for its label
const FIXED = new Set(['revolution', 'inertia_box', 'mesh']);

// What is drawn at t, in I, of the elements that `wanted(scene)` chooses: lines, circles, dots with their state.
export function solids(source, t, wanted = () => true) {
  const found = [];
  const read = name => source.value(name, t), held = name => source.held(name, t);
  for (const [element, scene] of Object.entries(source.scenes)) {
    if (!wanted(scene)) continue;
    const placed = poses(scene, source, t);
    for (const shape of scene.shapes) {
      if (shape.shown !== undefined && !(evaluate(shape.shown, held) > 0)) continue;
      const contact = shape.shape === 'contact';
      if (contact && !(evaluate(shape.active, held) > 0)) continue;
      if (!shape.kept) {
        const quantities = {};
        for (const [key, quantity] of Object.entries(shape)) {
          if (!PLAIN.has(key)) quantities[key] = evaluate(quantity, contact ? held : read);
        }
        if (shape.to_frame) quantities.to = pointBetween(placed, shape, quantities.to);
        shape.kept = { ...geometry(shape, quantities), force: contact ? quantities.force : undefined };
      }
      const made = shape.kept;
      if (!FIXED.has(shape.shape)) shape.kept = undefined;
      const flags = shape.lit === undefined ? [] : [shape.lit].flat();
      const pose = placed[shape.frame] ?? IDENTITY, out = point => pointOf(pose, point);
      found.push({
        element, kind: shape.shape, label: shape.label ?? '', style: shape.style, force: made.force,
        value: shape.shape === 'arrow' ? arrowText(source, shape, made.lines[0]) : undefined,
        lit: flags.length ? flags.some(flag => evaluate(flag, held) > 0) : undefined,
        lines: made.lines.map(line => line.map(out)),
        far: made.wire?.edges.map(([a, b]) => (made.wire.far[a] + made.wire.far[b]) / 2),
        circle: made.circle && { centre: out(made.circle.centre), radius: made.circle.radius },
        dot: made.dot && out(made.dot),
      });
    }
  }
  return found;
}

// The frame in which the scene is drawn, with the directions of the projections, at t; `items` are what is drawn.
export function viewpoint(source, t, name, items) {
  if (name !== 'craft') {
    for (const [element, scene] of Object.entries(source.scenes)) {
      if (!scene.view || (name && name !== element)) continue;
      const placed = poses(scene, source, t), pose = placed[scene.view.frame];
      let lateral = [0, 1, 0];
      if (scene.view.through) {
        const point = evaluate(scene.view.through.point, n => source.value(n, t));
        const [, y, z] = pointIn(pose, pointOf(placed[scene.view.through.frame], point));
        // on the axis the plane is not determined: it stays that of x and y
        if (Math.hypot(y, z) > 1e-3) lateral = [0, y / Math.hypot(y, z), z / Math.hypot(y, z)];
      }
      return { pose, lateral, size: scene.view.size ?? 1 };
    }
  }
  return around(items);
}

// Points that give the extent of what is drawn: ends and some points of lines, and dots.
export function outline(items) {
  const found = [];
  for (const item of items) {
    if (item.kind === 'arrow' || item.kind === 'contact') continue;
    if (item.dot) found.push(item.dot);
    if (item.circle) found.push(item.circle.centre);
    for (const line of item.lines) {
      const every = Math.ceil(line.length / 9);
      for (let k = 0; k < line.length; k += every) found.push(line[k]);
    }
  }
  return found.filter(point => point.every(Number.isFinite));
}

// Whether there is something to draw, but none of it has a finite position.
export function nowhere(items) {
  const placed = items.filter(({ kind }) => kind !== 'arrow' && kind !== 'contact');
  return placed.length > 0 && !placed.some(item => outline([item]).length);
}

// The view of all craft, in axes of I, around all that is drawn: `half` has half of each edge, `size` is half of the
// diagonal.
function around(items) {
  const points = outline(items);
  const ends = [0, 1, 2].map(axis => {
    let low = Infinity, high = -Infinity;
    for (const point of points) { low = Math.min(low, point[axis]); high = Math.max(high, point[axis]); }
    return low <= high ? [low, high] : [0, 0];
  });
  const half = ends.map(([low, high]) => Math.max((high - low) / 2, 0.5));
  return { pose: { ...IDENTITY, position: ends.map(([low, high]) => (low + high) / 2) }, lateral: [0, 1, 0], half, size: Math.hypot(...half), middle: true };
}

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const DIRECTIONS = {
  // along x, the direction in which the active unit closes: y up, z to the right
  axial: () => [[0, 0, 1], [0, 1, 0]],
  // x to the right, the plane of the axis and the exit hinge
  side: view => [[1, 0, 0], view.lateral],
};

// Labels of one frame: each at the first free place beside its point, or nowhere.
export class Labels {
  constructor(context, width, height) {
    Object.assign(this, { context, width, height, taken: [] });
  }

  put(text, [x, y], colour) {
    const { context, width, height } = this;
    context.font = '12px system-ui, sans-serif';
    const wide = context.measureText(text).width;
    for (const [left, base] of [[x + 6, y - 6], [x + 6, y + 15], [x - 6 - wide, y - 6], [x - 6 - wide, y + 15]]) {
      const box = [left - 2, base - 11, left + wide + 2, base + 4];
      if (box[0] < 0 || box[1] < 0 || box[2] > width || box[3] > height) continue;
      if (this.taken.some(other => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
      this.taken.push(box);
      haloed(context, text, left, base, colour);
      return box;
    }
    return undefined;
  }
}

// Draw a text that stays legible over lines.
export function haloed(context, text, x, y, colour) {
  context.setLineDash([]);
  context.lineJoin = 'round';
  context.lineWidth = 3;
  context.strokeStyle = COLOURS.ground;
  context.strokeText(text, x, y);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

const distance = ([x, y], [a, b], [c, d]) => {
  const length = (c - a) ** 2 + (d - b) ** 2;
  const share = length ? Math.min(Math.max(((x - a) * (c - a) + (y - b) * (d - b)) / length, 0), 1) : 0;
  return Math.hypot(x - a - share * (c - a), y - b - share * (d - b));
};

// One canvas with one projection.
// draws a ruler of at most 90 pixels at the lower left, sets the font of its label, and returns the text of its length
export function drawRuler(context, height, scale) {
  const wanted = 90 / scale, power = 10 ** Math.floor(Math.log10(wanted));
  const length = [5, 2, 1].map(m => m * power).find(l => l <= wanted) ?? power;
  context.strokeStyle = COLOURS.text;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(12, height - 16); context.lineTo(12, height - 12);
  context.lineTo(12 + length * scale, height - 12); context.lineTo(12 + length * scale, height - 16);
  context.stroke();
  context.font = '11px system-ui, sans-serif';
  return length >= 1 ? `${length} m` : `${Math.round(length * 1000)} mm`;
}

export class Projection {
  constructor(canvas, kind) {
    this.canvas = canvas;
    this.kind = kind;
    this.zoom = 1;
    this.pan = [0, 0];
    this.drawn = [];
  }

  // Draw layers of items, each in the frame of its own `pose`: the run that is shown, and another one beneath it. With
  // `lost`, write that no item has a finite position.
  draw(layers, view, lost, context, width, height) {
    const [right, up] = DIRECTIONS[this.kind](view);
    const [wide, tall] = this.kind === 'side' ? [0, 1] : [2, 1];
    // a margin for labels around all that is drawn
    const scale = this.zoom * (view.half ? 0.88 * Math.min(width / (2 * view.half[wide]), height / (2 * view.half[tall]))
      : Math.min(width, height) / (2 * view.size));
    const shift = this.kind === 'side' && !view.middle ? [-0.4 * view.size, 0] : [0, 0];
    this.scale = scale;
    this.all = view.middle;
    this.full = layers.some(({ items }) => items.some(item => item.far)) ? view.full : 0;
    const projected = pose => point => {
      const local = pointIn(pose, point);
      return [width / 2 + (dot(right, local) + shift[0]) * scale + this.pan[0],
        height / 2 - (dot(up, local) + shift[1]) * scale + this.pan[1]];
    };
    this.drawn = [];
    this.room = [width, height];
    this.labels = new Labels(context, width, height);
    // the place of the ruler
    this.labels.taken.push([0, height - (this.full && view.alone ? 72 : 32), 110, height]);
    context.clearRect(0, 0, width, height);
    this.axes(context, width, height, projected(view.pose), view);
    for (const { items, pose, other } of layers) {
      const project = projected(pose);
      for (const item of items) this.item(context, item, project, scale, other);
      for (const item of items) if (item.kind === 'contact') this.contact(context, item, project, other);
    }
    const named = new Set();
    for (const item of this.drawn) item.text = item.other ? undefined : this.label(item, named);
    // numbers where names leave room
    for (const item of this.drawn) this.number(item);
    this.ruler(context, height, scale);
    if (this.full && view.alone) drawScale(context, height, this.full, (text, x, y) => haloed(context, text, x, y, COLOURS.text));
    if (lost) haloed(context, 'no finite positions at this time', 14, 20, COLOURS.text);
  }

  axes(context, width, height, project, view) {
    const [x, y] = project(view.pose.position);
    context.strokeStyle = COLOURS.axis;
    context.lineWidth = 1;
    context.setLineDash([6, 6]);
    context.beginPath();
    context.moveTo(0, y); context.lineTo(width, y);
    context.moveTo(x, 0); context.lineTo(x, height);
    context.stroke();
    context.setLineDash([]);
  }

  item(context, item, project, scale, other = false) {
    if (item.kind === 'contact') return;
    const style = item.style ?? 'line';
    const colour = other ? COLOURS.other : item.kind === 'arrow' ? COLOURS.arrow
      : item.lit === undefined ? COLOURS[style] : item.lit ? COLOURS.lit : COLOURS.free;
    context.strokeStyle = context.fillStyle = colour;
    // colour is not the only sign: what touches is drawn thick, and circles are filled
    context.setLineDash(other ? [5, 3] : []);
    context.lineWidth = item.lit && !other ? 4 : style === 'line' && (item.kind === 'polyline' || item.kind === 'rod') ? 3 : 1.2;
    const lines = item.lines.map(line => line.map(project));
    if (item.kind === 'arrow') lines[0][1] = this.within(lines[0]);
    for (const [k, line] of lines.entries()) {
      if (item.far && !other) context.strokeStyle = cssTint(item.far[k] / this.full);
      context.beginPath();
      line.forEach(([x, y], k) => k ? context.lineTo(x, y) : context.moveTo(x, y));
      context.stroke();
    }
    if (item.kind === 'arrow') this.head(context, lines[0]);
    let centre, radius;
    if (item.circle) {
      centre = project(item.circle.centre);
      radius = item.circle.radius * scale;
      context.beginPath();
      context.arc(...centre, radius, 0, 2 * Math.PI);
      context.globalAlpha = item.lit ? 0.55 : 0.12;
      context.fill();
      context.globalAlpha = 1;
      context.stroke();
    }
    if (item.dot) {
      centre = project(item.dot);
      context.beginPath();
      context.arc(...centre, 4, 0, 2 * Math.PI);
      context.fill();
    }
    context.setLineDash([]);
    this.drawn.push({ element: item.element, kind: item.kind, label: item.label, value: item.value, far: item.far, other, lit: item.lit, colour, lines, centre, radius });
  }

  // Write the force of a contact, or the value of an arrow, beside it.
  number(item) {
    if (item.other || !['contact', 'arrow'].includes(item.kind)) return;
    const text = item.kind === 'contact' ? forceText(item.force) : item.value;
    if (text) this.labels.put(text, item.kind === 'contact' ? item.centre : item.lines[0][1], item.colour);
  }

  // Draw the label of a dot, or of a rod that is long enough; return its box. In the view of all craft, the first dot of
  // a craft has the name of that craft.
  label(item, named) {
    const [line] = item.lines;
    if (item.kind === 'point') {
      const first = this.all && !named.has(item.element);
      const box = this.labels.put(!first ? item.label : item.label.length < 3 ? `${item.element} ${item.label}` : item.element, item.centre, COLOURS.text);
      if (box) named.add(item.element);
      return box;
    }
    if (item.kind !== 'rod' || !item.label || Math.hypot(line[1][0] - line[0][0], line[1][1] - line[0][1]) < LABELLED) return undefined;
    return this.labels.put(item.label, [(line[0][0] + line[1][0]) / 2, (line[0][1] + line[1][1]) / 2], COLOURS.text);
  }

  // The item drawn at a place of the canvas: the last one that is near it.
  at(place) {
    return this.drawn.findLast(item => (item.centre && Math.hypot(item.centre[0] - place[0], item.centre[1] - place[1]) < (item.radius ?? 0) + NEAR)
      || item.lines.some(line => line.some((point, k) => k && distance(place, line[k - 1], point) < NEAR)));
  }

  // The end of an arrow, drawn back to the edge of the pane if it lies outside: the number beside it tells its size.
  within([from, to]) {
    const [width, height] = this.room, edge = 8;
    let share = 1;
    [[width, 0], [height, 1]].forEach(([length, k]) => {
      const way = to[k] - from[k];
      if (from[k] < edge || from[k] > length - edge) return;
      if (to[k] > length - edge) share = Math.min(share, (length - edge - from[k]) / way);
      if (to[k] < edge) share = Math.min(share, (edge - from[k]) / way);
    });
    return from.map((x, k) => x + share * (to[k] - x));
  }

  head(context, [from, to]) {
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    if (Math.hypot(to[0] - from[0], to[1] - from[1]) < 4) return;
    context.beginPath();
    context.moveTo(...to);
    for (const side of [-0.4, 0.4]) context.lineTo(to[0] - 9 * Math.cos(angle + side), to[1] - 9 * Math.sin(angle + side));
    context.fill();
  }

  contact(context, item, project, other = false) {
    const centre = project(item.dot);
    const colour = other ? COLOURS.other : COLOURS.contact;
    context.strokeStyle = colour;
    context.lineWidth = 2;
    // a ring and a cross: visible on any background
    context.beginPath();
    context.arc(...centre, 7, 0, 2 * Math.PI);
    context.moveTo(centre[0] - 11, centre[1]); context.lineTo(centre[0] + 11, centre[1]);
    context.moveTo(centre[0], centre[1] - 11); context.lineTo(centre[0], centre[1] + 11);
    context.stroke();
    this.drawn.push({ element: item.element, kind: 'contact', label: item.label, other, force: item.force, centre, colour, lines: [] });
  }

  ruler(context, height, scale) {
    const text = drawRuler(context, height, scale);
    context.fillStyle = COLOURS.text;
    context.fillText(text, 14, height - 18);
  }
}
