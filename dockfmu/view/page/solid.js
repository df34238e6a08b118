// The scene in three dimensions, with three.js, which is loaded when it is first needed.

import { arrowText, evaluate, firstName, forceText } from './source.js';
import { pointBetween, poses, IDENTITY } from './frames.js';
import { geometry, PLAIN } from './geometry.js';
import { COLOURS, outline } from './projection.js';
import { Bodies, normalOf, PAINTS } from './bodies.js';
import { Over } from './over.js';

export const FIELD = 40; // degrees, of the camera from top to bottom
const OVERVIEW = [-0.75, 0.4, 0.55]; // direction from the middle of all craft to the overview camera
const RESTED_MS = 100; // between two pictures while it plays, where the browser renders three dimensions in software
const STARS = 700;
const SEEN = 20; // length of an axis in the picture that gets its name, in units

// Cameras that turn about the middle, by the names of their buttons: azimuth and elevation, rad.
export const PRESETS = { '3/4': [-0.6, 0.35], side: [0, 0], axis: [-Math.PI / 2, 0], top: [0, 1.5] };

// One canvas with one camera: it turns around the origin of the scene or of a frame, looks along x of a frame, or stands
// back and shows all craft. A second recording is drawn in violet, its passive unit on that of the first.
export class Solid {
  constructor(canvas, three, source, over) {
    Object.assign(this, { canvas, three, source, azimuth: PRESETS['3/4'][0], elevation: PRESETS['3/4'][1], distance: 3.2, target: [0.2, 0, 0], mode: 'orbit', aim: null, field: FIELD });
    Object.assign(this, { section: true, named: true, ground: '', pictured: 0 });
    this.software = /SwiftShader|llvmpipe/.test(rasteriser(canvas));
    this.smooth = !this.software || ['#picture', '#page'].includes(location.hash);
    this.renderer = new three.WebGLRenderer({ canvas, antialias: this.smooth, alpha: true });
    this.renderer.localClippingEnabled = true;
    this.renderer.shadowMap.enabled = true;
    this.camera = new three.PerspectiveCamera(FIELD, 1, 0.01, 2000);
    this.camera.up.set(0, 1, 0);
    this.world = new three.Scene();
    this.lights();
    this.bodies = [];
    this.drawn = [];
    this.maker = new Bodies(three);
    this.over = new Over(over);
    this.layers = [source, source.other].filter(Boolean).map((recording, k) => ({ source: recording, other: k > 0, root: new three.Group() }));
    for (const layer of this.layers) {
      layer.root.matrixAutoUpdate = false;
      this.world.add(layer.root);
      Object.entries(layer.source.scenes).forEach(([element, scene], number) => {
        for (const shape of scene.shapes) this.bodies.push({ element, scene, shape, layer, number, object: null, clip: this.plane(element, scene) });
      });
    }
  }

  lights() {
    const { three, world } = this, rim = new three.DirectionalLight(0x9fc4ff, 0.3);
    world.add(new three.HemisphereLight(0xdfe8ff, 0x3a4152, 0.6));
    this.light = new three.DirectionalLight(0xfff4e4, 0.55);
    rim.position.set(3, 1, -3);
    world.add(this.light, this.light.target, rim);
    this.light.shadow.mapSize.set(2048, 2048);
  }

  // The plane through the axis of a passive unit: what lies on the side of the camera is cut away.
  plane(element, scene) {
    if (!scene.view) return null;
    this.cuts ??= new Map();
    if (!this.cuts.has(element)) this.cuts.set(element, new this.three.Plane());
    return this.cuts.get(element);
  }

  matrix(pose) {
    const { three } = this, [w, x, y, z] = pose.quaternion;
    return new three.Matrix4().compose(new three.Vector3(...pose.position), new three.Quaternion(x, y, z, w), new three.Vector3(1, 1, 1));
  }

  // Whether a picture is due: software takes long for one, and the rest of the page goes on.
  due(moving) {
    const now = performance.now();
    if (moving && this.software && now - this.pictured < RESTED_MS) return false;
    this.pictured = now;
    return true;
  }

