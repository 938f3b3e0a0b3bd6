import { mkdir, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Folder, temporaryFolder } from './support/folder.js';
import { run, runShell, shellLine } from './support/program.js';

const DRIVER = new URL('../../fixtures/runtimes/node/driver.mjs', import.meta.url);
const CHECK = ['check', '--runtime', `node '${DRIVER.pathname}'`, '--scenario', 'result', '-q'];

let folder: Folder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

test.each([
  [['invoke', '--demo', 'edit_file', 'path=a.txt']],
  [['mock-tool', '--demo', '--', 'true']],
  [CHECK],
])('a working directory that was deleted is named: %s', async args => {
  const gone = folder.file('gone');
  const { status, stdout, stderr } = await runShell(
    `mkdir '${gone}' && cd '${gone}' && rmdir '${gone}' && ${shellLine(args)}`,
  );
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toBe(
    'error: the working directory no longer exists\nhint: Change to a folder that exists, and try again.\n',
  );
});

test.each([
  ['is missing', (path: string) => rm(path, { force: true }), 'no such file or directory'],
  ['is a file', (path: string) => writeFile(path, ''), 'not a directory'],
])('a TMPDIR that %s is named', async (_, prepare, reason) => {
  const path = folder.file('tmp');
  await prepare(path);
  const { status, stdout, stderr } = await run(CHECK, { env: { TMPDIR: path } });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toBe(
    `error: cannot create a temporary folder in ${path}: ${reason}\nhint: Set TMPDIR to an existing folder that you may write to.\n`,
  );
});

test('a relative TMPDIR works', async () => {
  await mkdir(folder.file('own'));
  const { status, stdout } = await run(CHECK, { cwd: folder.path, env: { TMPDIR: 'own' } });
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('✓ passed') });
});
