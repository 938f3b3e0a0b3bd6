const BETWEEN = {
  ascii: ' is a piece; ',
  mixed: '\r\n\0😀éß\n👩‍👩‍👧\t"\\ ',
};

/**
 * A text of exactly so many UTF-8 bytes: numbered pieces, so that a lost, doubled or swapped part
 * shows, and dots for the rest.
 */
export function bigText(bytes, kind = 'ascii') {
  const between = BETWEEN[kind];
  const size = Buffer.byteLength(between); // once: to measure each piece would take longer than all the rest
  let text = '';
  let left = bytes;
  for (let index = 0; ; index++) {
    left -= `${index}`.length + size;
    if (left < 0) return text + '.'.repeat(left + `${index}`.length + size);
    text += index + between;
  }
}
