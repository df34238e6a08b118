// Dampers, drives and sensors: bars, dials, lamps, numbers and states of enumerations.

import { evaluate, formatted, ROUNDING, shownUnit } from './source.js';

const ROW = 17, TITLE = 20, GAP = 8;
const WIDE = 290, NARROW = 250; // least width of columns of groups; the second if the groups do not fit in height
const VALUE = 88, BAR = 34; // room for a value, least room for a bar
const PAINT = {
  positive: '#35c2a8', negative: '#5aa2ff', track: '#28314a', text: '#d7deea', dim: '#93a0b8', on: '#ffd166', off: '#28314a',
  title: '#ffffff',
};

// The value of an item as it is displayed, and in SI: text, unit, SI number.
export function readItem(source, item, t) {
  const name = item.variable?.v;
  const variable = source.known.get(name);
  const si = evaluate(item.variable, n => variable?.held ? source.held(n, t) : source.value(n, t));
  if (item.device === 'state') return { si, text: variable?.items?.[String(si)] ?? formatted(si), unit: '' };
  if (item.device === 'lamp') return { si, text: si > 0 ? 'on' : 'off', unit: '' };
  if (variable?.held && Number.isInteger(si) && (variable.factor ?? 1) === 1) return { si, text: String(si), unit: variable.shown };
  const { factor, unit } = variable ? shownUnit(source, name) : { factor: item.factor ?? 1, unit: item.unit ?? '' };
  return { si, text: formatted(Math.abs(si) < ROUNDING ? 0 : si * factor), unit };
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
    this.widths = new Map();
  }

  // Width of a label; texts are measured once.
  measure(context, text) {
    if (!this.widths.has(text)) {
      context.font = '12px system-ui, sans-serif';
      this.widths.set(text, context.measureText(text).width);
    }
    return this.widths.get(text);
  }

  // Rows of a group in a column of width w: two lamps stand side by side if there is room for both.
  rows(context, group, w) {
    const rows = [], half = item => item.device === 'lamp' && this.measure(context, item.label) <= w / 2 - 22;
    for (const item of group.items) {
      const last = rows[rows.length - 1];
      if (last?.length === 1 && half(last[0]) && half(item)) last.push(item);
      else rows.push([item]);
    }
    return rows;
  }

  // Places of the groups in a pane of this size: few columns, more if the groups do not fit in its height.
  layout(context, width, room) {
    const most = Math.max(1, Math.floor(width / NARROW));
    let count = Math.max(1, Math.min(4, Math.floor(width / WIDE))), places = this.columns(context, width, count);
    while (count < most && Math.max(...places.map(place => place.height)) > room) places = this.columns(context, width, ++count);
    return places;
  }

  // Each group stands in the column that is shortest so far.
  columns(context, width, count) {
    const columns = Array.from({ length: count }, () => 0), column = (width - GAP) / count;
    return this.groups.map(group => {
      const k = columns.indexOf(Math.min(...columns)), y = columns[k];
      columns[k] += TITLE + ROW * this.rows(context, group, column - GAP).length + GAP;
      return { group, x: GAP + k * column, y, width: column - GAP, height: columns[k] };
    });
  }

  // Height of all groups in a pane of this size.
  heightFor(context, width, room) {
    return Math.max(...this.layout(context, width, room).map(place => place.height), 40);
  }

  draw(source, t, context, width, height, room) {
    this.drawn = [];
    context.clearRect(0, 0, width, height);
    for (const { group, x, y, width: w } of this.layout(context, width, room)) {
      context.font = '600 12px system-ui, sans-serif';
      context.fillStyle = PAINT.title;
      context.fillText(group.title, x, y + 15, w);
      const label = this.labelWidth(context, group, w);
      this.rows(context, group, w).forEach((row, k) => row.forEach((item, place) => {
        const part = w / row.length;
        this.item(source, t, context, group, item, x + place * part, y + TITLE + k * ROW, part, label);
      }));
    }
  }

  // Width of the labels of a group, so that its bars are aligned.
  labelWidth(context, group, w) {
    const needed = Math.max(...group.items.filter(item => item.device !== 'lamp').map(item => this.measure(context, item.label)), 0) + 8;
    return Math.max(Math.min(Math.max(needed, 0.38 * w), w - VALUE - BAR - 8), 60);
  }

  item(source, t, context, group, item, x, y, w, wide) {
    const { si, text, unit } = readItem(source, item, t);
    const bare = item.device === 'state' || item.device === 'number', label = bare ? w - VALUE : wide, room = w - label - VALUE - 8;
    context.font = '12px system-ui, sans-serif';
    const drawn = { element: group.element, title: group.title, device: item.device, label: item.label,
      variable: item.variable?.v, value: si, text, unit };
    if (item.device === 'bar') drawn.bar = this.bar(source, t, context, item, si, x + label, y + 4, room);
    if (item.device === 'dial') drawn.dial = this.dial(source, t, context, item, si, x + label + room / 2, y + ROW - 3);
    if (item.device === 'lamp') {
      this.lamp(context, item, si > 0, x, y, w);
    } else {
      context.fillStyle = PAINT.dim;
      context.fillText(item.label, x, y + 13, label - 6);
      context.fillStyle = PAINT.text;
      context.textAlign = 'right';
      context.fillText(unit ? `${text} ${unit}` : text, x + w - 4, y + 13, bare ? w / 2 : VALUE);
      context.textAlign = 'left';
    }
    this.drawn.push(drawn);
  }

  // Filled and with a tick while it is on, an empty ring while it is off.
  lamp(context, item, on, x, y, w) {
    context.lineWidth = 1;
    context.strokeStyle = PAINT.dim;
    context.fillStyle = PAINT.on;
    context.beginPath();
    context.arc(x + 6, y + 9, 5.5, 0, 2 * Math.PI);
    if (on) context.fill();
    context.stroke();
    if (on) {
      context.strokeStyle = PAINT.off;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(x + 3, y + 9); context.lineTo(x + 5.5, y + 11.5); context.lineTo(x + 9, y + 6.5);
      context.stroke();
    }
    context.fillStyle = on ? PAINT.text : PAINT.dim;
    context.fillText(item.label, x + 16, y + 13, w - 22);
  }

  // Green-blue to the right of zero, blue to the left of it: red is for what touches.
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
