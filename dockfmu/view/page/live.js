// A live run: rows arrive over a socket, in blocks; blocks are acknowledged when they are drawn, so that a slow page is
// not flooded (dockfmu/view/live.py).

import { Source } from './source.js';

const FIRST_ROOM = 4096;
const LOST = 'the server of the page has ended; the run may continue, without an operator';

// A typed array that grows.
class Column {
  constructor(size) {
    this.make = room => size === 8 ? new Float64Array(room) : new Float32Array(room);
    this.data = this.make(FIRST_ROOM);
  }

  put(values, first) {
    const needed = first + values.length;
    if (needed > this.data.length) {
      const grown = this.make(Math.max(needed, 2 * this.data.length));
      grown.set(this.data);
      this.data = grown;
    }
    this.data.set(values, first);
  }
}

export class LiveSource extends Source {
  constructor(description, socket) {
    super(description, new Float64Array(0), null);
    this.socket = socket;
    this.clock = new Column(8);
    this.stores = new Map(); // by name, in the order in which the server sends them
    this.waiting = new Map(); // name: callbacks for when its column is here
    this.undrawn = 0;
    this.arrived = () => {};
    this.told = () => {};
    this.taken = {}; // choices and numbers that the run has accepted, by variable: no row has them while it waits
    this.running = description.outcome === 'running';
    socket.binaryType = 'arraybuffer';
    socket.onmessage = event => typeof event.data === 'string' ? this.news(JSON.parse(event.data)) : this.block(event.data);
    socket.onclose = () => this.news({ closed: LOST });
  }

  say(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  // Request columns; they come with all rows that are here.
  async load(names) {
    const missing = [...new Set(names)].filter(name => this.known.has(name) && !this.columns.has(name));
    if (!missing.length) return;
    if (this.socket.readyState !== WebSocket.OPEN) throw new Error(LOST);
    const here = missing.map(name => new Promise((resolve, reject) => this.waiting.set(name, { resolve, reject })));
    this.say({ names: missing });
    await Promise.all(here);
  }

  block(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    let offset = 4 + length;
    const numbers = size => {
      const values = size === 8 ? new Float64Array(buffer, offset, head.rows) : new Float32Array(buffer, offset, head.rows);
      offset += Math.ceil(size * head.rows / 8) * 8;
      return values;
    };
    const times = numbers(8);
    if (Array.isArray(head.columns)) this.newColumns(head.columns, numbers);
    else this.newRows(head, times, numbers);
  }

  newColumns(names, numbers) {
    for (const name of names) {
      const { size } = this.known.get(name), column = new Column(size);
      column.put(numbers(size), 0);
      this.stores.set(name, column);
      this.show(name, column);
      this.waiting.get(name)?.resolve();
      this.waiting.delete(name);
    }
  }

  newRows(head, times, numbers) {
    this.clock.put(times, head.first);
    this.times = this.clock.data.subarray(0, head.first + head.rows);
    for (const [name, column] of [...this.stores].slice(0, head.columns)) {
      const variable = this.known.get(name), values = numbers(variable.size);
      column.put(values, head.first);
      this.widen(variable, values);
      this.show(name, column);
    }
    this.start = this.times[0];
    this.end = this.times[this.times.length - 1];
    this.undrawn = head.block;
    this.arrived();
  }

  show(name, column) {
    this.columns.set(name, column.data.subarray(0, this.times.length));
  }

  // Extend the range of a variable by new values, if it has been computed.
  widen(variable, values) {
    if (!variable.range) return;
    let [low, high] = variable.range;
    for (const value of values) {
      if (value < low && value > -Infinity) low = value;
      if (value > high && value < Infinity) high = value;
    }
    variable.range = [low, high];
  }

  // Acknowledge all blocks that have arrived: they are on the screen.
  drawn() {
    if (this.undrawn) this.say({ drawn: this.undrawn });
    this.undrawn = 0;
  }

  news(message) {
    if (message.restart) this.times = this.clock.data.subarray(0, 0);
    if (message.event) this.events.push(message.event);
    if (message.end) {
      this.running = false;
      Object.assign(this, { outcome: message.end.outcome, standing: message.end.standing, message: message.end.message });
    }
    if (message.state) this.operated = message.state;
    if (message.taken) Object.assign(this.taken, message.taken);
    if (message.withdrawn) delete this.taken[message.withdrawn];
    if (message.closed) {
      this.running = false;
      this.closed = message.closed;
      for (const { reject } of this.waiting.values()) reject(new Error(LOST));
    }
    this.told(message);
  }
}

// Open the run behind the page; it is ready when its first row has arrived.
export async function openLive(description) {
  const socket = new WebSocket(`ws://${location.host}/live`);
  const source = new LiveSource(description, socket);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('the run can no longer be reached'));
  });
  const first = new Promise(resolve => { source.arrived = resolve; });
  await source.load([description.variables[0].name]);
  await first;
  source.arrived = () => {};
  return source;
}
