import { shapeFault } from './shapes.mjs';

const JSON_TYPE = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;

/** Callbacks are POSTs of JSON in UTF-8, and have the shape of their type. */
export function* formFaults({ callbacks }) {
  for (const [index, callback] of callbacks.entries()) {
    for (const why of [transport(callback), encoding(callback), shapeFault(callback.body)])
      if (why) yield { id: 'TOOL-POST', why: `callback ${index + 1}: ${why}` };
  }
}

function transport({ method, headers }) {
  if (method !== 'POST') return `the method is ${method}`;
  const type = headers['content-type'];
  if (!JSON_TYPE.test(type ?? '')) return `the content type is ${type}`;
  return headers['content-encoding'] ? `the body is encoded: ${headers['content-encoding']}` : null;
}

function encoding({ bytes }) {
  if (bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]))) return 'it begins with a byte order mark';
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return null;
  } catch {
    return 'it is not UTF-8';
  }
}
