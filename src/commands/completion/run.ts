import { readFile } from 'node:fs/promises';
import { shippedFile } from '../../package-root.js';
import { writeOut } from '../../system/streams.js';
import { visibleLine } from '../../util/visible.js';
import type { ExitStatus, Terminal } from '../terminal.js';
import { candidatesAt, type Topic } from './candidates.js';
import { readLine } from './line.js';

/**
 * Runs `completion`: prints the script of a shell; or, for this script, what may follow a line: a candidate per line, with a tab
 * before what it is about.
 */
export async function runCompletion(
  shell: string,
  line: string | undefined,
  topics: readonly Topic[],
  terminal: Terminal,
): Promise<ExitStatus> {
  const { stdout } = terminal;
  if (line === undefined) {
    await writeOut(stdout, await readFile(shippedFile(`fixtures/completion/protocol-cli.${shell}`), 'utf8'));
    return 0;
  }
  const candidates = await candidatesAt(readLine(line), topics, terminal).catch(() => []); // a line that is no command yet
  const rows = candidates.map(({ value, about }) => `${value}\t${visibleLine(about ?? '')}\n`);
  await writeOut(stdout, rows.join(''));
  return 0;
}
