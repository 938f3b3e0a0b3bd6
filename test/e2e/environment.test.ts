import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Folder, temporaryFolder } from './support/folder.js';
import { run, runShell, shellLine } from './support/program.js';

const DRIVER = new URL('../../fixtures/runtimes/node/driver.mjs', import.meta.url);
const CHECK = ['check', '--runtime', `node '${fileURLToPath(DRIVER)}'`, '--scenario', 'result', '-q'];

/** A tool whose HTTP client obeys `HTTP_PROXY`, as Python's requests does. */
const PROXY_TOOL = `env PECULIARITY=obeys-proxy node '${fileURLToPath(new URL('../peers/peculiar-tool.mjs', import.meta.url))}'`;

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

describe('with a proxy in the environment, a command connects to loopback addresses without it', () => {
  const PROXIED = { HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: 'intranet.example' };
  const print = () => `echo "$NO_PROXY $no_proxy" > '${folder.file('env')}'`;

  test.each<[string, () => string[], number]>([
    ['--command', () => ['check', '--command', `${print()}; exec ${PROXY_TOOL}`, '--only', 'tool-always'], 0],
    ['--runtime', () => CHECK.with(2, `${print()}; exec ${CHECK[2]}`), 0],
    ['--', () => ['mock-tool', '--demo', '--', 'sh', '-c', print()], 1], // nothing calls the mock
  ])('%s', async (_, args, expected) => {
    const { status, stdout } = await run(args(), { env: PROXIED });
    expect(status, stdout).toBe(expected);
    const wanted = 'intranet.example,127.0.0.1,localhost,::1';
    expect(await readFile(folder.file('env'), 'utf8')).toBe(`${wanted} ${wanted}\n`);
  });

  test('without one, NO_PROXY is not set', async () => {
    await run(['mock-tool', '--demo', '--', 'sh', '-c', print()]);
    expect(await readFile(folder.file('env'), 'utf8')).toBe(' \n');
  });
});

test('a relative TMPDIR works', async () => {
  await mkdir(folder.file('own'));
  const { status, stdout } = await run(CHECK, { cwd: folder.path, env: { TMPDIR: 'own' } });
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('✓ passed') });
});
