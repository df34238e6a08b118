// The panes of the scene: two projections or three dimensions, which the pointer moves, turns and zooms.

import { loadThree } from './served.js';
import { fullScale } from './deformation.js';
import { nowhere, Projection, solids, viewpoint } from './projection.js';
import { FIELD, PRESETS, Solid } from './solid.js';

const SMOOTH = 30; // frames per second
export const byId = id => document.getElementById(id);

// Size in CSS pixels of the unit in which canvases are drawn; it grows with the font of the page.
export const letterUnit = () => parseFloat(getComputedStyle(document.body).fontSize) / 13;

// A canvas with the size of its place, in screen pixels.
export class Pane {
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

export class ScenePanes {
  constructor(page) {
    this.page = page;
    this.panes = Object.fromEntries(['side', 'axial'].map(id => [id, new Pane(id)]));
    this.projections = ['side', 'axial'].map(kind => new Projection(this.panes[kind].canvas, kind));
    this.solid = null;
    this.camera = 'side';
    this.opening = null;
    this.view = ''; // the element whose contact is shown, or `craft` for all craft
  }

  // --- drawing --------------------------------------------------------------------------------------------------------

  draw(time) {
    const { page } = this, { source } = page;
    // in the scene of the contact the craft would only be in the way
    const wanted = scene => this.view === 'craft' || scene.view;
    const items = solids(source, time, wanted);
    const others = source.other && time >= source.other.start && time <= source.other.end ? solids(source.other, time, wanted) : undefined;
    const view = viewpoint(source, time, this.view, [...items, ...others ?? []]);
    this.size = view.size;
    this.full = fullScale(source);
    Object.assign(view, { full: this.full, alone: this.camera === 'side' || !this.solid });
    const layers = [{ items, pose: view.pose }], views = [view], lost = nowhere(items);
    if (others) {
      // beneath it, in its own frame of the passive unit
      const second = view.middle ? view : viewpoint(source.other, time, this.view, others);
      layers.unshift({ items: others, pose: second.pose, other: true });
      views.push(second);
    }
    for (const projection of this.projections) {
      const pane = this.panes[projection.kind], [width, height] = pane.fit();
      projection.draw(layers, view, lost, pane.context, width, height);
    }
    if (this.camera === 'side' || !this.solid) return;
    // draw three dimensions in every second frame only where frames take long, and less often in software
    const moving = page.playing || page.following && page.source.running;
    this.rested = moving && !this.rested && page.pictures.length < SMOOTH;
    this.waits = this.rested || !this.solid.due(moving);
    this.solid.unit = letterUnit();
    if (!this.waits) this.solid.draw(views, time, wanted, items);
  }

  // Draw what has waited.
  settle() {
    if (this.waits) this.page.draw();
  }

  // Give the scene in three dimensions its place, before it is loaded.
  reserve() {
    if (!this.page.source.three) return;
    this.camera = byId('camera').value = 'orbit';
    byId('solidpane').hidden = false;
  }

  // Load three.js, once.
  open() {
    this.opening ??= (async () => {
      if (!this.page.source.three) throw new Error('three dimensions need the package jupyter-threejs-sage');
      this.solid = new Solid(byId('solid'), await loadThree(), this.page.source, new Pane('over'));
      this.moveSolid(byId('solid'));
    })().catch(error => { this.opening = null; throw error; });
    return this.opening;
  }

  // Show the side projection, the scene in three dimensions, or the view along x of a frame.
  async look(camera) {
    const [mode] = camera.split(' ', 1), framed = camera.slice(mode.length + 1);
    // names of elements may have spaces
    const aim = Object.entries(this.page.source.scenes).flatMap(([element, scene]) => Object.keys(scene.frames).map(frame => [element, frame]))
      .find(([element, frame]) => `${element} ${frame}` === framed) ?? null;
    if (!['side', 'orbit', 'overview', 'aim'].includes(mode) || (framed || mode === 'aim') && !aim) throw new Error(`there is no camera ${camera}`);
    if (camera !== 'side') await this.open();
    this.camera = byId('camera').value = camera;
    if (this.solid) Object.assign(this.solid, { mode, aim, field: FIELD });
    byId('solidpane').hidden = camera === 'side';
    byId('cross').hidden = !camera.startsWith('aim ');
    this.titles();
    this.page.draw();
  }

