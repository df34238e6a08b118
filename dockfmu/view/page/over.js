// Names, axes, numbers and the scale over the scene in three dimensions, on a canvas of their own.

import { COLOURS, drawRuler, haloed, Labels } from './projection.js';
import { AXES } from './bodies.js';
import { drawScale } from './deformation.js';

const CORNER = 34; // from the lower right corner to the origin of the axes, in units

export class Over {
  constructor(pane) {
    this.pane = pane;
    this.texts = [];
  }

  // `labels` are { text, at, colour, rank } in units of the canvas; `directions` are x, y and z of the scene in the
  // picture; `scale` is the number of units per metre at the middle of the scene; `full` is the end of the scale of
  // deformation, m, 0 without.
  draw(shown, labels, directions, scale, full, caption = []) {
    const { context } = this.pane, [width, height] = this.pane.fit();
    this.texts = [];
    this.scale = '';
    context.clearRect(0, 0, width, height);
    this.caption(context, caption);
    if (!shown) return;
    const places = new Labels(context, width, height);
    if (caption.length) places.taken.push([0, 0, width / 2, 26 + 20 * caption.length]);
    places.taken.push([0, height - (full ? 72 : 32), 130, height], [width - 2 * CORNER, height - 2 * CORNER, width, height]);
    for (const label of [...labels].sort((a, b) => a.rank - b.rank)) {
      const box = places.put(label.text, label.at, label.colour ?? COLOURS.text);
      if (box) this.texts.push({ text: label.text, box });
    }
    this.axes(context, directions, [width - CORNER, height - CORNER]);
    this.ruler(context, height, scale);
    if (full) this.scale = drawScale(context, height, full, (text, x, y) => haloed(context, text, x, y, COLOURS.text));
  }

  // Title, time and last event, on pictures and films.
  caption(context, lines) {
    lines.forEach((text, k) => {
      context.font = k ? '14px system-ui, sans-serif' : '600 17px system-ui, sans-serif';
      haloed(context, text, 16, 28 + 20 * k, COLOURS.text);
    });
  }

  axes(context, directions, [x, y]) {
    context.font = '12px system-ui, sans-serif';
    directions.map((direction, k) => ({ direction, name: AXES[k][0], colour: AXES[k][1] })).sort((a, b) => a.direction[2] - b.direction[2])
      .forEach(({ direction, name, colour }) => {
        context.strokeStyle = colour;
        context.lineWidth = 2;
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(x + 20 * direction[0], y - 20 * direction[1]);
        context.stroke();
        haloed(context, name, x + 28 * direction[0] - 3, y - 28 * direction[1] + 4, colour);
      });
  }

  ruler(context, height, scale) {
    if (!(scale > 0) || !Number.isFinite(scale)) return;
    haloed(context, `${drawRuler(context, height, scale)} in the middle`, 14, height - 19, COLOURS.text);
  }
}
