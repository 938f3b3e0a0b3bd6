import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { isRecord } from './is-record.js';
import { type JsonReading, readJson } from './json.js';
import { longStrings, type StringSpan, takeString } from './json-string-bytes.js';

/** Shorter ones cost too little to be taken out. */
const LONG = 1024 * 1024;

/**
 * As {@link readJson}, but the bytes are used up: nobody may look at them afterwards. Long texts are read out of them where
 * they lie, so that the whole source is never a string too, which with one emoji in it takes two bytes a character.
 * Whatever is wrong or unusual about them is left to the ordinary way.
 */
export function readJsonOnce(bytes: Uint8Array, long = LONG): JsonReading {
  const spans = isUtf8(bytes) ? longStrings(bytes, long) : [];
  if (spans.length === 0) return readJson(bytes);
  const name = randomUUID(); // so that no string of the sender's is taken for a stand-in
  const standIns = new Map(spans.map((span, index) => [`${name}-${index}`, span]));
  const reading = readJson(withStandIns(bytes, standIns));
  if (!reading.ok) return readJson(bytes); // nothing is lost yet, and the reason is that of the whole
  return { ...reading, value: restored(reading.value, standIns, span => takeString(bytes, span)) };
}

type StandIns = ReadonlyMap<string, StringSpan>;

/** The same JSON, with a short string in the place of each long one. */
function withStandIns(bytes: Uint8Array, standIns: StandIns): Uint8Array {
  const pieces: Uint8Array[] = [];
  let done = 0;
  for (const [standIn, { from, to }] of standIns) {
    pieces.push(bytes.subarray(done, from), Buffer.from(`"${standIn}"`));
    done = to;
  }
  return Buffer.concat([...pieces, bytes.subarray(done)]);
}

/** Puts the long strings back, in place: keys are own ones already, so that `__proto__` stays a key like any other. */
function restored(value: unknown, standIns: StandIns, read: (span: StringSpan) => string): unknown {
  if (typeof value === 'string') {
    const span = standIns.get(value);
    return span ? read(span) : value;
  }
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) value[index] = restored(item, standIns, read);
  else if (isRecord(value))
    for (const key of Object.keys(value)) value[key] = restored(value[key], standIns, read);
  return value;
}
