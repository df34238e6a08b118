// The script interface window.dockfmu (docs/guide/view.md, docs/guide/station.md).

import { byId, letterUnit } from './panes.js';

function contacts(page) {
  const read = name => page.source.held(name, page.time), found = [];
  for (const [element, scene] of Object.entries(page.source.scenes)) {
    for (const shape of scene.shapes) {
      if (shape.shape !== 'contact' || !(read(shape.active.v) > 0)) continue;
      found.push({ element, label: shape.label, position: shape.position.map(part => read(part.v)), force: read(shape.force.v) });
    }
  }
  return found;
}

function drawn(page) {
  const [side, axial] = page.scene.projections.map(projection => ({ scale: projection.scale, items: projection.drawn }));
  const numbers = page.fields.map(field => ({ title: field.group.title, label: field.item.label, variable: field.item.variable?.v, text: field.shown }));
  return { time: page.time, unit: letterUnit(), size: page.scene.size, full: page.scene.full, side, axial, devices: page.devices.drawn, curves: page.curves.drawn, window: page.curves.window, numbers, solid: page.scene.solid?.state() };
}

export function scriptOf(page) {
  return {
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
    view: name => { page.scene.view = byId('view').value = name; page.scene.home(); },
    look: camera => page.scene.look(camera),
    show: switches => page.scene.show(switches),
    other: name => page.source.other ? page.source.other.value(name, page.time) : NaN,
    contacts: () => contacts(page),
    drawn: () => drawn(page),
  };
}
