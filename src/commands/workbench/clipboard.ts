import type { Said } from '../../ui/workbench/controls.js';
import { done, failed } from './said.js';

/** Bytes. Terminals take no more, and some much less. */
const MOST = 100_000;

/** Gives a text to the terminal's clipboard (OSC 52): it comes out of base64 as it was, and nothing of it acts on the way. */
export function copyTo(stdout: Pick<NodeJS.WritableStream, 'write'>, text: string): Said {
  const bytes = Buffer.from(text.toWellFormed());
  if (bytes.length > MOST)
    return failed(`too long for a terminal's clipboard: ${bytes.length} bytes, ${MOST} at most`);
  stdout.write(`\u001b]52;c;${bytes.toString('base64')}\u0007`);
  return done('copied, where the terminal allows it');
}
