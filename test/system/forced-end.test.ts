import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { eventually } from '../e2e/support/eventually.js';
import { temporaryFolder } from '../e2e/support/folder.js';
import { startPeer } from '../e2e/support/peers.js';
import { start } from '../e2e/support/program.js';

/** Whether a process is there. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('a second signal ends the process at once, and leaves neither a server nor a file behind', async () => {
  await using saving = await temporaryFolder();
  await using serving = await temporaryFolder();
  await using tool = await startPeer('plain');
  const pidFile = serving.file('pid');
  const deaf = `trap '' INT TERM; while :; do sleep 0.1; done`;
  const server = `echo $$ > '${pidFile}'; echo '{"port":${tool.port}}'; ${deaf}`;
  const save = ['--save', saving.file('saved.ndjson')];
  const { child, ended } = start(['invoke', '--command', server, 'slow', 'ms=600000', ...save]);
  await tool.seen('invocation');
  const pid = Number(await readFile(pidFile, 'utf8'));
  expect([isAlive(pid), (await readdir(saving.path)).length]).toEqual([true, 2]);
  child.kill('SIGINT');
  await tool.seen('cancel_tool_call');
  child.kill('SIGINT');
  await ended;
  await eventually('the server is gone', () => !isAlive(pid));
  expect(await readdir(saving.path)).toEqual([]);
});
