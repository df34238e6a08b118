// Colours of elastic bodies: how far their points are displaced, and the scale beside it.

import { farthest } from './geometry.js';
import { namesIn, prefixed } from './source.js';

// from rest to the farthest point of the run: brighter is farther, and no colour of another meaning
const STOPS = [[0x56, 0x70, 0xa8], [0x2f, 0xb3, 0xb0], [0xf4, 0xe6, 0x6a]];
const SCALE_WIDE = 90; // length of the scale, in units

// Red, green and blue of a share of the scale, 0 to 1 each.
export function tint(share) {
  const along = Math.min(Math.max(share || 0, 0), 1) * (STOPS.length - 1), k = Math.min(Math.floor(along), STOPS.length - 2);
  return STOPS[k].map((low, axis) => (low + (along - k) * (STOPS[k + 1][axis] - low)) / 255);
}

export const cssTint = share => `rgb(${tint(share).map(part => Math.round(255 * part)).join(' ')})`;

// The end of the scale, m: not below any displacement in the rows so far, and a round number. 0: no body is deformed.
export function fullScale(source) {
  const rows = source.times.length, columns = source.columns.size;
  if (source.deformed?.columns !== columns) source.deformed = { columns, rows: 0, largest: 0 };
  const { deformed } = source;
  if (deformed.rows !== rows) {
    for (const scene of Object.values(source.scenes)) {
      for (const shape of scene.shapes) {
        if (shape.shape !== 'wireframe') continue;
        const read = [...namesIn(shape.coordinates)].map(name => source.columns.get(name)).filter(Boolean);
        // rows that a live run has thinned out have been seen
        deformed.largest = farthest(shape, read, Math.min(deformed.rows, rows), rows, deformed.largest);
      }
    }
    deformed.rows = rows;
  }
  return roundUp(deformed.largest);
}

function roundUp(largest) {
  if (!(largest > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map(m => m * power).find(end => end >= largest * (1 - 1e-9));
}

// Draw the scale above the ruler, at the lower left of a canvas; return its text.
export function drawScale(context, height, full, write) {
  const { unit, factor } = prefixed('m', full), text = `deformed by 0 to ${Number((full * factor).toPrecision(1))} ${unit}`;
  for (let k = 0; k < SCALE_WIDE; k++) {
    context.fillStyle = cssTint(k / (SCALE_WIDE - 1));
    context.fillRect(12 + k, height - 52, 1.5, 7);
  }
  context.font = '11px system-ui, sans-serif';
  write(text, 12, height - 57);
  return text;
}
