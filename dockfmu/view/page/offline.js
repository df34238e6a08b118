// The recording embedded in an exported file: byte planes of the columns, deflated, in base64.

import { Source } from './source.js';

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).arrayBuffer());
}

// Numbers of `size` bytes from planes: the first bytes of all, then the second bytes of all, and so on.
function numbers(planes, rows, size, offset) {
  const bytes = new Uint8Array(rows * size);
  for (let b = 0; b < size; b++) for (let k = 0; k < rows; k++) bytes[k * size + b] = planes[offset + b * rows + k];
  return size === 8 ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
}

// Load three.js, which is embedded in the file as text.
export async function loadThree() {
  const script = document.createElement('script');
  script.textContent = document.getElementById('three').textContent;
  document.head.append(script);
  return globalThis.THREE;
}

async function unpacked({ description, data }) {
  const planes = await inflated(data), { rows } = description;
  const time = numbers(planes, rows, 8, 0);
  let offset = 8 * rows;
  const columns = new Map();
  for (const variable of description.variables) {
    columns.set(variable.name, numbers(planes, rows, variable.size, offset));
    offset += variable.size * rows;
  }
  return new Source(description, time, async variables => variables.map(variable => columns.get(variable.name)));
}

// The recording, with `other` where a second one is drawn beneath it.
export async function openSource() {
  const element = document.getElementById('recording'), [first, second] = JSON.parse(element.textContent);
  element.remove();
  const source = await unpacked(first);
  if (second) source.other = await unpacked(second);
  return source;
}
