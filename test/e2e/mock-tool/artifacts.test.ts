import { lstat, readFile, symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { invokeOnce } from '../../peers/runtime.mjs';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { startMock, startMockHere } from '../support/mock.js';
import { run } from '../support/program.js';

/** The files that a mock writes: a planted link is never written through. */
const FIXTURES = 'version: 1\nfixtures: [{ match: { operation: a }, reply: { payload: b } }]\n';

async function withLink(folder: Folder, name: string): Promise<void> {
  await folder.write('f.yaml', FIXTURES);
  await folder.write('precious', 'precious\n');
  await symlink(folder.file('precious'), folder.file(name));
}

describe.concurrent('row 26: a symbolic link', () => {
  it.each(['junit', 'json'])(
    'in place of a %s report is replaced; its target stays unchanged',
    async format => {
      await using folder = await temporaryFolder();
      await withLink(folder, 'report');
      const args = ['mock-tool', 'f.yaml', '-q', '--report', `${format}:report`, '--', 'true'];
      expect((await run(args, { cwd: folder.path })).status).toBe(1);
      expect(await readFile(folder.file('precious'), 'utf8')).toBe('precious\n');
      expect((await lstat(folder.file('report'))).isFile()).toBe(true);
    },
  );

  it('in place of a journal is refused before the start', async () => {
    await using folder = await temporaryFolder();
    await withLink(folder, 'journal.ndjson');
    const args = ['mock-tool', folder.file('f.yaml'), '--journal', folder.file('journal.ndjson')];
    const ended = await runHere(args);
    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr).toMatch(/^error: .*journal\.ndjson/);
    expect(await readFile(folder.file('precious'), 'utf8')).toBe('precious\n');
  });

  it('a journal is readable by its owner only', async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write('f.yaml', FIXTURES);
    await using mock = await startMockHere([file, '--journal', folder.file('journal.ndjson')]);
    await invokeOnce(mock.url, 'a', {});
    expect((await lstat(folder.file('journal.ndjson'))).mode & 0o777).toBe(0o600);
  });

  it('two mocks cannot write one journal', async () => {
    await using folder = await temporaryFolder();
    await folder.write('f.yaml', FIXTURES);
    const args = ['f.yaml', '--journal', 'journal.ndjson'];
    await using mock = await startMock(args, { cwd: folder.path });
    const ended = await run(['mock-tool', ...args], { cwd: folder.path });
    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr).toMatch(`error: journal.ndjson: process ${mock.pid} is writing this journal\n`);
    await mock.stop();
    await using next = await startMock(args, { cwd: folder.path });
    expect(next.port).not.toBe(0);
  });
});
