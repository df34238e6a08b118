// The operator's station: hand controllers by gamepad, keyboard or pointer, manual commands, pause, speed, end.

const AXES = ['x', 'y', 'z', 'roll', 'pitch', 'yaw'];
const NAMES = { x: 'forward / back', y: 'up / down', z: 'right / left', roll: 'roll', pitch: 'pitch', yaw: 'yaw' };
const EVERY_MS = 20; // between two messages while sticks are deflected
const DEAD_ZONE = 0.08, STEPS = 20; // of a deflection: the part that is ignored, and its resolution
const SURE_MS = [500, 5000]; // between the two clicks that end a run: more than a double click, less than a mistake of later
const SPEEDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

// Two keys of each axis, by their place on the keyboard: towards plus, towards minus.
const KEYS = {
  x: ['KeyW', 'KeyS'], y: ['KeyR', 'KeyF'], z: ['KeyD', 'KeyA'],
  roll: ['KeyO', 'KeyU'], pitch: ['KeyI', 'KeyK'], yaw: ['KeyJ', 'KeyL'],
};
// Axes of a gamepad of the standard layout, with the sign; buttons give x and roll.
const PAD = { z: [0, 1], y: [1, -1], yaw: [2, -1], pitch: [3, -1] };
const PAD_BUTTONS = { x: [7, 6], roll: [5, 4] };

const make = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

const settled = value => {
  const size = Math.abs(value) < DEAD_ZONE ? 0 : (Math.abs(value) - DEAD_ZONE) / (1 - DEAD_ZONE);
  return Math.sign(value) * Math.round(Math.min(size, 1) * STEPS) / STEPS;
};

export class Station {
  constructor(source) {
    this.source = source;
    this.mine = false;
    this.keys = new Set();
    this.pointer = {}; // deflections of the sticks on the page, by axis
    this.script = {}; // deflections set by a script, by axis
    this.sent = new Map();
    this.last = 0;
    this.state = { hold: false, speed: 1, operator: '' };
    this.controls = source.controls.map((control, number) => ({ ...control, number }));
    this.elements = [...new Set(this.controls.filter(c => c.control === 'stick').map(c => c.element))];
    this.element = this.elements[0];
  }

  // Choices and numbers, which keep their values; the page shows these.
  get staying() {
    return this.controls.filter(({ control }) => control === 'choice' || control === 'number');
  }

  get names() {
    return this.staying.map(({ variable }) => variable);
  }

  // --- building -------------------------------------------------------------------------------------------------------

  attach(place) {
    this.place = place;
    place.hidden = false;
    this.take = make('button', { id: 'take', onclick: () => this.source.say({ take: !this.mine }) }, 'take the controls');
    this.hold = make('button', { id: 'hold', title: 'the run waits', onclick: () => this.source.say({ hold: !this.state.hold }) }, 'hold');
    this.pace = make('select', { id: 'pace', ariaLabel: 'speed of the run' }, ...SPEEDS.map(s => new Option(`${s} × real time`, s)));
    this.pace.onchange = () => { this.source.say({ speed: Number(this.pace.value) }); this.pace.blur(); };
    this.end = make('button', { id: 'endrun', className: 'danger', onclick: () => this.endRun() }, 'end run');
    this.who = make('span', { id: 'who', role: 'status' });
    const above = make('div', { className: 'row' }, this.take, this.hold, this.pace, this.end);
    place.append(above);
    if (this.elements.length > 1) {
      const chosen = make('select', { id: 'flown', ariaLabel: 'what the hand controllers move' }, ...this.elements.map(e => new Option(e, e)));
      chosen.onchange = () => { this.centre(); this.element = chosen.value; chosen.blur(); };
      above.append(make('label', {}, 'sticks move ', chosen));
    }
    above.append(this.who);
    const below = make('div', { className: 'below' });
    place.append(below);
    this.sticks = {};
    if (this.elements.length) below.append(this.stick('translation', 'z', 'y', 'x'), this.stick('rotation', 'yaw', 'pitch', 'roll'));
    // buttons first, so that an abort is always in sight
    const commands = this.controls.filter(c => c.control !== 'stick'), isButton = c => c.control === 'button';
    const buttons = make('div', { className: 'row' }, ...commands.filter(isButton).map(c => this.manual(c)));
    below.append(make('div', { className: 'manual' }, buttons, ...commands.filter(c => !isButton(c)).map(c => this.manual(c))));
    this.listen();
    this.told({ state: this.source.operated ?? this.state, taken: this.source.taken });
    setInterval(() => this.tick(), EVERY_MS);
  }