  // `views` are the viewpoints of the recordings.
  draw(views, t, wanted, items) {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (!width || !height) return;
    this.layers.forEach((layer, k) => {
      layer.view = views[k];
      layer.root.visible = Boolean(layer.view);
      layer.placed = new Map();
      if (layer.view) for (const [element, scene] of Object.entries(layer.source.scenes)) layer.placed.set(element, poses(scene, layer.source, t));
    });
    this.look(width / height, items);
    this.cut();
    this.floor(items);
    const seen = [], labels = [];
    for (const body of this.bodies) if (body.layer.view) this.body(body, t, wanted, seen);
    const ratio = window.devicePixelRatio || 1;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.renderer.render(this.world, this.camera);
    const { unit } = this, project = (body, point) => this.project(body, point, width, height);
    this.drawn = seen.filter(({ made }) => made.circle || made.dot).map(({ body, made, lit }) => {
      const [x, y] = project(body, made.circle?.centre ?? made.dot);
      return { element: body.element, label: body.shape.label ?? '', kind: body.shape.shape, lit, other: body.layer.other, centre: [x, y] };
    });
    if (this.named) {
      const titled = new Set();
      for (const entry of seen) if (!entry.body.layer.other) this.name(entry, titled, labels, point => project(entry.body, point));
    }
    const scaled = label => ({ ...label, at: label.at.map(x => x / unit) });
    this.over.draw(this.named, labels.filter(({ at }) => at[2] < 1 && at[0] > 0 && at[0] < width && at[1] > 0 && at[1] < height).map(scaled),
      this.directions(), height / unit / (2 * this.away * Math.tan(this.camera.fov * Math.PI / 360)), seen.some(({ made }) => made.wire) ? views[0].full : 0, this.caption(t));
  }

  // Title, time and last event, where the scene alone is shown.
  caption(t) {
    const { source } = this;
    if (document.documentElement.dataset.picture === undefined) return [];
    const last = [...source.events].filter(event => event.t <= t).sort((a, b) => a.t - b.t).at(-1);
    return [source.title, `t = ${t.toFixed(3)} s`, ...last ? [last.name.replaceAll('_', ' ')] : []];
  }

  // Place in the canvas of a point of the frame of a body, and its depth: beyond 1 it is not seen.
  project(body, point, width, height) {
    const found = new this.three.Vector3(...point).applyMatrix4(body.object.matrix).applyMatrix4(body.layer.root.matrix).project(this.camera);
    return [(found.x + 1) / 2 * width, (1 - found.y) / 2 * height, found.z];
  }

  // Directions in the picture of x, y and z of the frame of the scene.
  directions() {
    const { three } = this, [{ root, view }] = this.layers, whole = root.matrix.clone().multiply(this.matrix(view.pose));
    return [0, 1, 2].map(axis => {
      const way = new three.Vector3(...[0, 1, 2].map(k => k === axis ? 1 : 0)).transformDirection(whole).transformDirection(this.camera.matrixWorldInverse);
      return [way.x, way.y, way.z];
    });
  }

  // Labels of a shape: craft by their names, points, numbers of contacts and arrows, axes of frames.
  name({ body, made, end, quantities }, titled, labels, project) {
    const { shape, element } = body, put = (text, point, rank, colour) => labels.push({ text, at: project(point), rank, colour });
    if (shape.shape === 'contact') put(forceText(quantities.force), end, 0, COLOURS.contact);
    else if (shape.shape === 'arrow' && end) put(`${shape.label ?? ''} ${arrowText(body.layer.source, shape, made.lines[0])}`.trim(), end, 1, COLOURS.arrow);
    else if (made.box || made.triangles || made.cylinder) {
      if (!titled.has(element)) put(shape.label && shape.label !== element ? `${element}: ${shape.label}` : element, made.box?.centre ?? made.cylinder?.centre ?? [0, 0, 0], 2);
      titled.add(element);
    } else if (shape.shape === 'triad') {
      made.lines.forEach(([from, to], k) => {
        const [x, y] = project(from), [u, v] = project(to);
        if (Math.hypot(u - x, v - y) > SEEN * this.unit) put('xyz'[k], to, 5, COLOURS.thin);
      });
    } else if (shape.shape === 'revolution' && shape.label) put(shape.label, [quantities.x[0], -0.75 * quantities.r[0], -0.6 * quantities.r[0]], 4, COLOURS.passive);
    else if (shape.label && (made.dot || made.circle)) put(shape.label, made.dot ?? made.circle.centre, 3);
    else if (shape.label && (shape.shape === 'rod' || shape.shape === 'polyline')) put(shape.label, [0, 1, 2].map(k => (made.lines[0][0][k] + made.lines[0][1][k]) / 2), 4);
  }

