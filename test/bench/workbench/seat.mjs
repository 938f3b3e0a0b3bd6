import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ours } from '../programs.mjs';
import { startTool } from '../tool.mjs';
import { sitDown } from './person.mjs';

const TOOL = fileURLToPath(import.meta.resolve('./tool.mjs'));
const RUN = '\u0012';

/**
 * Work with a person before a workbench that has run one operation of a tool of its own.
 * @param wordsFor the operation, its arguments and options; given the path of a file for a transcript
 */
export async function seated(wordsFor, work) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const tool = await startTool(TOOL);
  try {
    const [peak, transcript] = [join(folder, 'peak'), join(folder, 'session.ndjson')];
    const person = sitDown(ours('invoke', '--interactive', tool.url, ...wordsFor(transcript)), peak);
    await person.sees(/(Ctrl-R)/);
    await person.rest();
    person.press(RUN);
    return await work({
      person,
      tool,
      /** Quits. Bytes of memory at most, and what was saved. */
      async leave() {
        await person.quit();
        const saved = await readFile(transcript, 'utf8').catch(() => '');
        return { peak: Number(await readFile(peak, 'utf8')) * 1024, saved };
      },
    });
  } finally {
    tool.stop();
    await rm(folder, { recursive: true });
  }
}
