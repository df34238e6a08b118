// The scene in three dimensions, with three.js, which is loaded when it is first needed.

import { evaluate } from './source.js';
import { pointBetween, poses, IDENTITY } from './frames.js';
import { geometry } from './geometry.js';
import { outline } from './projection.js';

const PAINTS = { free: 0x3fbf6f, lit: 0xff5a4f, passive: 0x8fb0e0, line: 0xc9d4e6, thin: 0x8793ad, contact: 0xff5a4f, arrow: 0xffb347, other: 0xe58cff };
const PLAIN = new Set(['shape', 'frame', 'to_frame', 'label', 'lit', 'style', 'shown', 'kept']);
export const FIELD = 40; // degrees, of the camera from top to bottom
const THICKEST = 0.1; // m, radius of rods: that of a link of an arm
const OVERVIEW = [-0.75, 0.4, 0.55]; // direction from the middle of all craft to the overview camera

// One canvas with one camera: it turns around the origin of the scene or of a frame, looks along x of a frame, or stands
// back and shows all craft. A second recording is drawn in violet, its passive unit on that of the first.
export class Solid {
  constructor(canvas, three, source) {
    Object.assign(this, { canvas, three, source, azimuth: -0.6, elevation: 0.35, distance: 3.2, target: [0.2, 0, 0], mode: 'orbit', aim: null, field: FIELD });
    this.renderer = new three.WebGLRenderer({ canvas, antialias: !/SwiftShader|llvmpipe/.test(rasteriser(canvas)), alpha: true });
    this.camera = new three.PerspectiveCamera(FIELD, 1, 0.01, 2000);
    this.camera.up.set(0, 1, 0);
    this.world = new three.Scene();
    this.world.add(new three.AmbientLight(0xffffff, 0.55));
    const light = new three.DirectionalLight(0xffffff, 0.6);
    light.position.set(-2, 3, 2);
    this.world.add(light);
    this.bodies = [];
    this.drawn = [];
    this.layers = [source, source.other].filter(Boolean).map((recording, k) => ({ source: recording, other: k > 0, root: new three.Group() }));
    for (const layer of this.layers) {
      layer.root.matrixAutoUpdate = false;
      this.world.add(layer.root);
      for (const [element, scene] of Object.entries(layer.source.scenes)) {
        for (const shape of scene.shapes) this.bodies.push({ element, scene, shape, layer, object: null });
      }
    }
  }

  material(paint, clear) {
    const { three } = this;
    return clear
      ? new three.MeshLambertMaterial({ color: paint, transparent: true, opacity: 0.28, side: three.DoubleSide, depthWrite: false })
      : new three.MeshLambertMaterial({ color: paint });
  }

