// Encoding of a film in the browser, for `dockfmu view --film`: pictures go in, compressed frames come out.

let encoder, frames, described, failure, every;

// Begin a film of this codec, size and rate; false if this browser cannot encode it.
export async function begin(codec, width, height, rate) {
  const config = { codec, width, height, framerate: rate, bitrate: Math.round(0.22 * width * height * rate), latencyMode: 'quality' };
  if (codec.startsWith('avc1')) config.avc = { format: 'avc' };
  if (typeof VideoEncoder === 'undefined' || !(await VideoEncoder.isConfigSupported(config)).supported) return false;
  frames = [];
  described = '';
  failure = null;
  every = 1e6 / rate;
  encoder = new VideoEncoder({
    output: (chunk, { decoderConfig }) => {
      const bytes = new Uint8Array(chunk.byteLength);
      chunk.copyTo(bytes);
      frames.push([chunk.type === 'key', chunk.timestamp / every, text(bytes)]);
      if (decoderConfig?.description) described = text(new Uint8Array(decoderConfig.description));
    },
    error: error => { failure = error; },
  });
  encoder.configure(config);
  return true;
}

function text(bytes) {
  let found = '';
  for (let k = 0; k < bytes.length; k += 0x8000) found += String.fromCharCode(...bytes.subarray(k, k + 0x8000));
  return btoa(found);
}

// Add a picture, PNG in base64; return the frames that are ready.
export async function add(picture, number, rate) {
  const bytes = Uint8Array.from(atob(picture), letter => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const frame = new VideoFrame(bitmap, { timestamp: Math.round(number * every), duration: Math.round(every) });
  encoder.encode(frame, { keyFrame: number % (2 * rate) === 0 });
  frame.close();
  bitmap.close();
  if (failure) throw failure;
  return taken();
}

function taken() {
  const found = frames;
  frames = [];
  return found;
}

// End the film: the last frames, and what a decoder must know of the codec, in base64.
export async function end() {
  await encoder.flush();
  encoder.close();
  if (failure) throw failure;
  return [taken(), described];
}
