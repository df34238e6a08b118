// Poses of frames over time. A quaternion is scalar first, parent to child; `position` is the child's origin in the parent.

import { evaluate } from './source.js';

export const IDENTITY = { position: [0, 0, 0], quaternion: [1, 0, 0, 0] };

export function product(p, q) {
  const [a, b, c, d] = p, [w, x, y, z] = q;
  return [a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
    a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w];
}

// Components in the parent of a vector given in the child.
export function outward(q, v) {
  const [w, x, y, z] = q, [a, b, c] = v;
  const s = 2 * (y * c - z * b), t = 2 * (z * a - x * c), u = 2 * (x * b - y * a);
  return [a + w * s + y * u - z * t, b + w * t + z * s - x * u, c + w * u + x * t - y * s];
}

export const conjugate = ([w, x, y, z]) => [w, -x, -y, -z];
export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];

export const pointOf = (pose, point) => add(pose.position, outward(pose.quaternion, point));
// Coordinates in the frame of `pose` of a point of its parent.
export const pointIn = (pose, point) => outward(conjugate(pose.quaternion), subtract(point, pose.position));

// A point of the frame `to_frame` of a shape, in the shape's own frame.
export const pointBetween = (placed, shape, point) =>
  pointIn(placed[shape.frame] ?? IDENTITY, pointOf(placed[shape.to_frame] ?? IDENTITY, point));

function composed(parent, child) {
  return { position: pointOf(parent, child.position), quaternion: product(parent.quaternion, child.quaternion) };
}

function inverse(pose) {
  const quaternion = conjugate(pose.quaternion);
  return { quaternion, position: outward(quaternion, pose.position).map(x => -x) };
}

function fromAngles([yaw, pitch, roll]) {
  const half = [yaw / 2, pitch / 2, roll / 2], c = half.map(Math.cos), s = half.map(Math.sin);
  return product(product([c[0], 0, s[0], 0], [c[1], 0, 0, s[1]]), [c[2], s[2], 0, 0]);
}

function normalised(q) {
  const size = Math.hypot(...q);
  return size > 0 ? q.map(x => x / size) : [1, 0, 0, 0];
}

// Pose of a frame relative to its parent in one row.
function poseInRow(frame, source, row) {
  const read = name => source.columns.get(name)?.[row] ?? NaN;
  const position = frame.position === undefined ? [0, 0, 0] : evaluate(frame.position, read);
  let quaternion = [1, 0, 0, 0];
  if (frame.angles !== undefined) quaternion = fromAngles(evaluate(frame.angles, read));
  if (frame.quaternion !== undefined) quaternion = evaluate(frame.quaternion, read);
  const pose = { position, quaternion: normalised(quaternion) };
  return frame.inverse ? inverse(pose) : pose;
}

function between(first, second, share) {
  const near = first.quaternion.reduce((sum, x, k) => sum + x * second.quaternion[k], 0) < 0 ? -1 : 1;
  return {
    position: first.position.map((x, k) => x + share * (second.position[k] - x)),
    quaternion: normalised(first.quaternion.map((x, k) => x + share * (near * second.quaternion[k] - x))),
  };
}

// Poses in I of all frames of a scene at t, by name.
export function poses(scene, source, t) {
  const [row, share] = source.place(t), found = {};
  const place = name => {
    if (Object.hasOwn(found, name)) return found[name];
    const frame = scene.frames[name];
    let pose = poseInRow(frame, source, row);
    if (share > 0) pose = between(pose, poseInRow(frame, source, row + 1), share);
    // parents come first in the scene, but a JavaScript object lists names that are numbers before all others
    return (found[name] = frame.parent ? composed(place(frame.parent), pose) : pose);
  };
  Object.keys(scene.frames).forEach(place);
  return found;
}
