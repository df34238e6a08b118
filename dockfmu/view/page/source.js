// The recording in the page: times of the rows, columns by name, and what a variable is called and measured in.

const SAME_TIME = 1e-9; // s: times of events and of rows are sums of steps

export class Source {
  // `fetchColumns(names)` gives an array of typed arrays
  constructor(description, time, fetchColumns) {
    Object.assign(this, description);
    this.times = time;
    this.fetchColumns = fetchColumns;
    this.columns = new Map();
    this.known = new Map(description.variables.map(variable => [variable.name, variable]));
    this.start = time[0];
    this.end = time[time.length - 1];
  }

  // Load the columns of these names that are not here yet.
  async load(names) {
    const missing = [...new Set(names)].filter(name => this.known.has(name) && !this.columns.has(name));
    if (!missing.length) return;
    const values = await this.fetchColumns(missing.map(name => this.known.get(name)));
    missing.forEach((name, k) => this.columns.set(name, values[k]));
  }

  // The last row at or before t; rows are not evenly spaced.
  row(t) {
    const times = this.times;
    let low = 0, high = times.length - 1;
    if (!(t > times[0])) return 0;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= t) low = middle; else high = middle - 1;
    }
    return low;
  }

  // Row and share of the way to the next one.
  place(t) {
    const i = this.row(t), times = this.times;
    if (i + 1 >= times.length || times[i + 1] <= times[i]) return [i, 0];
    return [i, Math.min(Math.max((t - times[i]) / (times[i + 1] - times[i]), 0), 1)];
  }

  // The row whose flags hold at t: the last one at or before t, or the next one if an event lies between that row and t,
  // because rows are some milliseconds apart and lamps show the state after an event.
  heldRow(t) {
    const { times, events } = this, i = this.row(t);
    if (i + 1 >= times.length) return i;
    return events.some(event => event.t > times[i] + SAME_TIME && event.t <= t + SAME_TIME) ? i + 1 : i;
  }

  // Value of a variable that is held, in SI units.
  held(name, t) {
    return this.columns.get(name)?.[this.heldRow(t)] ?? NaN;
  }

  // Value of a variable in SI units: interpolated if it is continuous, held otherwise; NaN where it is not
  // known, and outside of the run.
  value(name, t) {
    const column = this.columns.get(name);
    if (!column || t < this.start || t > this.end) return NaN;
    if (this.known.get(name).held) return column[this.heldRow(t)];
    const [i, share] = this.place(t);
    if (share === 0) return column[i];
    return column[i] + share * (column[i + 1] - column[i]);
  }

  // Smallest and largest finite value over the run.
  range(name) {
    const variable = this.known.get(name), column = this.columns.get(name);
    if (!variable || !column) return [0, 1];
    if (!variable.range) {
      let low = Infinity, high = -Infinity;
      for (const value of column) {
        if (value < low && value > -Infinity) low = value;
        if (value > high && value < Infinity) high = value;
      }
      variable.range = low <= high ? [low, high] : [0, 1];
    }
    return variable.range;
  }
}

// Value of a quantity of a scene: a number, or an array for an array; `read(name)` gives the value of a variable.
export function evaluate(quantity, read) {
  if (typeof quantity === 'number') return quantity;
  if (quantity === null || quantity === undefined) return NaN;
  if (Array.isArray(quantity)) return quantity.flatMap(part => evaluate(part, read));
  if ('v' in quantity) return read(quantity.v);
  for (const word of ['sin', 'cos', 'tan']) {
    if (!(word in quantity)) continue;
    const value = evaluate(quantity[word], read);
    return Array.isArray(value) ? value.map(Math[word]) : Math[word](value);
  }
  const parts = (quantity.sum ?? quantity.product).map(part => evaluate(part, read));
  const combine = quantity.sum ? (a, b) => a + b : (a, b) => a * b;
  return parts.reduce((a, b) => {
    if (Array.isArray(a)) return a.map((x, k) => combine(x, Array.isArray(b) ? b[k] : b));
    return Array.isArray(b) ? b.map(y => combine(a, y)) : combine(a, b);
  });
}

// Names of all variables in a part of a scene.
export function namesIn(part, found = new Set()) {
  if (Array.isArray(part)) part.forEach(inner => namesIn(inner, found));
  else if (part && typeof part === 'object') {
    if (typeof part.v === 'string') found.add(part.v);
    else Object.values(part).forEach(inner => namesIn(inner, found));
  }
  return found;
}

// Values in SI units below this are rounding errors: they fill no bars and curves, and are written as 0 beside them.
export const ROUNDING = 1e-9;

// A number as displayed text, with this many significant digits if it is of ordinary size.
export function formatted(value, digits = 4) {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-5) return value.toExponential(2);
  if (size < 1e-3) return value.toFixed(6);
  return value.toFixed(Math.min(Math.max(digits - 1 - Math.floor(Math.log10(size)), 0), 6));
}

// Units that are written with a prefix where all values of a variable are small or large: least value of each.
const PREFIXES = {
  m: [[1, 'm', 1], [0, 'mm', 1e3]],
  'm/s': [[0.1, 'm/s', 1], [0, 'mm/s', 1e3]],
  N: [[1e4, 'kN', 1e-3], [0, 'N', 1]],
  'N·m': [[1e4, 'kN·m', 1e-3], [0, 'N·m', 1]],
};

// Unit in which values up to `largest` are read best, and the factor to it.
export function prefixed(unit, largest) {
  const found = largest > ROUNDING && PREFIXES[unit]?.find(([least]) => largest >= least);
  return found ? { unit: found[1], factor: found[2] } : { unit, factor: 1 };
}

// Unit in which a variable is shown, and the factor from SI: one for the whole run, so that it does not change while it
// plays.
export function shownUnit(source, name) {
  const { shown = '', factor = 1 } = source.known.get(name) ?? {};
  if (!PREFIXES[shown] || !source.columns.has(name)) return { unit: shown, factor };
  const chosen = prefixed(shown, Math.max(...source.range(name).map(Math.abs)) * Math.abs(factor));
  return { unit: chosen.unit, factor: factor * chosen.factor };
}

// A force in N as text.
export function forceText(force) {
  const { unit, factor } = prefixed('N', Math.abs(force));
  return `${formatted(force * factor, 3)} ${unit}`;
}

// Name of the first variable in a quantity.
export function firstName(quantity) {
  if (Array.isArray(quantity)) return quantity.map(firstName).find(Boolean);
  if (!quantity || typeof quantity !== 'object') return undefined;
  return quantity.v ?? Object.values(quantity).map(firstName).find(Boolean);
}

// The value that an arrow stands for, in the unit of its variable.
export function arrowText(source, shape, [from, to]) {
  const size = Math.hypot(...to.map((x, k) => x - from[k])), value = size / Math.abs(shape.scale);
  const { unit, factor } = shownUnit(source, firstName(shape.value) ?? firstName(shape.along));
  return Number.isFinite(value) && value > ROUNDING ? `${formatted(value * factor, 3)} ${unit}` : '';
}