  // Update one shape to its state at t, or hide it.
  body(body, t, wanted, seen) {
    const { shape, scene, layer } = body, { source, placed } = layer, contact = shape.shape === 'contact';
    const read = name => source.value(name, t), held = name => source.held(name, t);
    const visible = wanted(scene) && !(shape.shown !== undefined && !(evaluate(shape.shown, held) > 0))
      && !(contact && !(evaluate(shape.active, held) > 0));
    if (body.object) body.object.visible = visible;
    if (!visible) return;
    const quantities = {};
    for (const [key, quantity] of Object.entries(shape)) {
      if (!PLAIN.has(key)) quantities[key] = evaluate(quantity, contact ? held : read);
    }
    if (shape.to_frame) quantities.to = pointBetween(placed.get(body.element), shape, quantities.to);
    const made = geometry(shape, quantities);
    if (!body.object) {
      body.object = this.maker.make(shape, made, quantities, { other: layer.other, number: body.number, clip: body.clip });
      layer.root.add(body.object);
    }
    const end = this.maker.place(body.object, shape, made, quantities, layer.view, contact ? this.surface(body, made.dot) : undefined);
    const pose = placed.get(body.element)[shape.frame] ?? IDENTITY;
    body.object.matrix.copy(this.matrix(pose));
    if (body.object.userData.clear) this.clear(body.object.children[0].material);
    const flags = shape.lit === undefined ? [] : [shape.lit].flat(), lit = flags.some(flag => evaluate(flag, held) > 0);
    if (flags.length && body.lit !== lit && !layer.other) {
      body.lit = lit;
      body.object.traverse(part => part.material?.color.set(lit ? PAINTS.lit : PAINTS.free));
    }
    seen.push({ body, made, end, quantities, lit: flags.length ? lit : undefined });
  }

  // The normal of the surface of revolution on which a contact lies, and the largest force of the run.
  surface(body, point) {
    const { scene, shape, layer } = body, face = scene.shapes.find(other => other.shape === 'revolution' && other.frame === shape.frame);
    const name = firstName(shape.force), fixed = face && !firstName([face.x, face.r, face.count ?? 1]);
    const largest = layer.source.columns.has(name) ? Math.max(...layer.source.range(name).map(Math.abs)) : 0;
    const profile = fixed ? { x: evaluate(face.x), r: evaluate(face.r), count: face.count } : undefined;
    return { largest, normal: profile && normalOf(profile, point) };
  }

  // A passive unit is either cut open or clear.
  clear(material) {
    const clear = !this.section || this.mode === 'aim';
    if (material.transparent === clear) return;
    Object.assign(material, { transparent: clear, opacity: clear ? 0.3 : 1, depthWrite: !clear, needsUpdate: true });
  }

  // Place the planes of section in the picture: they turn with the passive unit.
  cut() {
    const { three } = this, [{ root, placed }] = this.layers, open = this.section && this.mode !== 'aim';
    for (const [element, plane] of this.cuts ?? []) {
      const { frame } = this.source.scenes[element].view, pose = placed.get(element)?.[frame] ?? IDENTITY;
      plane.setComponents(0, 0, -1, open ? 0 : 1e6);
      if (open) plane.applyMatrix4(new three.Matrix4().multiplyMatrices(root.matrix, this.matrix(pose)));
      // three.js takes a first number that is none for an object
      if (![...plane.normal.toArray(), plane.constant].every(Number.isFinite)) plane.setComponents(0, 0, -1, 1e6);
    }
  }

  // The ground below all that is drawn, with its shadow, or stars around it.
  floor(items) {
    const { three, ground, world } = this, [{ root, view }] = this.layers;
    if (ground && !this.grounds) {
      const grid = new three.GridHelper(40, 40, 0x4a5878, 0x2b3550), shade = new three.Mesh(new three.PlaneGeometry(40, 40).rotateX(-Math.PI / 2), new three.ShadowMaterial({ opacity: 0.45 }));
      const sky = new three.BufferGeometry();
      let seed = 7;
      const random = () => { seed = (16807 * seed) % 2147483647; return seed / 2147483647 - 0.5; };
      sky.setFromPoints(Array.from({ length: STARS }, () => new three.Vector3(random(), random(), random()).normalize().multiplyScalar(900)));
      const stars = new three.Points(sky, new three.PointsMaterial({ color: 0xc8d4f0, size: 1.6, sizeAttenuation: false }));
      shade.receiveShadow = true;
      this.grounds = { floor: new three.Group().add(grid, shade), stars };
      world.add(this.grounds.floor, stars);
    }
    const size = view.size, { light } = this;
    light.position.set(-2 * size, 4 * size, 3 * size);
    light.castShadow = ground === 'floor';
    if (!this.grounds) return;
    this.grounds.floor.visible = ground === 'floor';
    this.grounds.stars.visible = ground === 'stars';
    if (ground !== 'floor') return;
    const low = Math.min(...outline(items).map(point => new three.Vector3(...point).applyMatrix4(root.matrix).y), 0);
    this.grounds.floor.position.y = low - 0.12 * size;
    this.grounds.floor.scale.setScalar(size / 4);
    Object.assign(light.shadow.camera, { left: -2.2 * size, right: 2.2 * size, top: 2.2 * size, bottom: -2.2 * size, near: 0.1 * size, far: 12 * size });
    // without these, faces shade themselves in stripes
    Object.assign(light.shadow, { bias: -0.001, normalBias: 0.004 * size });
    light.shadow.camera.updateProjectionMatrix();
  }

