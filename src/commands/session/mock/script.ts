import { ProtocolCliError } from '../../../errors.js';
import type { SessionScript } from '../../../fixtures/session/script.js';
import { decodeUtf8 } from '../../../text/json.js';
import { readSource } from '../../read-source.js';
import type { Terminal } from '../../terminal.js';

/** A script that is larger was hardly written by hand. */
const MOST = 16 * 1024 * 1024;

/**
 * The script in a file, or on stdin for `-`; without a name the one that needs no file.
 * @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`.
 */
export async function scriptOf(
  file: string | null,
  { stdin }: Pick<Terminal, 'stdin'>,
): Promise<SessionScript> {
  if (file === null)
    return (await import('../../../fixtures/session/default-script.js')).defaultSessionScript();
  const text = decodeUtf8(await readSource(file, stdin, MOST));
  if (text === null)
    throw new ProtocolCliError('unreadable-file', `cannot read ${file}: it is not UTF-8`, {
      hint: 'A session script is YAML or JSON.',
    });
  const { readSessionScript } = await import('../../../fixtures/session/read-script.js');
  return readSessionScript({ path: file, text });
}
