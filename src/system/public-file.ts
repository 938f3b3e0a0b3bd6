import { EVERYBODY_MAY_READ } from './files.js';
import { createFile, type Placing } from './private-file.js';

/**
 * Writes a file that others are meant to read, such as a report that CI picks up: whole or not at all, and never through a
 * planted link (threats, rows 26 and 27). `text` ends with a line feed.
 * @throws ProtocolCliError `unwritable-file`.
 */
export async function writePublicFile(path: string, text: string, how?: Placing): Promise<void> {
  const file = await createFile(path, EVERYBODY_MAY_READ);
  try {
    await file.write(text.replace(/\n$/, ''));
    await file.commit(how);
  } catch (error) {
    await file.discard();
    throw error;
  }
}
