// Dampers, drives and sensors: bars, dials, lamps, numbers and states of enumerations.

import { evaluate, formatted, ROUNDING } from './source.js';

const ROW = 17, TITLE = 20, GAP = 8;
const PAINT = {
  positive: '#ff5a4f', negative: '#5aa2ff', track: '#28314a', text: '#d7deea', dim: '#93a0b8', on: '#ffd166', off: '#28314a',
  title: '#ffffff',
};

// The value of an item as people read it: text, unit, SI number.
export function readItem(source, item, t) {
  const name = item.variable?.v;
  const variable = source.known.get(name);
  const si = evaluate(item.variable, variable?.held ? n => source.columns.get(n)?.[source.row(t)] ?? NaN : n => source.value(n, t));
  if (item.device === 'state') return { si, text: variable?.items?.[String(si)] ?? formatted(si), unit: '' };
  if (item.device === 'lamp') return { si, text: si > 0 ? 'on' : 'off', unit: '' };
  if (variable?.held && Number.isInteger(si)) return { si, text: String(si), unit: variable.shown };
  const factor = variable?.factor ?? 1, unit = variable?.shown ?? '';
  return { si, text: formatted(si * factor), unit: unit === '1' ? '' : unit };
}

// Ends of the range of a bar in SI: those of the scene, or those of the run.
export function limitsOf(source, item, t) {
  if (item.limits !== undefined) return evaluate(item.limits, name => source.value(name, t));
  const [low, high] = source.range(item.variable?.v);
  const largest = Math.max(Math.abs(low), Math.abs(high)), size = largest > ROUNDING ? largest : 1;
  return low < 0 ? [-size, size] : [0, size];
}

export class Devices {
  constructor(groups) {
    this.groups = groups;
    this.drawn = [];
  }

  // Rows of a group: lamps stand side by side.
  rows(group) {
    const rows = [];
    for (const item of group.items) {
      const last = rows[rows.length - 1];
      if (item.device === 'lamp' && last?.length === 1 && last[0].device === 'lamp') last.push(item);
      else rows.push([item]);
    }
    return rows;
  }

  // Columns of groups: each takes the shortest one.
  layout(width, height) {
    const count = Math.max(1, Math.min(4, Math.floor(width / 290)));
    const columns = Array.from({ length: count }, () => 0), column = (width - GAP) / count;
    return this.groups.map(group => {
      const k = columns.indexOf(Math.min(...columns)), y = columns[k];
      columns[k] += TITLE + ROW * this.rows(group).length + GAP;
      return { group, x: GAP + k * column, y, width: column - GAP, height: columns[k] };
    });
  }

  heightFor(width) {
    return Math.max(...this.layout(width).map(place => place.height), 40);
  }

  draw(source, t, context, width, height) {
    this.drawn = [];
    context.clearRect(0, 0, width, height);
    for (const { group, x, y, width: w } of this.layout(width, height)) {
      context.font = '600 12px system-ui, sans-serif';
      context.fillStyle = PAINT.title;
      context.fillText(group.title, x, y + 15, w);
      this.rows(group).forEach((row, k) => row.forEach((item, place) => {
        const part = row[0].device === 'lamp' ? w / 2 : w;
        this.item(source, t, context, group, item, x + place * part, y + TITLE + k * ROW, part);
      }));
    }
  }

  item(source, t, context, group, item, x, y, w) {
    const { si, text, unit } = readItem(source, item, t);
    const lamp = item.device === 'lamp', label = lamp ? w - 62 : 0.4 * w, value = 0.27 * w, room = w - label - value - 8;
    context.font = '12px system-ui, sans-serif';
    context.fillStyle = PAINT.dim;
    context.fillText(item.label, x, y + 13, label - 6);
    const drawn = { element: group.element, title: group.title, device: item.device, label: item.label,
      variable: item.variable?.v, value: si, text, unit };
    if (item.device === 'bar') drawn.bar = this.bar(source, t, context, item, si, x + label, y + 4, room);
    if (item.device === 'dial') drawn.dial = this.dial(source, t, context, item, si, x + label + room / 2, y + ROW - 3);
    if (lamp) {
      context.fillStyle = si > 0 ? PAINT.on : PAINT.off;
      context.strokeStyle = PAINT.dim;
      context.beginPath();
      context.arc(x + label + 7, y + 9, 5, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
    context.fillStyle = PAINT.text;
    context.textAlign = 'right';
    context.fillText(unit ? `${text} ${unit}` : text, x + w - (lamp ? 10 : 4), y + 13);
    context.textAlign = 'left';
    this.drawn.push(drawn);
  }

  // Red to the right of zero, blue to the left of it.
  bar(source, t, context, item, si, x, y, width) {
    const [low, high] = limitsOf(source, item, t), place = v => x + width * Math.min(Math.max((v - low) / (high - low), 0), 1);
    context.fillStyle = PAINT.track;
    context.fillRect(x, y, width, 11);
    const zero = place(Math.min(Math.max(0, low), high)), end = Number.isFinite(si) ? place(si) : zero;
    context.fillStyle = si < 0 ? PAINT.negative : PAINT.positive;
    context.fillRect(Math.min(zero, end), y, Math.abs(end - zero), 11);
    context.fillStyle = PAINT.text;
    context.fillRect(zero - 0.5, y - 2, 1, 15);
    return { zero, end, low, high, x, width };
  }

  // A needle over a half circle from the lower to the upper limit.
  dial(source, t, context, item, si, x, y) {
    const [low, high] = limitsOf(source, item, t), share = Math.min(Math.max((si - low) / (high - low), 0), 1);
    const angle = Math.PI * (1 - share), radius = ROW - 5;
    context.strokeStyle = PAINT.dim;
    context.lineWidth = 1;
    context.beginPath();
    context.arc(x, y, radius, Math.PI, 2 * Math.PI);
    context.stroke();
    context.strokeStyle = PAINT.on;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + radius * Math.cos(angle), y - radius * Math.sin(angle));
    context.stroke();
    return { angle, low, high };
  }
}
