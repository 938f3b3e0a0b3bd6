import type { Settled } from './settled.js';

/** Bytes; larger bodies are refused (platforms). */
export const MOST_BYTES = 5 * 1024 * 1024;

/** One body of `tool_results`, and whose answers are in it. */
export interface ResultsBody {
  readonly settled: readonly Settled[];
  readonly bytes: Uint8Array;
}

const START = '{"type":"batch","results":[';
const END = ']}';
const FRAME = START.length + END.length;

/** As few bodies as possible, in order: bare for one call, a batch for more. One that is too large by itself has a body of its own. */
export function bodiesOf(settled: readonly Settled[], most = MOST_BYTES): ResultsBody[] {
  const groups: Settled[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const each of settled) {
    size += each.bytes.length + 1;
    if (size <= most) groups.at(-1)?.push(each);
    else {
      groups.push([each]);
      size = FRAME + each.bytes.length;
    }
  }
  return groups.map(bodyOf);
}

/** One body for these, whatever its size. */
export function bodyOf(settled: readonly Settled[]): ResultsBody {
  const [only] = settled;
  if (only && settled.length === 1) return { settled, bytes: only.bytes };
  const pieces = settled.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [Buffer.from(','), bytes]));
  return { settled, bytes: Buffer.concat([Buffer.from(START), ...pieces, Buffer.from(END)]) };
}