  // Set the titles of the two panes to what they show.
  titles() {
    const { view } = this.page.source.scenes[this.view] ?? {}, axis = view ? 'the axis' : 'x';
    const plane = view?.through ? 'plane of the axis and the exit hinge' : 'x to the right, y up';
    byId('sidetitle').textContent = `Side: ${plane}`;
    byId('solidtitle').textContent = byId('camera').selectedOptions[0]?.text ?? '';
    byId('axialtitle').textContent = `Along ${axis}: y up, z to the right`;
  }

  home() {
    for (const projection of this.projections) Object.assign(projection, { zoom: 1, pan: [0, 0] });
    this.titles();
    this.page.draw();
  }

  // --- pointer --------------------------------------------------------------------------------------------------------

  listen() {
    for (const projection of this.projections) this.moveProjection(projection);
    byId('section').onclick = () => this.show({ section: !this.solid?.section });
    byId('names').onclick = () => this.show({ named: !this.solid?.named });
    byId('ground').onchange = event => { event.target.blur(); this.show({ ground: event.target.value }); };
    const button = (text, title, onclick) => Object.assign(document.createElement('button'), { textContent: text, title, onclick });
    byId('presets').replaceChildren(
      ...Object.keys(PRESETS).map((name, k) => button(name, `camera ${name} (${k + 1})`, () => this.preset(k))),
      button('all', 'all that is drawn (5)', () => this.preset(4)), button('follow', 'follow the active unit (6)', () => this.preset(5)));
  }

  // Set switches of the scene in three dimensions: section, named, ground.
  show(switches) {
    if (!this.solid) return;
    Object.assign(this.solid, switches);
    byId('section').setAttribute('aria-pressed', String(this.solid.section));
    byId('names').setAttribute('aria-pressed', String(this.solid.named));
    byId('ground').value = this.solid.ground;
    this.page.draw();
  }

  // One of the cameras of the buttons, by number.
  async preset(number) {
    const turned = Object.values(PRESETS)[number];
    const follow = () => {
      const { element, frame } = this.followed();
      return element ? `orbit ${element} ${frame}` : 'orbit';
    };
    await this.page.look(turned ? 'orbit' : number === 4 ? 'overview' : follow());
    if (!this.solid) return;
    const [azimuth, elevation] = turned ?? PRESETS['3/4'];
    Object.assign(this.solid, { azimuth, elevation });
    this.page.draw();
  }

  // The frame that moves most in the scene shown: that of the first part that can touch, else the first labelled one.
  followed() {
    const { scenes } = this.page.source, elements = scenes[this.view] ? [this.view] : Object.keys(scenes);
    for (const element of elements) {
      const { shapes, frames } = scenes[element], labelled = name => frames[name]?.label;
      const frame = shapes.find(shape => shape.lit !== undefined && shape.style !== 'passive' && labelled(shape.frame))?.frame ?? Object.keys(frames).find(labelled);
      if (frame) return { element, frame };
    }
    return {};
  }

  // Zoom both projections, one of them about the pointer: `place` is relative to the middle of its canvas.
  zoom(factor, pointed, place = [0, 0]) {
    for (const projection of this.projections) {
      const zoom = Math.min(Math.max(projection.zoom * factor, 0.02), 200), by = zoom / projection.zoom;
      const fixed = projection === pointed ? place : [0, 0];
      projection.pan = projection.pan.map((shift, k) => fixed[k] - (fixed[k] - shift) * by);
      projection.zoom = zoom;
    }
    this.page.redraw();
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
      this.page.redraw();
    });
  }

  moveSolid(canvas) {
    canvas.addEventListener('wheel', event => { event.preventDefault(); this.solid.zoom(Math.exp(-event.deltaY / 400)); this.page.redraw(); }, { passive: false });
    canvas.addEventListener('pointerdown', event => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener('pointermove', event => {
      if (!canvas.hasPointerCapture(event.pointerId)) return;
      this.solid.turn(event.movementX / 150, event.movementY / 150);
      this.page.redraw();
    });
  }
}
