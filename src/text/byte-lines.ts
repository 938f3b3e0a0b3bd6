import { decodeUtf8 } from './json.js';

const LINE_FEED = 0x0a;
/** Stands for a line that no text can be made of; whoever reads it as JSON says so. */
const UNREADABLE = '(not UTF-8)';

/** The lines of a file, each decoded by itself: what is broken in one does not spoil the others. */
export function* byteLines(bytes: Uint8Array): Generator<string> {
  for (let from = 0; from < bytes.length; ) {
    const next = bytes.indexOf(LINE_FEED, from);
    const end = next < 0 ? bytes.length : next;
    yield decodeUtf8(bytes.subarray(from, end)) ?? UNREADABLE;
    from = end + 1;
  }
}
