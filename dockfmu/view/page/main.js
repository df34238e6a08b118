// The page: panes that share one time cursor, and keys.

import { openSource } from './served.js';
import { namesIn } from './source.js';
import { Devices, readItem } from './devices.js';
import { Curves, LEFT } from './curves.js';
import { byId, letterUnit, Pane, ScenePanes } from './panes.js';
import { scriptOf } from './script.js';
import { writeKeys } from './keys.js';

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const MOST_FOUND = 60;
const LONGEST_FRAME = 0.25; // s, so that a hidden tab does not jump when it is seen again

function failed(error) {
  document.querySelector('main').innerHTML = '<p id="message" role="alert"></p>';
  byId('message').textContent = `The recording cannot be shown: ${error.message ?? error}`;
  document.documentElement.dataset.failed = 'true';
}

class Page {
  constructor(source) {
    this.source = source;
    this.time = source.start;
    this.speed = 1;
    this.playing = false;
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
    this.panes = { devices: new Pane('devices'), curves: new Pane('curves') };
    this.scene = new ScenePanes(this);
    this.devices = new Devices(this.groups('devices'));
    this.curves = new Curves(source.curves);
    this.fields = [];
  }

  // Load what the page needs before its first frame: all that the scenes name, the first curves, what an operator sets.
  async load() {
    const names = namesIn(Object.values(this.source.scenes));
    await this.source.load([...names, ...this.curves.names, ...this.source.station?.names ?? []]);
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
    if (!(wanted >= SPEEDS[0] && wanted <= SPEEDS.at(-1))) throw new Error(`play: ${speed} is not a speed between ${SPEEDS[0]} and ${SPEEDS.at(-1)}`);
    this.speed = wanted;
    if (this.time >= this.source.end) this.time = this.source.start;
    this.playing = true;
    this.following = false;
    this.last = performance.now();
    this.controls();
    this.next();
  }

  // Request the next frame; only one is pending, however often `play` is called.
  next() {
    cancelAnimationFrame(this.pending);
    this.pending = requestAnimationFrame(now => this.frame(now));
  }

  pause() {
    this.playing = false;
    this.scene.settle();
    this.controls();
  }

  frame(now) {
    if (!this.playing) return;
    const passed = Math.min(Math.max((now - this.last) / 1000, 0), LONGEST_FRAME);
    this.last = now;
    this.time = Math.min(this.time + passed * this.speed, this.source.end);
    this.draw();
    this.counted(now);
    // when the end of a live run is reached, follow it from there
    if (this.time >= this.source.end && this.source.running) this.follow();
    else if (this.time >= this.source.end) this.pause();
    else this.next();
  }

  // Stay at the newest row of a live run.
  follow() {
    this.pause();
    this.following = true;
    this.time = this.source.end;
    this.draw();
  }

  // Rows have arrived: draw them with the next frame, then acknowledge them.
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

  // News of a live run: events, its end, who operates it.
  told(message) {
    if (message.event || message.end) this.about();
    if (message.closed && this.source.outcome === 'running') this.lost(message.closed);
    this.source.station?.told(message);
    this.controls();
  }

  // What has arrived can still be viewed, but nothing more will come.
  lost(reason) {
    byId('outcome').textContent = 'connection lost';
    byId('outcome').className = 'badge bad';
    byId('outcome').title = reason;
  }

  // Show what failed and why, until something else succeeds; everything shown so far stays.
  trouble(text = '') {
    byId('trouble').hidden = !text;
    byId('trouble').textContent = byId('trouble').title = text;
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
    this.scene.draw(time);
    const frame = this.panes.devices.canvas.parentElement, wide = frame.clientWidth / letterUnit(), room = frame.clientHeight / letterUnit();
    const [width, height] = this.panes.devices.fit(this.devices.heightFor(this.panes.devices.context, wide, room));
    this.devices.draw(source, time, this.panes.devices.context, width, height, room);
    this.more();
    const curves = this.panes.curves, pane = curves.canvas.parentElement;
    const size = curves.fit(Math.max(pane.clientHeight / letterUnit(), this.curves.leastHeight(source, pane.clientWidth / letterUnit())));
    // rows that are still to come need no room
    this.curves.ahead = this.following && source.running ? 0.06 : 0.5;
    this.curves.draw(source, time, source.events, curves.context, ...size, source.other || undefined);
    for (const field of this.fields) {
      const { text, unit } = readItem(source, field.item, time), shown = unit ? `${text} ${unit}` : text;
      if (field.shown !== shown) field.element.textContent = field.shown = shown;
    }
    this.controls();
  }

