// The recording as the server sends it.

import { Source } from './source.js';
import { openLive } from './live.js';
import { Station } from './station.js';

async function fetched(path, body) {
  const answer = await fetch(path, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

// Columns as pack_column of dockfmu/view/recording.py writes them: all values, or runs of equal values.
async function columns(place, variables) {
  const bytes = await (await fetched(`${place}columns`, variables.map(variable => variable.name))).arrayBuffer();
  let offset = 0;
  const take = (Type, count) => {
    const values = new Type(bytes, offset, count);
    offset += Math.ceil(values.byteLength / 8) * 8;
    return values;
  };
  return variables.map(({ size, rows }) => {
    const Type = size === 8 ? Float64Array : Float32Array, [runs] = take(Uint32Array, 2);
    if (!runs) return take(Type, rows);
    const starts = take(Uint32Array, runs), values = take(Type, runs), column = new Type(rows);
    for (let k = 0; k < runs; k++) column.fill(values[k], starts[k], k + 1 < runs ? starts[k + 1] : rows);
    return column;
  });
}

// Load three.js, which the page needs only for three dimensions.
export function loadThree() {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = 'three.js';
    script.onload = () => resolve(globalThis.THREE);
    script.onerror = () => reject(new Error('three.js cannot be loaded'));
    document.head.append(script);
  });
}

async function opened(place) {
  // both requests at once; a live run answers this one without content, because its times come with its rows
  const requested = fetched(`${place}time`).catch(() => null);
  const description = await (await fetched(`${place}description`)).json();
  if (description.live) {
    const source = await openLive(description);
    source.station = description.station ? new Station(source) : undefined;
    return source;
  }
  for (const variable of description.variables) variable.rows = description.rows;
  const answer = await requested;
  if (!answer) throw new Error('the times of the rows cannot be fetched');
  const time = new Float64Array(await answer.arrayBuffer());
  return new Source(description, time, variables => columns(place, variables));
}

// The recording, with `other` where a second one is drawn beneath it.
export async function openSource() {
  const source = await opened('');
  if (source.other) source.other = await opened('other/');
  return source;
}
