// The contact scene in two projections, and the scene of all craft: wire-frame, so that hidden contacts are seen.

import { evaluate } from './source.js';
import { pointBetween, pointIn, pointOf, poses, IDENTITY } from './frames.js';
import { geometry } from './geometry.js';

export const COLOURS = {
  free: '#3fbf6f', lit: '#ff5a4f', passive: '#7f9bc4', line: '#c9d4e6', thin: '#6d7890', contact: '#ff5a4f',
  arrow: '#ffb347', text: '#d7deea', axis: '#39435a', other: '#e58cff',
};
const SKIPPED = new Set(['shape', 'frame', 'to_frame', 'label', 'lit', 'style']);
const FIXED = new Set(['revolution', 'inertia_box']);

// What is drawn at t, in I, of the elements that `wanted(scene)` chooses: lines, circles, dots with their state.
export function solids(source, t, wanted = () => true) {
  const [row] = source.place(t), found = [];
  const read = name => source.value(name, t), held = name => source.columns.get(name)?.[row] ?? NaN;
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
          if (SKIPPED.has(key) || key === 'shown' || key === 'kept') continue;
          quantities[key] = evaluate(quantity, contact ? held : read);
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
        lit: flags.length ? flags.some(flag => evaluate(flag, held) > 0) : undefined,
        lines: made.lines.map(line => line.map(out)),
        circle: made.circle && { centre: out(made.circle.centre), radius: made.circle.radius },
        dot: made.dot && out(made.dot),
      });
    }
  }
  return found;
}

// The frame in which the scene is drawn, with the directions of the projections, at t.
export function viewpoint(source, t, name) {
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
  return around(source, t);
}

// The view of all craft, in axes of I: it holds the origins of all frames.
function around(source, t) {
  const origins = Object.values(source.scenes).flatMap(scene => Object.values(poses(scene, source, t)).map(pose => pose.position));
  const ends = [0, 1, 2].map(axis => {
    const values = origins.map(origin => origin[axis]).filter(Number.isFinite);
    return values.length ? [Math.min(...values), Math.max(...values)] : [0, 0];
  });
  const size = Math.max(0.6 * Math.max(...ends.map(([low, high]) => high - low)), 1);
  return { pose: { ...IDENTITY, position: ends.map(([low, high]) => (low + high) / 2) }, lateral: [0, 1, 0], size, middle: true };
}

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const DIRECTIONS = {
  // along x, the way in which the active unit closes: y up, z to the right
  axial: () => [[0, 0, 1], [0, 1, 0]],
  // x to the right, the plane of the axis and the exit hinge
  side: view => [[1, 0, 0], view.lateral],
};

// One canvas with one projection.
export class Projection {
  constructor(canvas, kind) {
    this.canvas = canvas;
    this.kind = kind;
    this.zoom = 1;
    this.pan = [0, 0];
    this.drawn = [];
  }

  // Draw layers of items, each in the frame of its own `pose`: the run that is looked at, and another one under it.
  draw(layers, view, context, width, height) {
    const [right, up] = DIRECTIONS[this.kind](view);
    const scale = Math.min(width, height) / (2 * view.size) * this.zoom;
    const shift = this.kind === 'side' && !view.middle ? [-0.4 * view.size, 0] : [0, 0];
    this.scale = scale;
    this.all = view.middle;
    const projected = pose => point => {
      const local = pointIn(pose, point);
      return [width / 2 + (dot(right, local) + shift[0]) * scale + this.pan[0],
        height / 2 - (dot(up, local) + shift[1]) * scale + this.pan[1]];
    };
    this.drawn = [];
    context.clearRect(0, 0, width, height);
    this.axes(context, width, height, projected(view.pose), view);
    for (const { items, pose, other } of layers) {
      const project = projected(pose);
      for (const item of items) this.item(context, item, project, scale, other);
      for (const item of items) if (item.kind === 'contact') this.contact(context, item, project, other);
    }
    this.ruler(context, height, scale);
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
    for (const line of lines) {
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
      context.font = '12px system-ui, sans-serif';
      if (!other) context.fillText(this.name(item), centre[0] + 6, centre[1] - 6);
    }
    context.setLineDash([]);
    this.drawn.push({ element: item.element, kind: item.kind, label: item.label, other, lit: item.lit, colour, lines, centre, radius });
  }

  // Among all craft a point is named after its craft.
  name(item) {
    return this.all ? item.element : item.label;
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
    // a ring and a cross: seen on any ground
    context.beginPath();
    context.arc(...centre, 7, 0, 2 * Math.PI);
    context.moveTo(centre[0] - 11, centre[1]); context.lineTo(centre[0] + 11, centre[1]);
    context.moveTo(centre[0], centre[1] - 11); context.lineTo(centre[0], centre[1] + 11);
    context.stroke();
    this.drawn.push({ element: item.element, kind: 'contact', label: item.label, other, force: item.force, centre, colour, lines: [] });
  }

  ruler(context, height, scale) {
    const wanted = 90 / scale, power = 10 ** Math.floor(Math.log10(wanted));
    const length = [5, 2, 1].map(m => m * power).find(l => l <= wanted) ?? power;
    context.strokeStyle = context.fillStyle = COLOURS.text;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(12, height - 16); context.lineTo(12, height - 12);
    context.lineTo(12 + length * scale, height - 12); context.lineTo(12 + length * scale, height - 16);
    context.stroke();
    context.font = '11px system-ui, sans-serif';
    context.fillText(length >= 1 ? `${length} m` : `${Math.round(length * 1000)} mm`, 14, height - 18);
  }
}
