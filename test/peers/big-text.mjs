const SEPARATORS = {
  ascii: [' '],
  mixed: ['\r\n', '\0', '😀', 'é', 'ß', '\n', '👩‍👩‍👧', '\t', '"', '\\', ' '],
};

/**
 * A text of exactly so many UTF-8 bytes: numbered pieces, so that a lost, doubled or swapped part
 * shows, and dots for the rest.
 */
export function bigText(bytes, kind = 'ascii') {
  const separators = SEPARATORS[kind];
  const pieces = [];
  let left = bytes;
  for (let index = 0; ; index++) {
    const piece = `${index}${separators[index % separators.length]}`;
    const size = Buffer.byteLength(piece);
    if (size > left) break;
    pieces.push(piece);
    left -= size;
  }
  return pieces.join('') + '.'.repeat(left);
}
