// The page: panes over one time cursor, keys, and the script interface window.dockfmu (docs/guide/view.md).

import { loadThree, openSource } from './served.js';
import { formatted, namesIn } from './source.js';
import { Projection, solids, viewpoint } from './projection.js';
import { Devices, readItem } from './devices.js';
import { Curves } from './curves.js';
import { FIELD, Solid } from './solid.js';

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const SMOOTH = 30; // pictures a second
const LONGEST_FRAME = 0.25; // s, so that a hidden tab does not jump when it is seen again
const byId = id => document.getElementById(id);

function failed(error) {
  document.querySelector('main').innerHTML = '<p id="message" role="alert"></p>';
  byId('message').textContent = `The recording cannot be shown: ${error.message ?? error}`;
  document.documentElement.dataset.failed = 'true';
}

// Size of a unit in which canvases are drawn, in CSS pixels: they grow with the letters of the page.
const letterUnit = () => parseFloat(getComputedStyle(document.body).fontSize) / 13;

// A canvas that has the size of its place, in pixels of the screen.
class Pane {
  constructor(id) {
    this.canvas = byId(id);
    this.context = this.canvas.getContext('2d');
  }

  fit(height) {
    const ratio = window.devicePixelRatio || 1, unit = letterUnit();
    if (height) this.canvas.style.height = `${height * unit}px`;
    const width = this.canvas.clientWidth, tall = this.canvas.clientHeight;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(tall * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(tall * ratio);
    }
    this.context.setTransform(ratio * unit, 0, 0, ratio * unit, 0, 0);
    return [width / unit, tall / unit];
  }
}

class Page {
  constructor(source) {
    this.source = source;
    this.time = source.start;
    this.speed = 1;
    this.playing = false;
    this.view = '';
    this.last = 0;
    this.pictures = [];
    // mechanisms first: those have a view of their own
    const scenes = Object.entries(source.scenes).sort(([, a], [, b]) => (b.view ? 1 : 0) - (a.view ? 1 : 0));
    const groups = scenes.flatMap(([element, scene]) => scene.devices.map(group => ({ ...group, element })));
    for (const group of groups) {
      const same = groups.filter(other => other.title === group.title);
      if (same.length > 1) same.forEach(other => { other.title = `${other.element}: ${other.title}`; });
    }
    this.groups = place => groups.filter(group => (group.place ?? 'devices') === place);
    this.panes = Object.fromEntries(['side', 'axial', 'devices', 'curves'].map(id => [id, new Pane(id)]));
    this.projections = ['side', 'axial'].map(kind => new Projection(byId(kind), kind));
    this.devices = new Devices(this.groups('devices'));
    this.curves = new Curves(source.curves);
    this.fields = [];
    this.solid = null;
    this.camera = 'side';
  }

  // What the page needs before its first picture: all that the scenes name, and the first curves.
  async load() {
    const names = namesIn(Object.values(this.source.scenes));
    await this.source.load([...names, ...this.curves.names]);
    const { other } = this.source;
    if (other) await other.load([...namesIn(Object.values(other.scenes)), ...this.curves.names]);
  }

  // --- time -----------------------------------------------------------------------------------------------------------

  seek(t) {
    const time = Number(t);
    if (!Number.isFinite(time)) throw new Error(`seek: ${t} is not a time`);
    this.following = false;
    this.time = Math.min(Math.max(time, this.source.start), this.source.end);
    this.draw();
    return this.time;
  }

  step(rows) {
    const { times } = this.source;
    let row = this.source.row(this.time);
    // between two rows the one before is a step back
    if (rows < 0 && times[row] < this.time) row += 1;
    return this.seek(times[Math.min(Math.max(row + rows, 0), times.length - 1)]);
  }

  play(speed = this.speed) {
    const wanted = Number(speed);
    if (!(wanted > 0 && wanted <= 1000)) throw new Error(`play: ${speed} is not a speed`);
    this.speed = wanted;
    if (this.time >= this.source.end) this.time = this.source.start;
    this.playing = true;
    this.following = false;
    this.last = performance.now();
    this.controls();
    requestAnimationFrame(now => this.frame(now));
  }

  pause() {
    this.playing = false;
    this.controls();
  }

  frame(now) {
    if (!this.playing) return;
    const passed = Math.min(Math.max((now - this.last) / 1000, 0), LONGEST_FRAME);
    this.last = now;
    this.time = Math.min(this.time + passed * this.speed, this.source.end);
    this.draw();
    this.counted(now);
    // a run that goes on is caught up with, and followed from there
    if (this.time >= this.source.end && this.source.running) this.follow();
    else if (this.time >= this.source.end) this.pause();
    else requestAnimationFrame(next => this.frame(next));
  }

