import type { Line } from '../line.js';
import { say } from '../spans.js';

/** Bytes in a row. */
const ROW = 16;

/** Bytes as every hex dump shows them: `0000  66 6f 6f ff  foo.` */
export function hexLines(bytes: Uint8Array): Line[] {
  return Array.from({ length: Math.ceil(bytes.length / ROW) }, (_, row) => {
    const part = bytes.subarray(row * ROW, (row + 1) * ROW);
    const hex = Array.from(part, byte => byte.toString(16).padStart(2, '0')).join(' ');
    const offset = (row * ROW).toString(16).padStart(4, '0');
    return [say(`${offset}  `, 'gutter'), say(hex.padEnd(ROW * 3)), say(` ${printable(part)}`, 'dim')];
  });
}

function printable(bytes: Uint8Array): string {
  return Array.from(bytes, byte => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
}
