import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from './support/eventually.js';
import { type Folder, temporaryFolder } from './support/folder.js';
import { type Peer, startPeer } from './support/peers.js';
import { runShell, shellLine, start } from './support/program.js';

const DRIVER = new URL('../../fixtures/runtimes/node/driver.mjs', import.meta.url);

let folder: Folder;
let tool: Peer;
beforeAll(async () => {
  folder = await temporaryFolder();
  tool = await startPeer('plain');
});
afterAll(async () => {
  await tool[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Writes to stderr without end, as fast as the reader allows. */
const FLOOD = `yes "$(printf '%8000s' log)" >&2 &`;

const MIB = 1024;

/** Peak of a process's memory, in KiB. */
async function peakOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]);
}

describe.each([
  [
    'a driver of check --runtime',
    () => [
      ...['check', '--runtime', `${FLOOD} sleep 3; exec node '${fileURLToPath(DRIVER)}'`, '-v'],
      ...['--scenario', 'result', '--probe-timeout', '30s'],
    ],
    'passed',
  ],
  [
    'a server of invoke --command',
    () => [
      'invoke',
      '--command',
      `${FLOOD} echo '{"port":${tool.port}}'; sleep 1000`,
      '-v',
      'slow',
      'ms=4000',
    ],
    '',
  ],
])('row 30: %s floods stderr under -v', (_, argsOf, word) => {
  test('a reader that does not read: the source waits', async () => {
    const { child, ended } = start(argsOf());
    child.stderr.pause();
    let stdout = '';
    child.stdout.on('data', data => {
      stdout += data;
    });
    await eventually('the end of the work', () => stdout !== '' || child.exitCode !== null);
    const peak = await peakOf(child.pid);
    child.stderr.resume();
    const { status } = await ended;
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(word) });
    expect(peak / MIB).toBeLessThan(250);
  });

  test('a reader that leaves: the work ends quietly', async () => {
    const { stdout, stderr } = await runShell(
      `${shellLine(argsOf())} 2>&1 >'${folder.file('out')}' | head -1`,
    );
    expect(stderr).toBe('');
    expect(stdout).toMatch(/\n$/);
    expect(await readFile(folder.file('out'), 'utf8')).toContain(word);
  });
});