  // Make the object of a shape, of unit size where its size may change.
  make({ shape, layer }, made, quantities) {
    const { three } = this, group = new three.Group(), paint = PAINTS[layer.other ? 'other' : shape.style ?? 'line'];
    const line = points => new three.Line(
      new three.BufferGeometry().setFromPoints(points.map(point => new three.Vector3(...point))),
      new three.LineBasicMaterial({ color: paint }));
    if (shape.shape === 'revolution') {
      const count = Math.round(quantities.count ?? quantities.x.length);
      const profile = Array.from({ length: count }, (_, k) => new three.Vector2(quantities.r[k], quantities.x[k]));
      const lathe = new three.LatheGeometry(profile, 40);
      lathe.rotateZ(-Math.PI / 2); // from about y to about x
      group.add(new three.Mesh(lathe, this.material(paint, true)));
      made.lines.slice(0, -8).forEach(ring => group.add(line(ring)));
    } else if (made.circle || made.dot) {
      group.add(new three.Mesh(new three.SphereGeometry(1, 20, 14), this.material(shape.shape === 'contact' && !layer.other ? PAINTS.contact : paint)));
      // contacts stay visible through what hides them
      if (shape.shape === 'contact') Object.assign(group.children[0].material, { depthTest: false, transparent: true });
    } else if (shape.shape === 'polyline' || shape.shape === 'rod') {
      for (let k = 1; k < made.lines[0].length; k++) {
        const rod = new three.CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0);
        group.add(new three.Mesh(rod, this.material(paint)));
      }
    } else if (shape.shape === 'arrow') {
      group.add(new three.ArrowHelper(new three.Vector3(1, 0, 0), new three.Vector3(), 1, layer.other ? PAINTS.other : PAINTS.arrow));
    } else if (shape.shape === 'triad') {
      group.add(new three.AxesHelper(quantities.length));
    } else {
      made.lines.forEach(points => group.add(line(points)));
    }
    group.matrixAutoUpdate = false;
    layer.root.add(group);
    return group;
  }

  // Update an object to the present geometry of its shape.
  place(body, made, view) {
    const { object, shape } = body, { three } = this;
    if (made.circle || made.dot) {
      const ball = object.children[0];
      ball.position.set(...(made.circle?.centre ?? made.dot));
      ball.scale.setScalar(made.circle ? made.circle.radius : (shape.shape === 'contact' ? 0.018 : 0.01) * view.size);
    } else if (shape.shape === 'polyline' || shape.shape === 'rod') {
      made.lines[0].slice(1).forEach((end, k) => {
        const from = new three.Vector3(...made.lines[0][k]), way = new three.Vector3(...end).sub(from), rod = object.children[k];
        rod.position.copy(from);
        const thick = Math.min(0.014 * view.size, THICKEST);
        rod.scale.set(thick, way.length(), thick);
        rod.quaternion.setFromUnitVectors(new three.Vector3(0, 1, 0), way.normalize());
      });
    } else if (shape.shape === 'arrow') {
      const [from, to] = made.lines[0].map(point => new three.Vector3(...point)), way = to.sub(from), length = way.length();
      object.children[0].visible = length > 1e-4;
      if (length > 1e-4) {
        object.children[0].position.copy(from);
        object.children[0].setDirection(way.normalize());
        object.children[0].setLength(length, Math.min(0.06, 0.3 * length), Math.min(0.03, 0.15 * length));
      }
    }
  }

  matrix(pose) {
    const { three } = this, [w, x, y, z] = pose.quaternion;
    return new three.Matrix4().compose(new three.Vector3(...pose.position), new three.Quaternion(x, y, z, w), new three.Vector3(1, 1, 1));
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
    const seen = [];
    for (const body of this.bodies) if (body.layer.view) this.body(body, t, wanted, seen);
    const ratio = window.devicePixelRatio || 1;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.renderer.render(this.world, this.camera);
    this.drawn = seen.filter(({ made }) => made.circle || made.dot).map(({ body, made, lit }) => {
      const point = new this.three.Vector3(...(made.circle?.centre ?? made.dot));
      point.applyMatrix4(body.object.matrix).applyMatrix4(body.layer.root.matrix).project(this.camera);
      return { element: body.element, label: body.shape.label ?? '', kind: body.shape.shape, lit, other: body.layer.other,
        centre: [(point.x + 1) / 2 * width, (1 - point.y) / 2 * height] };
    });
  }

  // Update one shape to its state at t, or hide it.
  body(body, t, wanted, seen) {
    const { shape, scene, layer } = body, { source, placed } = layer, [row] = source.place(t), contact = shape.shape === 'contact';
    const read = name => source.value(name, t), held = name => source.columns.get(name)?.[row] ?? NaN;
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
    body.object ??= this.make(body, made, quantities);
    this.place(body, made, layer.view);
    const pose = placed.get(body.element)[shape.frame] ?? IDENTITY;
    body.object.matrix.copy(this.matrix(pose));
    const flags = shape.lit === undefined ? [] : [shape.lit].flat(), lit = flags.some(flag => evaluate(flag, held) > 0);
    if (flags.length && body.lit !== lit && !layer.other) {
      body.lit = lit;
      body.object.traverse(part => part.material?.color.set(lit ? PAINTS.lit : PAINTS.free));
    }
    seen.push({ body, made, lit: flags.length ? lit : undefined });
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
  }

  state() {
    return { azimuth: this.azimuth, elevation: this.elevation, distance: this.distance, target: this.target, mode: this.mode, position: this.camera.position.toArray(), field: this.field, items: this.drawn };
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