  // A pad for two axes and a slider for the third one.
  stick(title, across, up, along) {
    const knob = make('i'), pad = make('div', { className: 'pad', tabIndex: 0, title: `${NAMES[across]}, ${NAMES[up]}` }, knob);
    pad.setAttribute('role', 'application');
    pad.setAttribute('aria-label', `${title}: ${NAMES[across]}, ${NAMES[up]}`);
    // yaw is positive to the left
    const sign = across === 'yaw' ? -1 : 1;
    const move = event => {
      const box = pad.getBoundingClientRect(), half = box.width / 2;
      this.pointer[across] = sign * Math.max(-1, Math.min(1, (event.clientX - box.left - half) / half));
      this.pointer[up] = Math.max(-1, Math.min(1, (half - (event.clientY - box.top)) / half));
    };
    const leave = () => { this.pointer[across] = this.pointer[up] = 0; };
    pad.addEventListener('pointerdown', event => { pad.setPointerCapture(event.pointerId); move(event); });
    pad.addEventListener('pointermove', event => { if (pad.hasPointerCapture(event.pointerId)) move(event); });
    for (const name of ['pointerup', 'pointercancel', 'lostpointercapture']) pad.addEventListener(name, leave);
    const slider = make('input', { type: 'range', min: -1, max: 1, step: 0.05, value: 0, title: NAMES[along], ariaLabel: `${title}: ${NAMES[along]}` });
    slider.oninput = () => { this.pointer[along] = Number(slider.value); };
    const back = () => { this.pointer[along] = 0; slider.value = 0; };
    for (const name of ['pointerup', 'pointercancel', 'blur']) slider.addEventListener(name, back);
    this.sticks[title] = { knob, slider, across, up, along, sign };
    return make('div', { className: 'stick' }, make('b', {}, title), pad, make('label', {}, NAMES[along], slider));
  }

  // Text of a value of a choice: the name of the item of an enumeration, or the number, with its sign if there are both.
  option(control, value) {
    const items = this.source.known.get(control.variable)?.items;
    if (items?.[value]) return `${items[value]}`.toUpperCase();
    return value > 0 && control.values.some(other => other < 0) ? `+${value}` : `${value}`;
  }