  // Place the camera, and the recordings relative to it.
  look(aspect, items) {
    const { camera, aim, mode } = this, [first, ...others] = this.layers, { view } = first;
    const framed = aim && first.placed.get(aim[0])?.[aim[1]], aimed = mode === 'aim' && framed;
    const centre = framed ? (aimed ? framed : { position: framed.position, quaternion: view.pose.quaternion }) : view.pose;
    const inverse = this.matrix(centre).invert();
    first.root.matrix.copy(inverse);
    // the second one is placed with its passive unit on that of the first
    for (const layer of others) {
      if (!layer.view) continue;
      layer.root.matrix.copy(inverse).multiply(this.matrix(view.pose)).multiply(this.matrix(layer.view.pose).invert());
    }
    const size = view.size;
    this.away = this.distance * size;
    camera.fov = this.field;
    camera.near = aimed ? 0.02 : 0.01 * this.distance * size;
    camera.far = 2000;
    if (aimed) {
      camera.position.set(-0.001, 0, 0);
      camera.lookAt(1, 0, 0);
    } else if (mode === 'overview') {
      this.overlook(inverse, aspect, items);
    } else {
      const middle = view.middle || framed ? [0, 0, 0] : this.target.map(x => x * size / 0.55), c = Math.cos(this.elevation);
      camera.position.set(
        middle[0] + this.distance * size * c * Math.sin(this.azimuth),
        middle[1] + this.distance * size * Math.sin(this.elevation),
        middle[2] + this.distance * size * c * Math.cos(this.azimuth));
      camera.lookAt(...middle);
    }
  }

  // Place the overview camera as near as possible with all that is drawn in view.
  overlook(inverse, aspect, items) {
    const { three, camera } = this, points = outline(items).map(point => new three.Vector3(...point).applyMatrix4(inverse));
    const middle = new three.Box3().setFromPoints(points).getCenter(new three.Vector3());
    const back = new three.Vector3(...OVERVIEW).normalize(), right = new three.Vector3(0, 1, 0).cross(back).normalize(), up = back.clone().cross(right);
    const tall = 0.87 * Math.tan(camera.fov * Math.PI / 360);
    let away = 0.5;
    for (const point of points) {
      point.sub(middle);
      away = Math.max(away, point.dot(back) + Math.max(Math.abs(point.dot(up)) / tall, Math.abs(point.dot(right)) / (tall * aspect)));
    }
    camera.position.copy(middle).addScaledVector(back, away);
    camera.lookAt(middle);
    camera.near = 0.01 * away;
    this.away = away;
  }

  state() {
    return { ready: true, section: this.section, ground: this.ground, texts: this.over.texts, deformation: this.over.scale, azimuth: this.azimuth, elevation: this.elevation, distance: this.distance, target: this.target, mode: this.mode, position: this.camera.position.toArray(), field: this.field, items: this.drawn };
  }

  turn(x, y) {
    this.azimuth -= x;
    this.elevation = Math.min(Math.max(this.elevation + y, -1.5), 1.5);
  }

  zoom(factor) {
    if (this.mode !== 'orbit') this.field = Math.min(Math.max(this.field / factor, 3), 90);
    else this.distance = Math.min(Math.max(this.distance / factor, 0.2), 60);
  }
}

// Name of the renderer behind WebGL: without a graphics card, smooth edges cost too much.
function rasteriser(canvas) {
  const probe = canvas.ownerDocument.createElement('canvas').getContext('webgl');
  const info = probe?.getExtension('WEBGL_debug_renderer_info');
  return info ? String(probe.getParameter(info.UNMASKED_RENDERER_WEBGL)) : '';
}