  // Show whether there are devices below the edge of their pane.
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
    const speeds = byId('speed');
    speeds.value = String(this.speed);
    if (speeds.selectedIndex < 0) { speeds.add(new Option(`${this.speed} ×`, this.speed)); speeds.value = String(this.speed); }
    this.placeMarks();
    byId('rate').textContent = this.playing || (this.following && source.running) ? `${this.pictures.length} fps` : '';
    byId('follow').setAttribute('aria-pressed', String(this.following));
    byId('follow').textContent = this.following && source.running ? '● live' : '○ live';
  }

  // --- building -------------------------------------------------------------------------------------------------------

  // Outcome and events, which change during a live run.
  about() {
    const { source } = this;
    byId('outcome').textContent = source.outcome;
    byId('outcome').className = `badge ${source.standing}`;
    byId('outcome').title = source.message ?? '';
    // why a run failed is on the page, not only in a tooltip
    byId('why').hidden = source.standing !== 'bad' || !source.message;
    byId('why').textContent = byId('why').hidden ? '' : `This run did not succeed: ${source.message}`;
    this.options(byId('events'), [['', 'jump to…'], ...source.events.map((event, k) => [String(k), `${event.t.toFixed(3)} s  ${event.name.replaceAll('_', ' ')}`])]);
    this.marks();
  }

  marks() {
    byId('marks').replaceChildren(...this.source.events.map(event => {
      const mark = document.createElement('i');
      mark.title = `${event.name} at ${event.t.toFixed(3)} s`;
      return mark;
    }));
    this.marked = undefined;
    this.placeMarks();
  }

  // The marks move to the left during a live run.
  placeMarks() {
    const { source } = this, length = source.end - source.start || 1;
    if (this.marked === source.end) return;
    this.marked = source.end;
    [...byId('marks').children].forEach((mark, k) => { mark.style.left = `${(source.events[k].t - source.start) / length * 100}%`; });
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
    this.scene.view = byId('view').value;
    const framed = (word, text) => Object.entries(source.scenes).flatMap(([element, scene]) =>
      Object.entries(scene.frames).filter(([, frame]) => frame.label).map(([name, frame]) => [`${word} ${element} ${name}`, `${text} ${element}: ${frame.label}`]));
    this.options(byId('camera'), [['side', 'projections only, 2-D'], ['orbit', '3-D, turn'], ['overview', '3-D, overview'],
      ...framed('aim', 'along x of'), ...framed('orbit', 'around')]);
    byId('dimensions').hidden = !source.three;
    this.scene.reserve();
    if (!source.live) this.curves.span = Math.min(this.curves.span, 1.06 * (source.end - source.start) || this.curves.span);
    this.options(byId('speed'), SPEEDS.map(speed => [String(speed), `${speed} ×`]));
    if (source.live) this.live();
    this.scene.titles();
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
      const title = document.createElement('h2'), list = document.createElement('dl');
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
        line.title = `${item.variable?.v ?? ''}: ${this.source.known.get(item.variable?.v)?.description ?? ''}`;
        line.append(`${item.label} `, value);
        place.append(line);
        this.fields.push({ item, element: value, shown: '', group });
      }
    }
  }

  async toggle(name) {
    if (!this.source.known.has(name)) throw new Error(`there is no recorded variable ${name}`);
    try {
      await this.source.load([name]);
      if (this.source.other) await this.source.other.load([name]);
    } catch (error) {
      this.trouble(`${name}: ${error.message}`);
      return;
    }
    this.trouble();
    const { names } = this.curves;
    this.curves.names = names.includes(name) ? names.filter(other => other !== name) : [...names, name];
    const focused = document.activeElement?.dataset.name;
    this.list();
    if (focused) document.querySelector(`#found [data-name="${CSS.escape(focused)}"], #shown [data-name="${CSS.escape(focused)}"]`)?.focus();
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
      item.dataset.name = name;
      item.onclick = () => this.toggle(name);
      item.onkeydown = event => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        this.toggle(name);
      };
      return item;
    };
    const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    const { known } = this.source, described = name => known.get(name).description ?? '';
    const has = text => words.every(word => text.toLowerCase().includes(word));
    // names first, then what only a description tells
    const found = words.length ? [...known.keys()].filter(name => has(name)) : [];
    if (words.length) found.push(...[...known.keys()].filter(name => !has(name) && has(`${name} ${described(name)}`)));
    byId('found').replaceChildren(...found.slice(0, MOST_FOUND).map(name => {
      const item = entry(name);
      if (described(name)) item.append(Object.assign(document.createElement('small'), { textContent: described(name) }));
      return item;
    }));
    if (found.length > MOST_FOUND) {
      const more = document.createElement('li');
      more.textContent = `${found.length - MOST_FOUND} more: add a word to narrow the search`;
      more.className = 'more-found';
      byId('found').append(more);
    }
    byId('shown').replaceChildren(...this.curves.names.map(entry));
  }

  // --- input ----------------------------------------------------------------------------------------------------------

  listen() {
    byId('play').onclick = () => this.playing ? this.pause() : this.play();
    byId('back').onclick = () => this.step(-1);
    byId('forward').onclick = () => this.step(1);
    byId('speed').onchange = event => { this.speed = Number(event.target.value); event.target.blur(); };
    byId('slider').oninput = event => this.seek(this.source.start + event.target.value / 1e6 * (this.source.end - this.source.start));
    byId('time').onchange = event => {
      const text = event.target.value.trim().replace(',', '.');
      event.target.blur();
      if (text !== '' && Number.isFinite(Number(text))) this.seek(text);
      else this.controls();
    };
    byId('events').onchange = event => { if (event.target.value !== '') this.seek(this.source.events[Number(event.target.value)].t); event.target.value = ''; event.target.blur(); };
    byId('view').onchange = event => { this.scene.view = event.target.value; this.scene.home(); event.target.blur(); };
    byId('camera').onchange = event => { event.target.blur(); this.look(event.target.value); };
    byId('search').oninput = () => this.list();
    this.scene.listen();
    writeKeys(byId('keys'), this.source.station);
    byId('help').onclick = () => byId('keys').showModal();
    this.moveCurves(byId('curves'));
    document.addEventListener('keydown', event => this.key(event));
    byId('devices').parentElement.onscroll = () => this.more();
    new ResizeObserver(() => this.redraw()).observe(document.querySelector('main'));
  }

  // Change the camera; without WebGL or a server there is none in three dimensions.
  async look(camera) {
    try {
      await this.scene.look(camera);
      this.trouble();
    } catch (error) {
      console.error(error);
      await this.scene.look('side');
      this.trouble(`3-D: ${error.message}`);
    }
  }

  // The curves scroll under the cursor: dragging them moves the time.
  moveCurves(canvas) {
    canvas.addEventListener('wheel', event => {
      event.preventDefault();
      if (event.shiftKey) { canvas.parentElement.scrollTop += event.deltaY || event.deltaX; return; }
      this.curves.span = Math.min(Math.max(this.curves.span * Math.exp(event.deltaY / 400), 0.02), 2 * (this.source.end - this.source.start) || 1);
      this.redraw();
    }, { passive: false });
    canvas.addEventListener('pointerdown', event => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener('pointermove', event => {
      if (!canvas.hasPointerCapture(event.pointerId)) return;
      // where the window stands still at an end of the run, the cursor goes with the pointer instead
      const still = Math.abs(this.curves.windowAt(this.time, this.source) - (this.time - this.curves.span * (1 - this.curves.ahead))) > 1e-9;
      this.seek(this.time + (still ? 1 : -1) * event.movementX / (letterUnit() * (this.curves.width - LEFT)) * this.curves.span);
    });
  }

  key(event) {
    if (event.defaultPrevented) return;
    // a control that has the focus keeps its keys; the time slider moves by rows
    const own = event.target.matches('input:not(#slider), select') || (event.target.matches('button') && event.key === ' ');
    if (own || event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    const faster = by => { this.speed = (by > 0 ? SPEEDS.find(s => s > this.speed) : SPEEDS.findLast(s => s < this.speed)) ?? this.speed; this.controls(); };
    const rows = event.shiftKey ? 10 : 1;
    const action = {
      ' ': () => this.playing ? this.pause() : this.play(),
      ArrowLeft: () => this.step(-rows), ArrowRight: () => this.step(rows),
      ArrowUp: () => faster(1), ArrowDown: () => faster(-1),
      Home: () => this.seek(this.source.start), End: () => this.source.running ? this.follow() : this.seek(this.source.end),
      n: () => this.event(1), b: () => this.event(-1),
      '+': () => this.scene.zoom(1.25), '-': () => this.scene.zoom(0.8), 0: () => this.scene.home(),
      f: () => { this.curves.fit = !this.curves.fit; this.redraw(); },
      v: () => { const view = byId('view'); view.selectedIndex = (view.selectedIndex + 1) % view.length; view.onchange({ target: view }); },
      d: () => this.source.three && this.look(this.scene.camera === 'side' ? 'orbit' : 'side'),
      c: () => byId('section').click(), l: () => byId('names').click(),
      g: () => { const ground = byId('ground'); ground.selectedIndex = (ground.selectedIndex + 1) % ground.length; ground.onchange({ target: ground }); },
      '?': () => byId('help').click(),
      ...Object.fromEntries([0, 1, 2, 3, 4, 5].map(k => [String(k + 1), () => this.source.three && this.scene.preset(k)])),
      '/': () => byId('search').focus(),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

// pictures and films for slides show the scene alone (dockfmu/view/film.py)
if (location.hash === '#picture') document.documentElement.dataset.picture = 'true';

try {
  const page = new Page(await openSource());
  await page.load();
  page.build();
  window.dockfmu = scriptOf(page);
  page.draw();
  document.documentElement.dataset.ready = 'true';
  // the first picture is on the screen before three.js keeps the page busy
  await new Promise(resolve => { requestAnimationFrame(() => setTimeout(resolve, 50)); });
  if (page.scene.camera === 'orbit') await page.look('orbit');
  document.documentElement.dataset.settled = 'true';
} catch (error) {
  failed(error);
  throw error;
}