  // Stay at the newest row of a run that goes on.
  follow() {
    this.pause();
    this.following = true;
    this.time = this.source.end;
    this.draw();
  }

  // Rows have arrived: they are drawn with the next picture, and acknowledged when they are.
  arrived() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(now => {
      this.due = false;
      if (this.following) {
        this.time = this.source.end;
        this.draw();
        this.counted(now);
      } else {
        this.controls();
      }
      this.source.drawn();
    });
  }

  // News of a run that goes on: events, its end, who operates it.
  told(message) {
    if (message.event || message.end) this.about();
    if (message.closed && this.source.outcome === 'running') {
      byId('outcome').textContent = 'connection lost';
      byId('outcome').className = 'badge bad';
    }
    this.source.station?.told(message);
    this.controls();
  }

  counted(now) {
    this.pictures.push(now);
    while (this.pictures[0] < now - 1000) this.pictures.shift();
  }

  event(direction) {
    const times = this.source.events.map(event => event.t).sort((a, b) => a - b);
    const found = direction > 0 ? times.find(t => t > this.time + 1e-9) : times.findLast(t => t < this.time - 1e-9);
    if (found !== undefined) this.seek(found);
  }

  // --- drawing --------------------------------------------------------------------------------------------------------

  draw() {
    const { source, time } = this;
    // in the scene of the contact the craft would only be in the way
    const wanted = scene => this.view === 'craft' || scene.view;
    const items = solids(source, time, wanted);
    const others = source.other && time <= source.other.end ? solids(source.other, time, wanted) : undefined;
    const view = viewpoint(source, time, this.view, [...items, ...others ?? []]);
    this.size = view.size;
    const layers = [{ items, pose: view.pose }], views = [view];
    if (others) {
      // under it, in its own frame of the passive unit
      const second = view.middle ? view : viewpoint(source.other, time, this.view, others);
      layers.unshift({ items: others, pose: second.pose, other: true });
      views.push(second);
    }
    for (const projection of this.projections) {
      if (projection.kind === 'side' && this.camera !== 'side') continue;
      const pane = this.panes[projection.kind], [width, height] = pane.fit();
      projection.draw(layers, view, pane.context, width, height);
    }
    // where the browser computes three dimensions itself, every second picture has them
    this.rested = this.playing && !this.rested && this.pictures.length < SMOOTH;
    if (this.camera !== 'side' && !this.rested) this.solid.draw(views, time, wanted, items);
    const frame = this.panes.devices.canvas.parentElement, wide = frame.clientWidth / letterUnit(), room = frame.clientHeight / letterUnit();
    const [width, height] = this.panes.devices.fit(this.devices.heightFor(this.panes.devices.context, wide, room));
    this.devices.draw(source, time, this.panes.devices.context, width, height, room);
    this.more();
    const curves = this.panes.curves, size = curves.fit();
    // what is still to come needs no room
    this.curves.ahead = this.following && source.running ? 0.06 : 0.5;
    this.curves.draw(source, time, source.events, curves.context, ...size, source.other || undefined);
    for (const field of this.fields) {
      const { text, unit } = readItem(source, field.item, time), shown = unit ? `${text} ${unit}` : text;
      if (field.shown !== shown) field.element.textContent = field.shown = shown;
    }
    this.controls();
  }

  // Whether devices stand below the edge of their pane.
  more() {
    const frame = byId('devices').parentElement;
    byId('more').hidden = frame.scrollHeight - frame.clientHeight - frame.scrollTop < 8;
  }

  redraw() {
    if (!this.playing) this.draw();
  }

  controls() {
    const { source, time } = this;
    byId('play').textContent = this.playing ? 'pause' : 'play';
    if (document.activeElement !== byId('time')) byId('time').value = time.toFixed(3);
    byId('slider').value = String(Math.round((time - source.start) / (source.end - source.start || 1) * 1e6));
    byId('slider').setAttribute('aria-valuetext', `${time.toFixed(3)} s`);
    byId('speed').value = String(this.speed);
    byId('rate').textContent = this.playing || (this.following && source.running) ? `${this.pictures.length} fps` : '';
    byId('follow').setAttribute('aria-pressed', String(this.following));
    byId('follow').textContent = this.following && source.running ? '● live' : '○ live';
  }

  // --- building -------------------------------------------------------------------------------------------------------

  // Outcome and events, which change while a run goes on.
  about() {
    const { source } = this;
    byId('outcome').textContent = source.outcome;
    byId('outcome').className = `badge ${source.standing}`;
    byId('outcome').title = source.message ?? '';
    this.options(byId('events'), [['', 'jump to…'], ...source.events.map((event, k) => [String(k), `${event.t.toFixed(3)} s  ${event.name.replaceAll('_', ' ')}`])]);
    this.marks();
  }

  marks() {
    const { source } = this, length = source.end - source.start || 1;
    byId('marks').replaceChildren(...source.events.map(event => {
      const mark = document.createElement('i');
      mark.title = `${event.name} at ${event.t.toFixed(3)} s`;
      mark.style.left = `${(event.t - source.start) / length * 100}%`;
      return mark;
    }));
  }

  build() {
    const { source } = this;
    document.title = `${source.title} – dockfmu view`;
    byId('title').textContent = source.title;
    byId('description').textContent = byId('description').title = source.description;
    if (source.other) byId('description').textContent = `dashed, violet: ${source.other.title}, ${source.other.outcome}`;
    byId('report').hidden = !source.report;
    this.about();
    for (const place of ['left', 'right']) this.numbers(byId(place), this.groups(place));
    this.loads(byId('bottom'), this.groups('bottom'));
    const views = Object.entries(source.scenes).filter(([, scene]) => scene.view).map(([element]) => element);
    this.options(byId('view'), [...views.map(element => [element, `contact: ${element}`]), ['craft', 'all craft']]);
    this.view = byId('view').value;
    const framed = (word, text) => Object.entries(source.scenes).flatMap(([element, scene]) =>
      Object.entries(scene.frames).filter(([, frame]) => frame.label).map(([name, frame]) => [`${word} ${element} ${name}`, `${text} ${element}: ${frame.label}`]));
    this.options(byId('camera'), [['side', 'side, 2-D'], ['orbit', '3-D, turn'], ['overview', '3-D, overview'],
      ...framed('aim', 'along x of'), ...framed('orbit', 'around')]);
    byId('dimensions').hidden = !source.three;
    this.options(byId('speed'), SPEEDS.map(speed => [String(speed), `${speed} ×`]));
    if (source.live) this.live();
    this.titles();
    this.list();
    this.listen();
  }

  live() {
    const { source } = this;
    byId('follow').hidden = false;
    byId('follow').onclick = () => this.follow();
    this.following = source.running;
    source.arrived = () => this.arrived();
    source.told = message => this.told(message);
    source.station?.attach(byId('station'));
    this.arrived();
  }

  options(select, pairs) {
    select.replaceChildren(...pairs.map(([value, text]) => new Option(text, value)));
  }

  numbers(place, groups) {
    for (const group of groups) {
      const title = document.createElement('h3'), list = document.createElement('dl');
      title.textContent = group.title;
      for (const item of group.items) {
        const name = document.createElement('dt'), value = document.createElement('dd');
        name.textContent = item.label;
        name.title = item.variable?.v ?? '';
        list.append(name, value);
        this.fields.push({ item, element: value, shown: '', group });
      }
      place.append(title, list);
    }
  }

  loads(place, groups) {
    for (const group of groups) {
      place.append(`${group.title}:`);
      for (const item of group.items) {
        const line = document.createElement('span'), value = document.createElement('b');
        line.append(`${item.label} `, value);
        place.append(line);
        this.fields.push({ item, element: value, shown: '', group });
      }
    }
  }

  async toggle(name) {
    if (!this.source.known.has(name)) throw new Error(`there is no recorded variable ${name}`);
    await this.source.load([name]);
    if (this.source.other) await this.source.other.load([name]);
    const { names } = this.curves;
    this.curves.names = names.includes(name) ? names.filter(other => other !== name) : [...names, name];
    this.list();
    this.draw();
  }

  list() {
    const entry = name => {
      const item = document.createElement('li'), on = this.curves.names.includes(name);
      // a long name is broken after a dot
      item.append(on ? '✓\u00a0' : '', ...name.split('.').flatMap((part, k, all) => k + 1 < all.length ? [`${part}.`, document.createElement('wbr')] : [part]));
      item.style.color = on ? this.curves.colour(name) : '';
      item.title = this.source.known.get(name)?.description ?? '';
      item.tabIndex = 0;
      item.onclick = () => this.toggle(name);
      item.onkeydown = event => { if (event.key === 'Enter') this.toggle(name); };
      return item;
    };
    const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? [...this.source.known.keys()].filter(name => words.every(word => name.toLowerCase().includes(word))) : [];
    byId('found').replaceChildren(...found.slice(0, 60).map(entry));
    byId('shown').replaceChildren(...this.curves.names.map(entry));
  }

  // --- input ----------------------------------------------------------------------------------------------------------

  listen() {
    byId('play').onclick = () => this.playing ? this.pause() : this.play();
    byId('back').onclick = () => this.step(-1);
    byId('forward').onclick = () => this.step(1);
    byId('speed').onchange = event => { this.speed = Number(event.target.value); };
    byId('slider').oninput = event => this.seek(this.source.start + event.target.value / 1e6 * (this.source.end - this.source.start));
    byId('time').onchange = event => { if (Number.isFinite(Number(event.target.value))) this.seek(event.target.value); event.target.blur(); };
    byId('events').onchange = event => { if (event.target.value !== '') this.seek(this.source.events[Number(event.target.value)].t); event.target.value = ''; };
    byId('view').onchange = event => { this.view = event.target.value; this.home(); };
    byId('camera').onchange = event => this.look(event.target.value).catch(failed);
    byId('search').oninput = () => this.list();
    for (const projection of this.projections) this.moveProjection(projection);
    this.moveCurves(byId('curves'));
    document.addEventListener('keydown', event => this.key(event));
    byId('devices').parentElement.onscroll = () => this.more();
    new ResizeObserver(() => this.redraw()).observe(document.querySelector('main'));
  }

  // Show the side projection, the scene in three dimensions to turn, or what is seen along x of a frame.
  async look(camera) {
    if (camera !== 'side' && !this.solid) {
      if (!this.source.three) throw new Error('three dimensions need the package jupyter-threejs-sage');
      this.solid = new Solid(byId('solid'), await loadThree(), this.source);
      this.moveSolid(byId('solid'));
    }
    this.camera = byId('camera').value = camera;
    const [mode, element, ...frame] = camera.split(' ');
    if (this.solid) Object.assign(this.solid, { mode, aim: element ? [element, frame.join(' ')] : null, field: FIELD });
    byId('side').hidden = camera !== 'side';
    byId('solid').hidden = camera === 'side';
    byId('cross').hidden = !camera.startsWith('aim ');
    this.titles();
    this.draw();
  }

  // What the two panes of the scene show.
  titles() {
    const { view } = this.source.scenes[this.view] ?? {}, axis = view ? 'the axis' : 'x';
    const plane = view?.through ? 'plane of the axis and the exit hinge' : 'x to the right, y up';
    byId('sidetitle').textContent = this.camera === 'side' ? `Side: ${plane}` : byId('camera').selectedOptions[0].text;
    byId('axialtitle').textContent = `Along ${axis}: y up, z to the right`;
  }

  moveSolid(canvas) {
    canvas.addEventListener('wheel', event => { event.preventDefault(); this.solid.zoom(Math.exp(-event.deltaY / 400)); this.redraw(); }, { passive: false });
    canvas.addEventListener('pointerdown', event => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener('pointermove', event => {
      if (!canvas.hasPointerCapture(event.pointerId)) return;
      this.solid.turn(event.movementX / 150, event.movementY / 150);
      this.redraw();
    });
  }

  home() {
    for (const projection of this.projections) Object.assign(projection, { zoom: 1, pan: [0, 0] });
    this.titles();
    this.draw();
  }

  // Both projections grow, one of them around the pointer: `place` is relative to the middle of its canvas.
  zoom(factor, pointed, place = [0, 0]) {
    for (const projection of this.projections) {
      const zoom = Math.min(Math.max(projection.zoom * factor, 0.02), 200), by = zoom / projection.zoom;
      const fixed = projection === pointed ? place : [0, 0];
      projection.pan = projection.pan.map((shift, k) => fixed[k] - (fixed[k] - shift) * by);
      projection.zoom = zoom;
    }
    this.redraw();
  }

  moveProjection(projection) {
    const { canvas } = projection;
    const place = event => [event.offsetX / letterUnit(), event.offsetY / letterUnit()];
    canvas.addEventListener('wheel', event => {
      event.preventDefault();
      const [x, y] = place(event), unit = letterUnit();
      this.zoom(Math.exp(-event.deltaY / 400), projection, [x - canvas.clientWidth / unit / 2, y - canvas.clientHeight / unit / 2]);
    }, { passive: false });
    canvas.addEventListener('dblclick', () => this.home());
    canvas.addEventListener('pointerdown', event => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener('pointermove', event => {
      if (!canvas.hasPointerCapture(event.pointerId)) {
        const item = projection.at(place(event));
        canvas.title = item ? `${item.element}: ${item.label || item.kind.replace('_', ' ')}` : '';
        return;
      }
      const unit = letterUnit();
      projection.pan = [projection.pan[0] + event.movementX / unit, projection.pan[1] + event.movementY / unit];
      this.redraw();
    });
  }

  // The curves scroll under the cursor: drag them, and time goes with them.
  moveCurves(canvas) {
    canvas.addEventListener('wheel', event => {
      event.preventDefault();
      this.curves.span = Math.min(Math.max(this.curves.span * Math.exp(event.deltaY / 400), 0.02), 2 * (this.source.end - this.source.start) || 1);
      this.redraw();
    }, { passive: false });
    canvas.addEventListener('pointerdown', event => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener('pointermove', event => {
      if (!canvas.hasPointerCapture(event.pointerId)) return;
      this.seek(this.time - event.movementX / (canvas.clientWidth - 62) * this.curves.span);
    });
  }

  key(event) {
    if (event.target.matches('input:not([type=range]), select') || event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    const faster = by => { this.speed = SPEEDS[Math.min(Math.max(SPEEDS.findIndex(s => s >= this.speed) + by, 0), SPEEDS.length - 1)]; this.controls(); };
    const rows = event.shiftKey ? 10 : 1;
    const action = {
      ' ': () => this.playing ? this.pause() : this.play(),
      ArrowLeft: () => this.step(-rows), ArrowRight: () => this.step(rows),
      ArrowUp: () => faster(1), ArrowDown: () => faster(-1),
      Home: () => this.seek(this.source.start), End: () => this.source.running ? this.follow() : this.seek(this.source.end),
      n: () => this.event(1), b: () => this.event(-1),
      '+': () => this.zoom(1.25), '-': () => this.zoom(0.8), 0: () => this.home(),
      f: () => { this.curves.fit = !this.curves.fit; this.redraw(); },
      v: () => { const view = byId('view'); view.selectedIndex = (view.selectedIndex + 1) % view.length; view.onchange({ target: view }); },
      d: () => this.source.three && this.look(this.camera === 'side' ? 'orbit' : 'side').catch(failed),
      '/': () => byId('search').focus(),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  // --- script interface -----------------------------------------------------------------------------------------------

  contacts() {
    const row = this.source.row(this.time), read = name => this.source.columns.get(name)?.[row] ?? NaN, found = [];
    for (const [element, scene] of Object.entries(this.source.scenes)) {
      for (const shape of scene.shapes) {
        if (shape.shape !== 'contact' || !(read(shape.active.v) > 0)) continue;
        found.push({ element, label: shape.label, position: shape.position.map(part => read(part.v)), force: read(shape.force.v) });
      }
    }
    return found;
  }

  drawn() {
    const [side, axial] = this.projections.map(projection => ({ scale: projection.scale, items: projection.drawn }));
    const numbers = this.fields.map(field => ({ title: field.group.title, label: field.item.label, variable: field.item.variable?.v, text: field.shown }));
    return { time: this.time, unit: letterUnit(), size: this.size, side, axial, devices: this.devices.drawn, curves: this.curves.drawn, numbers, solid: this.solid?.state() };
  }

  script() {
    const page = this;
    window.dockfmu = {
      get time() { return page.time; },
      get start() { return page.source.start; },
      get duration() { return page.source.end - page.source.start; },
      get playing() { return page.playing; },
      get speed() { return page.speed; },
      get fps() { return page.pictures.length; },
      get events() { return page.source.events.map(event => ({ ...event })); },
      get curves() { return [...page.curves.names]; },
      seek: t => page.seek(t),
      step: (rows = 1) => page.step(rows),
      play: speed => page.play(speed),
      pause: () => page.pause(),
      get live() { return Boolean(page.source.running); },
      get following() { return Boolean(page.following); },
      follow: () => page.follow(),
      get outcome() { return page.source.outcome; },
      station: page.source.station?.interface(),
      variables: () => [...page.source.known.keys()],
      load: async names => { await page.source.load([names].flat()); },
      value: name => {
        if (!page.source.known.has(name)) throw new Error(`there is no recorded variable ${name}`);
        return page.source.value(name, page.time);
      },
      rows: name => [[...page.source.times], [...(page.source.columns.get(name) ?? [])]],
      curve: name => page.toggle(name),
      view: name => { page.view = byId('view').value = name; page.home(); },
      look: camera => page.look(camera),
      other: name => page.source.other ? page.source.other.value(name, page.time) : NaN,
      contacts: () => page.contacts(),
      drawn: () => page.drawn(),
    };
  }
}

try {
  const page = new Page(await openSource());
  await page.load();
  page.build();
  page.script();
  page.draw();
  document.documentElement.dataset.ready = 'true';
} catch (error) {
  failed(error);
  throw error;
}
