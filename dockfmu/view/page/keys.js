// The help on keys.

export const KEYS = [
  ['space', 'play or pause'],
  ['left, right', 'one recorded row back or on; with shift ten'],
  ['up, down', 'faster, slower: 0.01 to 100 times real time'],
  ['n, b', 'next event, previous event'],
  ['home, end', 'start and end of the run; the end of a live run follows it'],
  ['drag', 'turn the 3-D scene, move the projections, move the time under the curves'],
  ['+ - 0, wheel', 'zoom the scene, and back; over the curves: change the time span'],
  ['1 to 6', 'cameras: 3/4, side, along the axis, top, all that is drawn, follow'],
  ['c', 'cut the passive unit open, or make it clear'],
  ['l', 'names, axes and numbers in 3-D'],
  ['g', 'ground: none, grid with shadow, stars'],
  ['d', '3-D beside the projections, or the projections alone'],
  ['v', 'next scene'],
  ['f', 'scale of the curves from the visible window, or from the whole run'],
  ['/', 'search for a variable: each word has to be in its name or description'],
  ['?', 'this help'],
];
export const STATION_KEYS = [
  ['W S, R F, D A', 'hand controllers: forward and back, up and down, right and left'],
  ['O U, I K, J L', 'hand controllers: roll, pitch, yaw'],
];

// Write the table of keys; those of the station only where there is one.
export function writeKeys(dialog, station) {
  const row = ([key, text]) => {
    const made = document.createElement('tr'), cells = [document.createElement('td'), document.createElement('td')];
    cells[0].append(Object.assign(document.createElement('kbd'), { textContent: key }));
    cells[1].textContent = text;
    made.append(...cells);
    return made;
  };
  dialog.querySelector('tbody').replaceChildren(...[...KEYS, ...station ? STATION_KEYS : []].map(row));
}
