import { mkdir, rename } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { invokeOnce } from '../../peers/runtime.mjs';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { type MockHere, type MockProcess, startMockHere, startMockProcess } from '../support/mock.js';

/** `--watch`: an edit is served from the next call on; a broken one is reported and not served. */
const fixture = (payload: string) =>
  `version: 1\nfixtures:\n  - match: { operation: a }\n    reply: { payload: "${payload}" }\n`;

async function textOf({ url }: Pick<MockProcess, 'url'>): Promise<unknown> {
  const { callbacks } = await invokeOnce(url, 'a', {});
  return callbacks.at(-1)?.body?.['text'];
}

/** In this process. */
async function watching(folder: Folder): Promise<MockHere> {
  const mock = await startMockHere([await folder.write('a.yaml', fixture('old')), '--watch']);
  expect(await textOf(mock)).toBe('old');
  return mock;
}

describe.concurrent('--watch', () => {
  it('serves a file that was edited in place', async () => {
    await using folder = await temporaryFolder();
    await using mock = await watching(folder);
    await folder.write('a.yaml', fixture('new'));
    await mock.printsToStderr(/^reloaded 1 fixture$/m);
    expect(await textOf(mock)).toBe('new');
  });

  it('serves a file that an editor replaced by renaming', async () => {
    await using folder = await temporaryFolder();
    await using mock = await watching(folder);
    for (const text of ['second', 'third']) {
      const since = mock.stderr().length;
      await folder.write('.a.yaml.swp', fixture(text));
      await rename(folder.file('.a.yaml.swp'), folder.file('a.yaml'));
      await mock.printsToStderr(/^reloaded 1 fixture$/m, since);
      expect(await textOf(mock)).toBe(text);
    }
  });

  it('serves a new file of a folder', async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.file('all'));
    await folder.write('all/a.yaml', fixture('old'));
    await using mock = await startMockProcess(['all', '--watch'], { cwd: folder.path });
    await folder.write('all/b.yaml', fixture('more').replace('operation: a', 'operation: b'));
    await mock.printsToStderr(/^reloaded 2 fixtures \(was 1\)$/m);
    const { callbacks } = await invokeOnce(mock.url, 'b', {});
    expect(callbacks.at(-1)?.body?.['text']).toBe('more');
  });

  it('keeps the previous fixtures if the new ones are invalid, reports the place, and reads the next change', async () => {
    await using folder = await temporaryFolder();
    await using mock = await watching(folder);
    await folder.write('a.yaml', fixture('new').replace('payload', 'paylod'));
    await mock.printsToStderr(
      /^warning: reload failed; keeping the previous fixtures: .*\n\s+\S+a\.yaml:4:\d+ \$\.fixtures\[0\]\.reply\.paylod: .*"payload"/m,
    );
    expect(await textOf(mock)).toBe('old');
    await folder.write('a.yaml', fixture('fixed'));
    await mock.printsToStderr(/^reloaded 1 fixture$/m);
    expect(await textOf(mock)).toBe('fixed');
    expect((await mock.stop()).status).toBe(0);
  });
});
