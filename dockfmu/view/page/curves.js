// Curves of chosen variables that scroll under the cursor; one panel for each displayed unit and its factor.

import { formatted, prefixed, ROUNDING } from './source.js';
import { haloed } from './projection.js';

const PALETTE = ['#ffb347', '#5ad1ff', '#8ee07f', '#ff7fb0', '#c7a6ff', '#f4e06d'];
const CURSOR = '#ffe14d', AXIS = '#39435a', TEXT = '#d7deea', DIM = '#93a0b8';
const LEAST_PANEL = 46, FOOT = 16; // height
const LINE = 13;
const SAME = 0.1; // height, which nobody sees
export const LEFT = 62; // of the curves, in units
const BESIDE = 640; // least width of the pane with its legend beside the curves; else it stands above them

// A line of many points. Of those that follow each other at the same height only the ends are drawn.
export class Path {
  constructor(context) {
    this.context = context;
    this.begun = this.waits = false;
  }

  to(x, y) {
    if (!this.begun) { this.context.moveTo(x, y); this.begun = true; this.y = y; }
    else if (Math.abs(y - this.y) < SAME) this.waits = true;
    else { this.end(); this.context.lineTo(x, y); this.y = y; }
    this.x = x;
  }

  gap() {
    this.end();
    this.begun = false;
  }

  // Draw the line up to its last point.
  end() {
    if (this.waits) this.context.lineTo(this.x, this.y);
    this.waits = false;
  }
}

export class Curves {
  constructor(names) {
    this.names = names;
    this.span = 20;
    this.ahead = 0.5; // share of the span after the cursor
    this.fit = false;
    this.drawn = [];
  }

  colour(name) {
    return PALETTE[this.names.indexOf(name) % PALETTE.length];
  }

  panels(source) {
    const found = new Map();
    for (const name of this.names) {
      const { shown = '1', factor = 1 } = source.known.get(name) ?? {}, scale = `${shown} ${factor}`;
      if (!found.has(scale)) found.set(scale, { unit: shown, factor, names: [] });
      found.get(scale).names.push(name);
    }
    return [...found.values()];
  }

  // Least height of a pane of this width in which all panels can be read.
  leastHeight(source, width) {
    const room = names => width < BESIDE ? LEAST_PANEL + LINE * names.length : Math.max(LEAST_PANEL, 10 + LINE * names.length);
    return FOOT + this.panels(source).reduce((sum, { names }) => sum + room(names), 0);
  }

  // Width of the legend beside the curves; 0 if it stands above them.
  legendWidth(source, context, width, other) {
    if (width < BESIDE) return 0;
    const digits = other ? ' = -0.0001234, other -0.0001234' : ' = -0.0001234', text = `${this.names}${digits}`;
    // measuring text in each frame takes a good part of it
    if (this.measured?.text !== text) {
      this.measured = { text, width: Math.max(...this.names.map(name => context.measureText(`1 ${name}${digits}`).width), 0) };
    }
    return Math.min(this.measured.width + 14, 0.45 * width);
  }

  // Times at the ends of the pane. Neither the time before the run nor that after it takes more than a margin.
  windowAt(t, source) {
    const margin = 0.03 * this.span, length = source.end - source.start;
    let first = t - this.span * (1 - this.ahead);
    if (!(this.ahead < 0.5)) first = Math.min(first, source.end + margin - this.span);
    if (length < this.span) first = Math.min(first, source.start - margin);
    return Math.max(first, source.start - margin);
  }

  // `other` is a second recording, whose curves are dashed.
  draw(source, t, marks, context, width, height, other) {
    context.font = '11px system-ui, sans-serif';
    const panels = this.panels(source), left = LEFT, each = (height - FOOT) / Math.max(panels.length, 1);
    const beside = this.legendWidth(source, context, width, other), whole = width;
    width -= beside;
    this.width = width;
    const first = this.windowAt(t, source);
    this.window = [first, first + this.span];
    this.x = time => left + (time - this.window[0]) / this.span * (width - left);
    this.timeAt = x => this.window[0] + (x - left) / (width - left) * this.span;
    this.drawn = [];
    context.clearRect(0, 0, whole, height);
    const above = panel => beside ? 0 : LINE * panel.names.length;
    panels.forEach((panel, k) => {
      const top = k * each + 4, over = above(panel);
      this.panel(source, t, panel, context, left, top + over, width, each - 8 - over, other);
      if (beside) this.legend(source, t, panel, context, width + 8, top, beside - 8, each - 8, other);
      else this.legend(source, t, panel, context, left, top, width - left, over, other);
    });
    this.times(context, left, width, height);
    for (const mark of marks) this.vertical(context, mark.t, height, mark.name === 'capture' ? '#ffffff' : '#55617a', [4, 4], left);
    this.vertical(context, t, height, CURSOR, [], left);
  }

