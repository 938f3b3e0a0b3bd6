import type { ActionResult } from './screen/effects.js';

/** Terminals accept no more, and some much less. */
const MAX_COPIED_BYTES = 100_000;

/** Writes a text to the terminal's clipboard (OSC 52), in base64, so that it cannot control the terminal. */
export function copyToClipboard(stdout: Pick<NodeJS.WritableStream, 'write'>, text: string): ActionResult {
  const bytes = Buffer.from(text.toWellFormed());
  if (bytes.length > MAX_COPIED_BYTES)
    return {
      text: `too long for a terminal's clipboard: ${bytes.length} bytes, ${MAX_COPIED_BYTES} at most`,
      isBad: true,
    };
  stdout.write(`\u001b]52;c;${bytes.toString('base64')}\u0007`);
  return { text: 'copied (if the terminal supports clipboard access)', isBad: false };
}
