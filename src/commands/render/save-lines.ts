import { EVERYBODY_MAY_READ } from '../../system/files.js';
import { createFile } from '../../system/private-file.js';

/** Writes a file whole or not at all (threats, rows 26 and 27). @throws ProtocolCliError `unwritable-file`. */
export async function saveLines(path: string, lines: Iterable<string>): Promise<void> {
  const file = await createFile(path, EVERYBODY_MAY_READ);
  try {
    for (const line of lines) await file.write(line);
    await file.commit();
  } catch (error) {
    await file.discard();
    throw error;
  }
}