  vertical(context, time, height, colour, dash, left) {
    const x = this.x(time);
    if (x < left || x > this.width) return;
    context.strokeStyle = colour;
    context.lineWidth = dash.length ? 1 : 1.5;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x, 0); context.lineTo(x, height - 14);
    context.stroke();
    context.setLineDash([]);
  }

  // The scale is that of the whole run, so that it does not jump; with `fit`, it is that of the window.
  scale(source, names, other) {
    let low = Infinity, high = -Infinity;
    for (const name of names) {
      let [a, b] = source.range(name);
      if (this.fit) [a, b] = this.rangeInWindow(source, name);
      if (other?.columns.has(name)) {
        const [c, d] = this.fit ? this.rangeInWindow(other, name) : other.range(name);
        [a, b] = [Math.min(a, c), Math.max(b, d)];
      }
      low = Math.min(low, a);
      high = Math.max(high, b);
    }
    const spread = high - low, size = Math.abs(high);
    const margin = spread > ROUNDING ? 0.06 * spread : size > ROUNDING ? 0.5 * size : 1;
    return [low - margin, high + margin];
  }

  rangeInWindow(source, name) {
    const column = source.columns.get(name);
    let low = Infinity, high = -Infinity;
    if (column) for (let k = source.row(this.window[0]), last = source.row(this.window[1]); k <= last; k++) {
      if (column[k] < low && column[k] > -Infinity) low = column[k];
      if (column[k] > high && column[k] < Infinity) high = column[k];
    }
    return low <= high ? [low, high] : [0, 1];
  }

  panel(source, t, panel, context, left, top, width, height, other) {
    const { names } = panel, [low, high] = this.scale(source, names, other);
    const largest = Math.max(...names.flatMap(name => source.range(name).map(Math.abs)), 0), chosen = prefixed(panel.unit, largest * Math.abs(panel.factor));
    const unit = chosen.unit, factor = panel.factor * chosen.factor;
    panel.chosen = { unit, factor };
    const y = v => top + height * (1 - (v - low) / (high - low));
    context.strokeStyle = AXIS;
    context.lineWidth = 1;
    context.strokeRect(left, top, width - left - 1, height);
    if (low < 0 && high > 0) { context.beginPath(); context.moveTo(left, y(0)); context.lineTo(width, y(0)); context.stroke(); }
    context.fillStyle = DIM;
    context.textAlign = 'right';
    context.fillText(formatted(high * factor, 3), left - 4, top + 9);
    context.fillText(formatted(low * factor, 3), left - 4, top + height);
    // where there is room between the other two
    if (height > 34) context.fillText(unit === '1' ? '' : unit, left - 4, top + height / 2 + 4);
    context.textAlign = 'left';
    context.save();
    context.beginPath();
    context.rect(left, top, width - left, height);
    context.clip();
    names.forEach((name, k) => {
      const points = this.line(source, name, context, y, left, width);
      if (other?.columns.has(name)) {
        context.setLineDash([6, 4]);
        this.line(other, name, context, y, left, width);
        context.setLineDash([]);
      }
      const value = source.value(name, t);
      context.fillStyle = this.colour(name);
      context.beginPath();
      context.arc(this.x(t), y(value), 3, 0, 2 * Math.PI);
      context.fill();
      // colour is not the only distinction
      if (names.length > 1) haloed(context, String(k + 1), this.x(t) + 5 + 8 * k, y(value) - 3, this.colour(name));
      this.drawn.push({ name, value, other: other?.columns.has(name) ? other.value(name, t) : undefined, points, at: [this.x(t), y(value)], low, high, top, height });
    });
    context.restore();
  }

  // Names and values beside or above the curves of a panel, in further columns where one has no room for them.
  legend(source, t, panel, context, x, top, width, height, other) {
    const { names, chosen: { unit, factor } } = panel, deep = Math.max(1, Math.floor((height + 2) / LINE)), columns = Math.ceil(names.length / deep);
    context.save();
    context.beginPath();
    context.rect(x, top - 2, width, height + 4);
    context.clip();
    names.forEach((name, k) => {
      const second = other?.columns.has(name) ? `, other ${formatted(other.value(name, t) * factor)}` : '';
      const text = `${names.length > 1 ? k + 1 : '─'} ${name} = ${formatted(source.value(name, t) * factor)}${second}`;
      context.fillStyle = this.colour(name);
      context.fillText(text, x + Math.floor(k / deep) * width / columns, top + 9 + LINE * (k % deep));
    });
    context.restore();
  }

  // Draw each point while there are few, else the smallest and largest value of each column of pixels, in the order in
  // which they come. The line has a gap where a value is not finite.
  line(source, name, context, y, left, width) {
    const column = source.columns.get(name), times = source.times;
    if (!column) return 0;
    const held = source.known.get(name).held, last = Math.min(source.row(this.window[1]) + 1, times.length - 1);
    const first = source.row(this.window[0]), path = new Path(context);
    context.strokeStyle = this.colour(name);
    context.lineWidth = 1.3;
    context.beginPath();
    if (last - first < 2 * (width - left)) {
      for (let k = first; k <= last; k++) {
        const x = this.x(times[k]);
        if (!Number.isFinite(column[k])) { path.gap(); continue; }
        if (held && k > first && Number.isFinite(column[k - 1])) path.to(x, y(column[k - 1]));
        path.to(x, y(column[k]));
      }
    } else {
      let k = first;
      for (let x = left; x < width && k <= last; x++) {
        const until = this.timeAt(x + 1), begun = k;
        let low = -1, high = -1;
        for (; k <= last && times[k] < until; k++) {
          if (!Number.isFinite(column[k])) continue;
          if (low < 0 || column[k] < column[low]) low = k;
          if (high < 0 || column[k] > column[high]) high = k;
        }
        if (low >= 0) { path.to(x, y(column[Math.min(low, high)])); path.to(x, y(column[Math.max(low, high)])); }
        else if (k > begun) path.gap();
      }
    }
    path.end();
    context.stroke();
    return last - first + 1;
  }

  times(context, left, width, height) {
    const wanted = this.span / 8, power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= wanted);
    context.fillStyle = DIM;
    context.textAlign = 'center';
    for (let k = Math.ceil(this.window[0] / step); k * step <= this.window[1]; k++) {
      const text = `${+(k * step).toPrecision(10)} s`, half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(this.x(k * step), width - half - 1), height - 2);
    }
    context.textAlign = 'left';
    context.fillStyle = TEXT;
  }
}