  manual(control) {
    // name the element only where several have commands
    const several = new Set(this.controls.filter(c => c.control !== 'stick').map(c => c.element)).size > 1;
    const name = several ? `${control.element}: ${control.label}` : control.label;
    if (control.control === 'button') {
      const button = make('button', { title: control.variable, className: control.label === 'abort' ? 'danger' : '' }, name);
      button.onpointerdown = () => this.press(control, 1);
      for (const leave of ['pointerup', 'pointerleave', 'pointercancel', 'blur']) button.addEventListener(leave, () => this.press(control, 0));
      button.onkeydown = event => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); this.press(control, 1); } };
      button.onkeyup = () => this.press(control, 0);
      control.shown = button;
      return button;
    }
    if (control.control === 'number') {
      const field = make('input', { type: 'number', step: 'any', ariaLabel: name, title: control.variable });
      field.onchange = () => {
        if (Number.isFinite(field.valueAsNumber)) this.press(control, field.valueAsNumber);
        else control.recorded = undefined;
      };
      control.shown = field;
      return make('label', {}, `${name} `, field);
    }
    const chosen = make('select', { ariaLabel: name, title: control.variable }, ...control.values.map(v => new Option(this.option(control, v), v)));
    chosen.selectedIndex = -1;
    chosen.onchange = () => { this.press(control, Number(chosen.value)); chosen.blur(); };
    control.shown = chosen;
    return make('label', {}, `${name} `, chosen);
  }

  // --- state ----------------------------------------------------------------------------------------------------------

  told(message) {
    if (message.state) {
      this.state = message.state;
      const mine = message.state.operator === 'you';
      if (mine !== this.mine) { this.sent.clear(); this.refusal = ''; }
      this.mine = mine;
    }
    if (message.refused) this.refusal = message.refused;
    // which value was refused is not known: all fields return to what the run has, recorded or accepted
    const stale = this.staying.filter(({ variable }) => message.refused || variable === message.withdrawn);
    for (const control of stale) {
      control.recorded = undefined;
      this.sent.delete(control.number);
    }
    this.show();
    this.refresh();
    const taken = message.refused ? this.source.taken : message.taken ?? {};
    for (const control of this.staying) if (control.variable in taken) this.put(control, taken[control.variable]);
  }

  put({ shown }, value) {
    // seven digits: columns have single precision
    if (document.activeElement !== shown) shown.value = String(Number(value.toPrecision(7)));
  }

  // Show the newest recorded values of choices and numbers, but not over what an operator types or has just sent: a
  // field changes when its recorded value does.
  refresh() {
    for (const control of this.staying) {
      const value = this.source.columns.get(control.variable)?.at(-1);
      if (value === undefined || value === control.recorded || document.activeElement === control.shown) continue;
      control.recorded = value;
      this.put(control, value);
    }
  }

  show() {
    const { running } = this.source, { hold, speed, operator } = this.state;
    this.take.textContent = this.mine ? 'give the controls back' : 'take the controls';
    this.take.disabled = !running || operator === 'other';
    for (const part of [this.hold, this.pace, this.end]) part.disabled = !running || !this.mine;
    for (const { shown } of this.controls) if (shown) shown.disabled = !running || !this.mine;
    this.hold.textContent = hold ? 'resume' : 'hold';
    const sure = this.asked !== undefined && running && this.mine;
    this.end.textContent = sure ? 'really end?' : 'end run';
    // a speed that a script has chosen
    if (![...this.pace.options].some(option => Number(option.value) === speed)) this.pace.append(new Option(`${speed} × real time`, speed));
    this.pace.value = String(speed);
    const who = this.source.outcome === 'running' && !running ? this.source.closed
      : !running ? 'the run is over' : this.mine ? 'you have the controls' : operator === 'other' ? 'another page has the controls' : 'nobody has the controls';
    this.who.textContent = `${who}${hold && running ? ', the run waits' : ''}${sure ? '; a second click ends the run' : ''}${this.refusal ? `; refused: ${this.refusal}` : ''}`;
    this.place.classList.toggle('mine', this.mine && running);
  }

  // Ask by the button itself: behind a dialog the page would stand still, the sticks with it, while the run goes on.
  endRun() {
    const since = performance.now() - this.asked; // NaN before the first click
    if (since < SURE_MS[0]) return;
    clearTimeout(this.forget);
    this.asked = since >= SURE_MS[0] ? undefined : performance.now();
    if (this.asked === undefined) this.source.say({ end: true });
    else this.forget = setTimeout(() => { this.asked = undefined; this.show(); }, SURE_MS[1]);
    this.show();
  }

  press(control, value) {
    this.refusal = '';
    if (!this.mine || this.sent.get(control.number) === value) return;
    this.sent.set(control.number, value);
    this.source.say({ set: [[control.number, value]] });
  }

  // --- sticks ---------------------------------------------------------------------------------------------------------

  gamepad() {
    const found = {}, pad = [...navigator.getGamepads()].find(device => device?.connected && device.mapping === 'standard');
    if (!pad) return found;
    for (const [axis, [number, sign]] of Object.entries(PAD)) found[axis] = sign * (pad.axes[number] ?? 0);
    for (const [axis, [plus, minus]] of Object.entries(PAD_BUTTONS)) found[axis] = (pad.buttons[plus]?.value ?? 0) - (pad.buttons[minus]?.value ?? 0);
    return found;
  }

  // Deflection of each axis: the largest of keyboard, gamepad, page and script.
  deflections() {
    const pad = this.gamepad(), found = {};
    for (const axis of AXES) {
      const [plus, minus] = KEYS[axis], keys = (this.keys.has(plus) ? 1 : 0) - (this.keys.has(minus) ? 1 : 0);
      const given = [keys, settled(pad[axis] ?? 0), settled(this.pointer[axis] ?? 0), this.script[axis] ?? 0];
      found[axis] = given.reduce((a, b) => Math.abs(b) > Math.abs(a) ? b : a);
    }
    return found;
  }

  // Send what has changed; while a stick is deflected, also show the server that the operator is still there.
  tick() {
    const now = this.deflections();
    this.draw(now);
    this.refresh();
    if (!this.mine || !this.source.running) return;
    const wanted = [...this.sent].filter(([number, value]) => value && this.controls[number].control === 'button');
    let changed = false;
    for (const control of this.controls) {
      if (control.control !== 'stick' || control.element !== this.element) continue;
      const value = now[control.axis], before = this.sent.get(control.number) ?? 0;
      changed ||= value !== before;
      if (value || before) wanted.push([control.number, value]);
      this.sent.set(control.number, value);
    }
    // all of them each time: the server centres controls when it hears nothing
    if (changed || (wanted.length && performance.now() - this.last > 80)) {
      this.last = performance.now();
      this.source.say({ set: wanted });
    }
  }

  draw(now) {
    for (const { knob, slider, across, up, along, sign } of Object.values(this.sticks)) {
      knob.style.left = `${50 + 42 * sign * now[across]}%`;
      knob.style.top = `${50 - 42 * now[up]}%`;
      if (document.activeElement !== slider) slider.value = now[along];
    }
  }

  centre() {
    this.keys.clear();
    this.pointer = {};
    this.script = {};
    this.tick();
  }

  listen() {
    const all = new Set(Object.values(KEYS).flat());
    document.addEventListener('keydown', event => {
      if (!this.mine || event.target.matches('input, select') || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!all.has(event.code)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      this.keys.add(event.code);
      this.tick();
    }, true);
    document.addEventListener('keyup', event => { if (this.keys.delete(event.code)) this.tick(); }, true);
    for (const name of ['blur', 'gamepaddisconnected']) addEventListener(name, () => this.centre());
    document.addEventListener('visibilitychange', () => { if (document.hidden) this.centre(); });
  }

  // Part of the script interface (docs/guide/station.md).
  interface() {
    return {
      take: () => this.source.say({ take: true }),
      release: () => this.source.say({ take: false }),
      hold: (held = true) => this.source.say({ hold: held }),
      speed: factor => this.source.say({ speed: factor }),
      end: () => this.source.say({ end: true }),
      deflect: (axis, value) => {
        if (!AXES.includes(axis) || !(Math.abs(value) <= 1)) throw new Error(`deflect: ${axis}, ${value}`);
        this.script[axis] = value;
        this.tick();
      },
      command: (variable, value) => {
        const control = this.controls.find(c => c.variable === variable && c.control !== 'stick');
        if (!control) throw new Error(`there is no command ${variable}`);
        if (this.mine && control.control !== 'button') control.shown.value = String(value);
        this.press(control, value);
      },
      state: () => ({ ...this.state, mine: this.mine, deflections: this.deflections(), refused: this.refusal ?? '' }),
    };
  }
}
