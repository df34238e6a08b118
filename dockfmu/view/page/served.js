// The recording as the server gives it.

import { Source } from './source.js';
import { openLive } from './live.js';
import { Station } from './station.js';

async function fetched(path, body) {
  const answer = await fetch(path, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

async function columns(place, variables) {
  const bytes = await (await fetched(`${place}columns`, variables.map(variable => variable.name))).arrayBuffer();
  let offset = 0;
  return variables.map(variable => {
    const size = variable.size * variable.rows;
    const part = bytes.slice(offset, offset += size);
    return variable.size === 8 ? new Float64Array(part) : new Float32Array(part);
  });
}

// Bring three.js, which the page needs for three dimensions only.
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
  const description = await (await fetched(`${place}description`)).json();
  if (description.live) {
    const source = await openLive(description);
    if (description.station) source.station = new Station(source);
    return source;
  }
  for (const variable of description.variables) variable.rows = description.rows;
  const time = new Float64Array(await (await fetched(`${place}time`)).arrayBuffer());
  return new Source(description, time, variables => columns(place, variables));
}

// The recording, with `other` where there is a second one to lie under it.
export async function openSource() {
  const source = await opened('');
  if (source.other) source.other = await opened('other/');
  return source;
}
